#include "cuda/compiler/nvcc_files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace heddle::cuda {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Step = NvccOptions::Step;

constexpr std::string_view kLibraryWord = "-l";
constexpr std::string_view kLibraryFolder = "-L";
constexpr std::string_view kToPreprocessor = "-Wp,";

bool takes_file_or_target(std::string_view word) {
  return word == "-MF" || word == "-MT" || word == "-MQ";
}

// The files by which the linker may know a library.
void add_library(os::CommandFiles& files, const std::string& name, const Words& linking) {
  for (const std::string& word : linking) {
    if (!word.starts_with(kLibraryFolder)) {
      continue;
    }
    const fs::path folder = word.substr(kLibraryFolder.size());
    for (const char* const ending : {".so", ".a"}) {
      std::error_code error;
      const fs::path file = folder / ("lib" + name + ending);
      if (fs::exists(file, error)) {
        files.reads("a library", file.string());
      }
    }
  }
}

// Where the host compiler writes its lists of what is included: the option and the file. Without a file that is named,
// beside the result.
struct Lists {
  bool wanted = false;
  Words named;
};
Lists lists_of(const Words& host) {
  Lists lists;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const std::string& word = host[i];
    if (word == "-MD" || word == "-MMD") {
      lists.wanted = true;
    } else if (word == "-MF" && i + 1 < host.size()) {
      lists.named.push_back(host[i + 1]);
    } else if (word.starts_with("-MF") && word.size() > 3) {
      lists.named.push_back(word.substr(3));
    } else if (word.starts_with(kToPreprocessor)) {  // -Wp,-MD,FILE, taken apart at its commas or not
      std::size_t comma = word.rfind(',');
      const std::string_view option = std::string_view(word).substr(kToPreprocessor.size());
      if (comma > kToPreprocessor.size() && (option.starts_with("-MD,") || option.starts_with("-MMD,"))) {
        lists.named.push_back(word.substr(comma + 1));
      }
    }
  }
  return lists;
}

}  // namespace

void add_nvcc_inputs(os::CommandFiles& files, const NvccOptions& options) {
  for (const std::string& input : options.inputs) {
    if (input.starts_with(kLibraryWord)) {
      add_library(files, input.substr(kLibraryWord.size()), options.linking);
    } else {
      files.reads("a file", input);
    }
  }
  files.reads_all("a file of options", options.option_files);
}

void add_nvcc_outputs(os::CommandFiles& files, const NvccOptions& options, const Words& results) {
  const std::string named = options.output.empty() ? "nvcc" : "-o";
  const auto result_or = [&](const char* usual) { return options.output.empty() ? usual : options.output; };
  switch (options.step) {
    case Step::link:
      files.writes(named, result_or("a.out"));
      break;
    case Step::archive:
      files.writes(named, result_or("a.a"));
      break;
    case Step::device_link:
      files.writes(named, result_or("a_dlink.o"));
      break;
    case Step::object:
    case Step::ptx:
    case Step::preprocess:
    case Step::dependencies:
      for (const std::string& result : results) {
        if (!result.empty() && result != "-") {
          files.writes(named, result);
        }
      }
  }
  const Lists lists = lists_of(options.host);
  const std::set<std::string> distinct(lists.named.begin(), lists.named.end());
  for (const std::string& list : distinct) {
    if (list != "-") {
      files.writes("-MF", list);
    }
  }
  if (lists.wanted && lists.named.empty() && options.step == Step::object) {
    for (const std::string& result : results) {
      files.writes("-MD", fs::path(result).replace_extension(".d").string());
    }
  }
}

Words without_dependency_options(const Words& host) {
  Words kept;
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (takes_file_or_target(host[i])) {
      ++i;
    } else if (!host[i].starts_with("-M") && !host[i].starts_with(kToPreprocessor)) {
      kept.push_back(host[i]);
    }
  }
  return kept;
}

}  // namespace heddle::cuda
