// Long: one table of nvcc's options and the reader that knows what each means.
#include "cuda/compiler/nvcc_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "cuda/compiler/architecture.hpp"
#include "cuda/compiler/cuda_libraries.hpp"

namespace heddle::cuda {
namespace {

using Step = NvccOptions::Step;

// What an option means. Options with a value take it behind '=' or as the next word.
enum class Meaning {
  output,
  output_folder,
  both_flag,   // clang has it, by the short name
  both_value,  // ... and takes the value as the next word
  host_flag,
  host_value,
  linking_value,
  library,
  compiler_words,  // -Xcompiler: a list with commas and blanks
  device_words,    // -Xdevice: likewise
  warnings,        // -Werror KIND
  linker_words,
  standard,
  optimise,
  language,
  relocatable,
  default_stream,
  fused,
  step,
  architecture,
  silent_flag,  // changes nothing here, and is right so
  silent_value,
  noted_flag,  // changes nothing here, which the user should know
  noted_value,
  macro_flag,  // defines the macro by which programs ask for it
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
    Option{"-cudalib", "", Meaning::library},  // nvc++ has it
    Option{"--compiler-options", "-Xcompiler", Meaning::compiler_words},
    Option{"-Xdevice", "", Meaning::device_words},
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
    Option{"--fatbin", "-fatbin", Meaning::step, {}, Step::fatbin},
    Option{"--generate-dependencies", "-M", Meaning::step, "-M", Step::dependencies},
    Option{"--generate-nonsystem-dependencies", "-MM", Meaning::step, "-MM", Step::dependencies},
    Option{"--lib", "-lib", Meaning::step, {}, Step::archive},
    Option{"--link", "-link", Meaning::silent_flag},
    Option{"--shared", "-shared", Meaning::host_flag, "-shared"},
    Option{"--debug", "-g", Meaning::host_flag, "-g"},
    Option{"--profile", "-pg", Meaning::host_flag, "-pg"},
    Option{"--disable-warnings", "-w", Meaning::host_flag, "-w"},
    Option{"--generate-dependencies-with-compile", "-MD", Meaning::host_flag, "-MD"},
    Option{"--generate-nonsystem-dependencies-with-compile", "-MMD", Meaning::host_flag, "-MMD"},
    Option{"--generate-dependency-targets", "-MP", Meaning::host_flag, "-MP"},
    Option{"--dependency-output", "-MF", Meaning::host_value, "-MF"},
    Option{"--dependency-target-name", "-MT", Meaning::host_value, "-MT"},
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
    Option{"--expt-relaxed-constexpr", "-expt-relaxed-constexpr", Meaning::macro_flag, "__CUDACC_RELAXED_CONSTEXPR__"},
    Option{"--extended-lambda", "-extended-lambda", Meaning::macro_flag, "__CUDACC_EXTENDED_LAMBDA__"},
    Option{"--expt-extended-lambda", "-expt-extended-lambda", Meaning::macro_flag, "__CUDACC_EXTENDED_LAMBDA__"},
    Option{"--threads", "-t", Meaning::silent_value},
    Option{"--keep", "-keep", Meaning::noted_flag, "heddle nvcc -ptx shows the device code"},
    Option{"--source-in-ptx", "-src-in-ptx", Meaning::silent_flag},
    Option{"--restrict", "-restrict", Meaning::noted_flag, "pointers are taken as they are declared"},
    Option{"--ptxas-options", "-Xptxas", Meaning::noted_value, kPtxRuns},
    Option{"--nvlink-options", "-Xnvlink", Meaning::noted_value, kPtxRuns},
    Option{"--fatbin-options", "-Xfatbin", Meaning::noted_value, kPtxRuns},
    Option{"-Xcudafe", "", Meaning::silent_value},
    Option{"-Xarchive", "--archive-options", Meaning::silent_value},
    Option{"--Werror", "-Werror", Meaning::warnings},
    Option{"--diag-suppress", "-diag-suppress", Meaning::silent_value},
    Option{"--diag-error", "-diag-error", Meaning::silent_value},
    Option{"--diag-warn", "-diag-warn", Meaning::silent_value},
    Option{"--keep-dir", "-keep-dir", Meaning::silent_value},
    Option{"--split-compile", "-split-compile", Meaning::silent_value},
    Option{"--time", "-time", Meaning::silent_value},
    Option{"--compress-mode", "-compress-mode", Meaning::silent_value},
    Option{"--static-global-template-stub", "-static-global-template-stub", Meaning::silent_value},
    Option{"--target-directory", "-target-dir", Meaning::silent_value},
    Option{"--no-compress", "-no-compress", Meaning::silent_flag},
    Option{"--extra-device-vectorization", "-extra-device-vectorization", Meaning::silent_flag},
    Option{"--clean-targets", "-clean", Meaning::noted_flag, "nothing is left behind"},
    Option{"--dlink-time-opt", "-dlto", Meaning::noted_flag, "device code is linked when the program begins"},
    Option{"--brief-diagnostics", "-brief-diag", Meaning::silent_value},
    Option{"--no-host-device-initializer-list", "-nohdinitlist", Meaning::silent_flag},
    Option{"--no-host-device-move-forward", "-nohdmoveforward", Meaning::silent_flag},
    Option{"--display-error-number", "-err-no", Meaning::silent_flag},
    Option{"--no-display-error-number", "-no-err-no", Meaning::silent_flag},
    Option{"--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", Meaning::silent_flag},
    Option{"--resource-usage", "-res-usage", Meaning::noted_flag, "heddle compile shows what kernels need"},
    Option{"--maxrregcount", "-maxrregcount", Meaning::noted_value, kMachineDecides},
    Option{"--use_fast_math", "-use_fast_math", Meaning::noted_flag,
           "functions stay the accurate ones; call __expf and its kin"},
    Option{"--fmad", "-fmad", Meaning::fused},
    Option{"--ftz", "-ftz", Meaning::noted_value, "denormals are kept"},
    Option{"--prec-div", "-prec-div", Meaning::noted_value, "division is exact"},
    Option{"--prec-sqrt", "-prec-sqrt", Meaning::noted_value, "square roots are exact"},
    Option{"--default-stream", "-default-stream", Meaning::default_stream},
    Option{"--cubin", "-cubin", Meaning::refused,
           "PTX is what runs here: -ptx or -fatbin, and cuModuleLoad takes either"},
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
    case Meaning::device_words:
    case Meaning::host_value:
    case Meaning::linker_words:
    case Meaning::standard:
    case Meaning::optimise:
    case Meaning::language:
    case Meaning::relocatable:
    case Meaning::default_stream:
    case Meaning::fused:
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

// What the run-time library and the headers have.
constexpr std::array<std::string_view, 6> kOwnLibraries = {"cudart",  "cudart_static", "cudadevrt",
                                                           "culibos", "cuda",          "nvToolsExt"};

// The parts of a list between commas, or what else stands in `marks`.
std::vector<std::string> split(std::string_view list, std::string_view marks = ",") {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t mark = std::min(list.find_first_of(marks), list.size());
    if (mark != 0) parts.emplace_back(list.substr(0, mark));
    list.remove_prefix(std::min(mark + 1, list.size()));
  }
  return parts;
}
constexpr std::string_view kBetweenWords = ", \t\n";

// What nvcc's -Werror may be of. The word alone is the host compiler's.
constexpr std::array<std::string_view, 7> kKindsOfErrors = {"all-warnings",
                                                            "cross-execution-space-call",
                                                            "deprecated-declarations",
                                                            "default-stream-launch",
                                                            "missing-launch-bounds",
                                                            "ext-lambda-captures-this",
                                                            "reorder"};
// Warnings of nvcc's own, which clang has under no name.
constexpr std::array<std::string_view, 4> kOwnWarnings = {"-Wdefault-stream-launch", "-Wmissing-launch-bounds",
                                                          "-Wext-lambda-captures-this", "-Wno-deprecated-gpu-targets"};

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
    std::vector<unsigned>& all = out_.architectures;
    if (all.empty()) all.push_back(kLeastArchitecture);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
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
    if (word.starts_with("-Wl,")) {
      out_.linking.push_back(word);
    } else if (word.starts_with("-Wp,")) {
      out_.host.push_back(word);
    } else if (word.starts_with("-W")) {
      warning(word);
    } else if (word == "-pthread" || word.starts_with("-f")) {
      compiler_word(word);
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
      case Meaning::host_value:
        out_.host.insert(out_.host.end(), {clang, value});
        break;
      case Meaning::compiler_words:
        compiler_words(value);
        break;
      case Meaning::device_words:
        for (const std::string& one : split(value, kBetweenWords)) out_.device.push_back(one);
        break;
      case Meaning::warnings:
        warnings_are_errors(word);
        break;
      case Meaning::macro_flag:
        out_.both.insert(out_.both.end(), {"-D", clang});
        break;
      case Meaning::linker_words:
        for (const std::string& one : split(value, kBetweenWords)) {
          if (one.starts_with("-l")) {
            library(one.substr(2));
          } else {
            out_.linking.push_back("-Wl," + one);
          }
        }
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
      case Meaning::fused:
        if (value != "true" && value != "false") {
          throw InputError({word}, fmt::format("'{}' is neither true nor false", value), "-fmad=true or -fmad=false");
        }
        out_.fused = value == "true";
        break;
      case Meaning::step:
        out_.step = option.step;
        out_.listed = option.remark;
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
      case Meaning::architecture:
        for (const unsigned one : read_architectures(word, value)) out_.architectures.push_back(one);
        break;
      case Meaning::silent_flag:
      case Meaning::silent_value:
        break;
    }
  }

  // What the host's compiler gets by -Xcompiler: also what it hands on to the preprocessor and the linker, lists with
  // commas of their own.
  void compiler_words(const std::string& list) {
    for (const std::string& part : split(list, kBetweenWords.substr(1))) {
      const std::size_t linker = std::min(part.find("-Wl,"), part.size());
      const std::size_t preprocessor = std::min(part.find("-Wp,"), linker);
      if (preprocessor != linker) out_.host.push_back(part.substr(preprocessor, linker - preprocessor));
      for (const std::string& one : split(std::string_view(part).substr(0, preprocessor))) {
        if (one.starts_with("-W") && one != "-Wa") {
          warning(one);
        } else {
          compiler_word(one);
        }
      }
      if (linker != part.size()) out_.linking.push_back(part.substr(linker));
    }
  }
  void compiler_word(const std::string& word) {
    if (word == "-fpermissive") {
      out_.notes.push_back(fmt::format("{} has no effect: clang has no such mode", word));
      return;
    }
    if (word.size() > 2 && (word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-I"))) {
      out_.both.insert(out_.both.end(), {word.substr(0, 2), word.substr(2)});  // device code is preprocessed by it too
      return;
    }
    out_.host.push_back(word);
    // What the compiler's own libraries are linked for.
    if (word == "-fopenmp" || word == "-pthread" || word.starts_with("-fsanitize=")) out_.linking.push_back(word);
  }
  // Both compilations hear of it: what is an error may be so in either.
  void warning(const std::string& word) {
    if (std::find(kOwnWarnings.begin(), kOwnWarnings.end(), word) == kOwnWarnings.end()) out_.both.push_back(word);
  }
  // nvcc's kinds, or the host compiler's word: alone, or with a warning of its own.
  void warnings_are_errors(const std::string& word) {
    const auto all_known = [](const std::string& list) {
      const std::vector<std::string> kinds = split(list);
      return !kinds.empty() && std::all_of(kinds.begin(), kinds.end(), [](const std::string& kind) {
        return std::find(kKindsOfErrors.begin(), kKindsOfErrors.end(), kind) != kKindsOfErrors.end();
      });
    };
    const std::size_t equals = word.find('=');
    std::string kinds = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (kinds.empty() && next_ + 1 < words_.size() && all_known(words_[next_ + 1])) kinds = words_[++next_];
    if (!all_known(kinds)) {
      warning(word.starts_with("--") ? word.substr(1) : word);
      return;
    }
    for (const std::string& kind : split(kinds)) {
      if (kind == "all-warnings") warning("-Werror");
      if (kind == "reorder" || kind == "deprecated-declarations") warning("-Werror=" + kind);
    }
  }

  void library(const std::string& name) {
    if (std::find(kOwnLibraries.begin(), kOwnLibraries.end(), name) != kOwnLibraries.end()) return;
    if (name == "curand" || name == "curand_static") {
      out_.inputs.emplace_back("-lheddle_curand");
      return;
    }
    if (name == "cublas" || name == "cublas_static" || name == "cublasLt" || name == "cublasLt_static") {
      out_.inputs.emplace_back("-lheddle_cublas");
      return;
    }
    if (const CudaLibrary* const missing = library_of_word(name); missing != nullptr) {
      throw InputError({"-l" + name}, fmt::format("there is no {} ({})", missing->name, missing->purpose),
                       std::string(missing->advice));
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

}  // namespace heddle::cuda
