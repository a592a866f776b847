#include "cuda/compiler/nvcc_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
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
Words library_files(const std::string& name, const Words& linking) {
  Words files;
  for (const std::string& word : linking) {
    if (!word.starts_with(kLibraryFolder)) {
      continue;
    }
    const fs::path folder = word.substr(kLibraryFolder.size());
    for (const char* const ending : {".so", ".a"}) {
      std::error_code error;
      const fs::path file = folder / ("lib" + name + ending);
      if (fs::exists(file, error)) {
        files.push_back(file.string());
      }
    }
  }
  return files;
}

constexpr std::string_view kToLinker = "-Wl,";

// The files that words handed on to a compiler or to the linker have written, besides the result that -o names.
Words written_by(const Words& handed_on) {
  Words words;
  for (const std::string& word : handed_on) {
    if (!word.starts_with(kToLinker)) {
      words.push_back(word);
      continue;
    }
    for (std::size_t at = kToLinker.size(); at <= word.size();) {
      const std::size_t end = std::min(word.find(',', at), word.size());
      words.push_back(word.substr(at, end - at));
      at = end + 1;
    }
  }
  constexpr std::array<std::string_view, 8> kWriters = {
      "-o", "-MF", "-MJ", "-Map", "--Map", "--dependency-file", "--serialize-diagnostics", "--out-implib"};
  Words files;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view writer : kWriters) {
      if (!words[i].starts_with(writer)) continue;
      const std::string rest = words[i].substr(writer.size());
      if (rest.empty() && i + 1 < words.size()) files.push_back(words[i + 1]);
      if (rest.starts_with('=')) files.push_back(rest.substr(1));
      if (!rest.empty() && !rest.starts_with('=') && writer.size() <= 3) files.push_back(rest);  // "-oFILE"
    }
  }
  return files;
}

}  // namespace

void add_nvcc_inputs(os::CommandFiles& files, const NvccOptions& options) {
  for (const std::string& input : options.inputs) {
    if (input.starts_with(kLibraryWord)) {
      files.reads_all("a library", library_files(input.substr(kLibraryWord.size()), options.linking));
    } else {
      files.reads("a file", input);
    }
  }
  files.reads_all("a file of options", options.option_files);
}

void add_nvcc_outputs(os::CommandFiles& files, const NvccOptions& options, const Words& sources, const Words& results) {
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
    case Step::fatbin:
    case Step::preprocess:
    case Step::dependencies:
      for (const std::string& result : results) {
        if (!result.empty() && result != "-") {
          files.writes(named, result);
        }
      }
  }
  const DependencyLists lists = dependency_lists(options.host);
  if (!lists.named.empty() && lists.named != "-") {
    files.writes("-MF", lists.named);
  } else if (lists.wanted && lists.named.empty() && options.step != Step::ptx && options.step != Step::fatbin) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      files.writes("-MD", usual_dependency_list(options, sources[i], results[i]));
    }
  }
  for (const std::string& file : written_by(lists.words)) files.writes("-Xcompiler", file);
  for (const std::string& file : written_by(options.device)) files.writes("-Xdevice", file);
  for (const std::string& file : written_by(options.linking)) files.writes("-Xlinker", file);
}

void leave_out_cutil(NvccOptions& options) {
  std::erase_if(options.inputs, [&options](const std::string& input) {
    const bool out =
        input.starts_with("-lcutil") && library_files(input.substr(kLibraryWord.size()), options.linking).empty();
    if (out) {
      options.notes.push_back(input + " has no effect: cutil.h has the functions themselves");
    }
    return out;
  });
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

DependencyLists dependency_lists(const Words& host) {
  DependencyLists lists;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const std::string& word = host[i];
    const std::size_t comma = word.rfind(',');
    if (word == "-MF" && i + 1 < host.size()) {
      lists.named = host[++i];
    } else if (word.starts_with("-MF") && word.size() > 3) {
      lists.named = word.substr(3);
    } else if (word.starts_with("-Wp,-MD,") || word.starts_with("-Wp,-MMD,")) {
      lists.wanted = true;
      lists.named = word.substr(comma + 1);
      lists.words.push_back(word.substr(kToPreprocessor.size(), comma - kToPreprocessor.size()));
    } else {
      lists.wanted = lists.wanted || word == "-MD" || word == "-MMD";
      lists.has_target = lists.has_target || word.starts_with("-MT") || word.starts_with("-MQ");
      lists.words.push_back(word);
    }
  }
  return lists;
}

std::string usual_dependency_list(const NvccOptions& options, const std::string& input, const std::string& result) {
  if (options.step == Step::object) {
    return fs::path(result).replace_extension(".d").string();
  }
  return (fs::path(options.output_folder) / fs::path(input).stem()).string() + ".d";
}

}  // namespace heddle::cuda
