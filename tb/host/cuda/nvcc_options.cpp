#include "tb/host/cuda/nvcc_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace heddle::tb {
namespace {

using Step = NvccOptions::Step;

// What an option means. Those with a value take it behind '=' or as the next word.
enum class Meaning {
  output,
  output_folder,
  both_flag,   // clang has it, by the short name
  both_value,  // ... and takes the value as the next word
  host_flag,
  linking_value,
  library,
  compiler_words,  // -Xcompiler: a list with commas
  linker_words,
  standard,
  optimise,
  language,
  relocatable,
  default_stream,
  step,
  architecture,
  silent_flag,  // changes nothing here, and is right so
  silent_value,
  noted_flag,  // changes nothing here, which the user should know
  noted_value,
  refused,
  options_file,
  verbose,
  dry,
  version
};

struct Option {
  std::string_view name;   // long, as nvcc's manual lists it, or the only one
  std::string_view brief;  // without it: ""
  Meaning meaning;
  std::string_view remark = {};  // the clang option, or why
  Step step = Step::link;
};

constexpr std::string_view kMachineDecides = "the machine decides that (core.registers_per_thread)";
constexpr std::string_view kPtxRuns = "PTX is what runs here";

constexpr std::array kOptions = {
    Option{"--output-file", "-o", Meaning::output},
    Option{"--output-directory", "-odir", Meaning::output_folder},
    Option{"--define-macro", "-D", Meaning::both_value, "-D"},
    Option{"--undefine-macro", "-U", Meaning::both_value, "-U"},
    Option{"--include-path", "-I", Meaning::both_value, "-I"},
    Option{"--system-include", "-isystem", Meaning::both_value, "-isystem"},
    Option{"--pre-include", "-include", Meaning::both_value, "-include"},
    Option{"--library-path", "-L", Meaning::linking_value, "-L"},
    Option{"--library", "-l", Meaning::library},
    Option{"--compiler-options", "-Xcompiler", Meaning::compiler_words},
    Option{"--linker-options", "-Xlinker", Meaning::linker_words},
    Option{"--std", "-std", Meaning::standard},
    Option{"--optimize", "-O", Meaning::optimise},
    Option{"--x", "-x", Meaning::language},
    Option{"--relocatable-device-code", "-rdc", Meaning::relocatable},
    Option{"--compile", "-c", Meaning::step, {}, Step::object},
    Option{"--device-c", "-dc", Meaning::step, {}, Step::object},
    Option{"--device-w", "-dw", Meaning::step, {}, Step::object},
    Option{"--device-link", "-dlink", Meaning::step, {}, Step::device_link},
    Option{"--preprocess", "-E", Meaning::step, {}, Step::preprocess},
    Option{"--ptx", "-ptx", Meaning::step, {}, Step::ptx},
    Option{"--generate-dependencies", "-M", Meaning::step, {}, Step::dependencies},
    Option{"--lib", "-lib", Meaning::step, {}, Step::archive},
    Option{"--link", "-link", Meaning::silent_flag},
    Option{"--shared", "-shared", Meaning::host_flag, "-shared"},
    Option{"--debug", "-g", Meaning::host_flag, "-g"},
    Option{"--profile", "-pg", Meaning::host_flag, "-pg"},
    Option{"--disable-warnings", "-w", Meaning::host_flag, "-w"},
    Option{"--generate-dependencies-with-compile", "-MD", Meaning::host_flag, "-MD"},
    Option{"--generate-nonsystem-dependencies-with-compile", "-MMD", Meaning::host_flag, "-MMD"},
    Option{"--generate-dependency-targets", "-MP", Meaning::host_flag, "-MP"},
    Option{"--dependency-output", "-MF", Meaning::compiler_words, "-MF"},
    Option{"--dependency-target-name", "-MT", Meaning::compiler_words, "-MT"},
    Option{"--gpu-architecture", "-arch", Meaning::architecture},
    Option{"--gpu-code", "-code", Meaning::silent_value},
    Option{"--generate-code", "-gencode", Meaning::architecture},
    Option{"--machine", "-m", Meaning::silent_value},
    Option{"-m64", "", Meaning::silent_flag},
    Option{"-m32", "", Meaning::refused, "programs have 64-bit addresses; heddle compile makes 32-bit device code"},
    Option{"--cudart", "-cudart", Meaning::silent_value},
    Option{"--compiler-bindir", "-ccbin", Meaning::noted_value, "clang compiles the host code too"},
    Option{"--generate-line-info", "-lineinfo", Meaning::silent_flag},
    Option{"--device-debug", "-G", Meaning::noted_flag,
           "line information is always there, device code always optimised"},
    Option{"--expt-relaxed-constexpr", "-expt-relaxed-constexpr", Meaning::silent_flag},
    Option{"--extended-lambda", "-extended-lambda", Meaning::silent_flag},
    Option{"--expt-extended-lambda", "-expt-extended-lambda", Meaning::silent_flag},
    Option{"--threads", "-t", Meaning::silent_value},
    Option{"--keep", "-keep", Meaning::noted_flag, "heddle nvcc -ptx shows the device code"},
    Option{"--source-in-ptx", "-src-in-ptx", Meaning::silent_flag},
    Option{"--restrict", "-restrict", Meaning::noted_flag, "pointers are taken as they are declared"},
    Option{"--ptxas-options", "-Xptxas", Meaning::noted_value, kPtxRuns},
    Option{"--nvlink-options", "-Xnvlink", Meaning::noted_value, kPtxRuns},
    Option{"-Xcudafe", "", Meaning::silent_value},
    Option{"--diag-suppress", "-diag-suppress", Meaning::silent_value},
    Option{"--display-error-number", "-err-no", Meaning::silent_flag},
    Option{"--no-display-error-number", "-no-err-no", Meaning::silent_flag},
    Option{"--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", Meaning::silent_flag},
    Option{"--resource-usage", "-res-usage", Meaning::noted_flag, "heddle compile shows what kernels need"},
    Option{"--maxrregcount", "-maxrregcount", Meaning::noted_value, kMachineDecides},
    Option{"--use_fast_math", "-use_fast_math", Meaning::noted_flag,
           "functions stay the accurate ones; call __expf and its kin"},
    Option{"--fmad", "-fmad", Meaning::noted_value, "multiply and add are fused where the source calls fma only"},
    Option{"--ftz", "-ftz", Meaning::noted_value, "denormals are kept"},
    Option{"--prec-div", "-prec-div", Meaning::noted_value, "division is exact"},
    Option{"--prec-sqrt", "-prec-sqrt", Meaning::noted_value, "square roots are exact"},
    Option{"--default-stream", "-default-stream", Meaning::default_stream},
    Option{"--cubin", "-cubin", Meaning::refused, kPtxRuns},
    Option{"--fatbin", "-fatbin", Meaning::refused, kPtxRuns},
    Option{"--run", "-run", Meaning::refused, "run the program by heddle exec"},
    Option{"--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler", Meaning::silent_flag},
    Option{"--forward-unknown-to-host-linker", "-forward-unknown-to-host-linker", Meaning::silent_flag},
    Option{"--options-file", "-optf", Meaning::options_file},
    Option{"--verbose", "-v", Meaning::verbose},
    Option{"--dryrun", "-dryrun", Meaning::dry},
    Option{"--version", "-V", Meaning::version}};

bool takes_value(Meaning meaning) {
  switch (meaning) {
    case Meaning::output:
    case Meaning::output_folder:
    case Meaning::both_value:
    case Meaning::linking_value:
    case Meaning::library:
    case Meaning::compiler_words:
    case Meaning::linker_words:
    case Meaning::standard:
    case Meaning::optimise:
    case Meaning::language:
    case Meaning::relocatable:
    case Meaning::default_stream:
    case Meaning::architecture:
    case Meaning::silent_value:
    case Meaning::noted_value:
    case Meaning::options_file:
      return true;
    default:
      return false;
  }
}

// Of one letter: its value may follow at once ("-Ifolder").
bool joins_value(const Option& option) {
  return option.brief.size() == 2 && takes_value(option.meaning);
}

// Libraries of CUDA's that nothing stands in for. CUDA's run-time itself is heddle_cudart.
const std::map<std::string_view, std::string_view> kMissingLibraries = {
    {"cublas", "matrix functions"},   {"cublasLt", "matrix functions"},   {"cufft", "Fourier transforms"},
    {"curand", "random numbers"},     {"cusparse", "sparse matrices"},    {"cusolver", "equation solvers"},
    {"cudnn", "neural networks"},     {"npp", "image processing"},        {"nvrtc", "compilation at run time"},
    {"nvToolsExt", "profiler marks"}, {"nvidia-ml", "device management"}, {"cufftw", "Fourier transforms"}};
constexpr std::array<std::string_view, 5> kOwnLibraries = {"cudart", "cudart_static", "cudadevrt", "culibos", "cuda"};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma != 0) parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

class Reader {
 public:
  explicit Reader(std::vector<std::string> words) : words_(std::move(words)) {}

  NvccOptions read() {
    for (next_ = 0; next_ < words_.size(); ++next_) {
      const std::string word = words_[next_];  // a file of options changes the list
      if (word.empty()) continue;
      if (word.front() != '-' || word == "-") {
        out_.inputs.push_back(word);
      } else {
        option(word);
      }
    }
    return std::move(out_);
  }

 private:
  void option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    for (const Option& option : kOptions) {
      if (name == option.name || name == option.brief || word == option.brief) {
        std::string value;
        if (takes_value(option.meaning)) {
          if (equals != std::string::npos && word != option.brief) {
            value = word.substr(equals + 1);
          } else if (next_ + 1 < words_.size()) {
            value = words_[++next_];
          } else {
            throw InputError({word}, "needs a value behind it", "heddle nvcc --help lists the options");
          }
        }
        apply(option, word, value);
        return;
      }
    }
    for (const Option& option : kOptions) {
      if (joins_value(option) && word.starts_with(option.brief)) {
        apply(option, word, word.substr(2));
        return;
      }
    }
    if (word == "-pthread" || word.starts_with("-W") || word.starts_with("-f")) {
      out_.host.push_back(word);  // the host compiler's
    } else {
      out_.notes.push_back(fmt::format("{} is not known and has no effect", word));
    }
  }

  void apply(const Option& option, const std::string& word, const std::string& value) {
    const std::string clang(option.remark);
    switch (option.meaning) {
      case Meaning::output:
        out_.output = value;
        break;
      case Meaning::output_folder:
        out_.output_folder = value;
        break;
      case Meaning::both_flag:
        out_.both.push_back(clang);
        break;
      case Meaning::both_value:
        for (const std::string& one : clang == "-D" ? std::vector{value} : split(value)) {
          out_.both.insert(out_.both.end(), {clang, one});
        }
        break;
      case Meaning::host_flag:
        out_.host.push_back(clang);
        if (clang == "-shared" || clang == "-pg") out_.linking.push_back(clang);
        if (clang == "-shared") out_.host.back() = "-fPIC";
        break;
      case Meaning::linking_value:
        for (const std::string& one : split(value)) out_.linking.push_back(clang + one);
        break;
      case Meaning::library:
        for (const std::string& one : split(value)) library(one);
        break;
      case Meaning::compiler_words:
        if (!clang.empty()) out_.host.push_back(clang);
        for (const std::string& one : split(value)) {
          out_.host.push_back(one);
          // What the compiler's own libraries are linked for.
          if (one == "-fopenmp" || one == "-pthread" || one.rfind("-fsanitize=", 0) == 0) out_.linking.push_back(one);
        }
        break;
      case Meaning::linker_words:
        for (const std::string& one : split(value)) out_.linking.push_back("-Wl," + one);
        break;
      case Meaning::standard:
        out_.has_standard = true;
        out_.both.push_back("-std=" + value);
        break;
      case Meaning::optimise:
        out_.host.push_back("-O" + value);
        break;
      case Meaning::language:
        out_.language = value;
        break;
      case Meaning::relocatable:
        out_.relocatable = value == "true";
        break;
      case Meaning::default_stream:
        if (value == "per-thread") {
          out_.both.insert(out_.both.end(), {"-D", "CUDA_API_PER_THREAD_DEFAULT_STREAM=1"});
        } else if (value != "legacy" && value != "null") {
          throw InputError({word}, fmt::format("'{}' is no default stream", value), "legacy, null or per-thread");
        }
        break;
      case Meaning::step:
        out_.step = option.step;
        out_.relocatable = out_.relocatable || option.brief == "-dc";
        break;
      case Meaning::noted_flag:
      case Meaning::noted_value:
        out_.notes.push_back(fmt::format("{} has no effect: {}", word, option.remark));
        break;
      case Meaning::refused:
        throw InputError({word}, "is not supported", clang);
      case Meaning::options_file: {
        const std::vector<std::string> more = words_of(value);
        words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(next_) + 1, more.begin(), more.end());
        break;
      }
      case Meaning::verbose:
        out_.verbose = true;
        break;
      case Meaning::dry:
        out_.verbose = out_.dry = true;
        break;
      case Meaning::version:
        out_.version = true;
        break;
      case Meaning::architecture:  // all device code is PTX for machines that run any
      case Meaning::silent_flag:
      case Meaning::silent_value:
        break;
    }
  }

  void library(const std::string& name) {
    if (std::find(kOwnLibraries.begin(), kOwnLibraries.end(), name) != kOwnLibraries.end()) return;
    const std::string_view family = std::string_view(name).starts_with("npp") ? "npp" : std::string_view(name);
    if (const auto missing = kMissingLibraries.find(family); missing != kMissingLibraries.end()) {
      throw InputError({"-l" + name}, fmt::format("is not there: CUDA's library of {}", missing->second),
                       "it comes as machine code of real GPUs only; bring kernels of your own as sources");
    }
    out_.inputs.push_back("-l" + name);
  }

  // The words of a file: between white space, quotes and backslashes as a shell has them.
  std::vector<std::string> words_of(const std::string& path) {
    if (++files_ > kMostOptionFiles) {
      throw InputError({path}, "is one file of options too many", "does it name itself?");
    }
    const std::string text = read_input_file(path, kLargestOptionFile, "file of options");
    out_.option_files.push_back(path);
    std::vector<std::string> words;
    std::string word;
    bool within = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
        word += text[++i];
        within = true;
      } else if (c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
        within = true;
      } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
        if (within) words.push_back(std::move(word));
        word.clear();
        within = false;
      } else {
        word += c;
        within = true;
      }
    }
    if (within) words.push_back(std::move(word));
    return words;
  }

  static constexpr std::size_t kLargestOptionFile = std::size_t{1} << 20U;
  static constexpr int kMostOptionFiles = 100;
  std::vector<std::string> words_;
  int files_ = 0;
  std::size_t next_ = 0;
  NvccOptions out_;
};

}  // namespace

NvccOptions read_nvcc_options(const std::vector<std::string>& words) {
  return Reader(words).read();
}

}  // namespace heddle::tb
