// Long: one class, whose steps share what a command says.
#include "cuda/compiler/program_compiler.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "cuda/compiler/compiler_texts.hpp"
#include "cuda/compiler/cuda_compiler.hpp"
#include "cuda/compiler/cuda_libraries.hpp"
#include "cuda/compiler/device_code.hpp"
#include "cuda/compiler/dynamic_parallelism.hpp"
#include "cuda/compiler/embedded.hpp"
#include "cuda/compiler/nvcc_files.hpp"
#include "cuda/compiler/nvcc_options.hpp"
#include "cuda/compiler/source_pass.hpp"
#include "cuda/compiler/toolkit.hpp"
#include "cuda/cudart/fat_binary.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "os/files/temporary_folder.hpp"
#include "os/process/child_process.hpp"
#include "os/process/descriptor.hpp"
#include "os/process/stopping.hpp"

namespace heddle::cuda {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Step = NvccOptions::Step;

// Of launches by __cudaPushCallConfiguration and cudaLaunchKernel, and of registrations that say where they end.
constexpr const char* kRuntimeVersion = "-target-sdk-version=11.5";

enum class Kind { cuda, cpp, c, linked, unknown };

Kind kind_of(const std::string& input, const NvccOptions& options) {
  if (input.starts_with("-l")) return Kind::linked;
  const std::string ending = fs::path(input).extension().string();
  if (ending == ".o" || ending == ".a" || ending == ".obj" || ending == ".so" ||
      input.find(".so.") != std::string::npos) {
    return Kind::linked;
  }
  if (options.language == "cu" || ending == ".cu") return Kind::cuda;
  if (options.language == "c++" || ending == ".cpp" || ending == ".cc" || ending == ".cxx" || ending == ".C") {
    return Kind::cpp;
  }
  return options.language == "c" || ending == ".c" ? Kind::c : Kind::unknown;
}

// What nvcc's front end and g++ warn of at most.
constexpr std::array kTakenWithWarnings = {"-Wno-error=c++11-narrowing", "-Wno-error=register",
                                           "-Wno-error=reserved-user-defined-literal"};
constexpr std::array kTakenInC = {"-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
                                  "-Wno-error=int-conversion", "-Wno-error=incompatible-function-pointer-types"};
// Of host code, which in old programs relies on them: integers that overflow wrap, and member functions may be called
// of null pointers.
constexpr std::array kAsWritten = {"-fwrapv", "-fno-delete-null-pointer-checks"};
// The release whose run-time API this is.
constexpr std::array kCompilerMacros = {"-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=11",
                                        "-D__CUDACC_VER_MINOR__=5", "-D__CUDACC_VER_BUILD__=119"};

// All of a file; of one that is not there nothing.
std::string whole_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Compiler {
 public:
  explicit Compiler(NvccOptions options) : options_(std::move(options)), clang_(find_clang()) {
    for (const EmbeddedFile& header : device_headers()) {
      temporary_.write(header.name, header.text);
    }
    if (!options_.has_standard) cpp_standard_ = {"-std=gnu++17"};
  }

  int run() {
    if (options_.step == Step::ptx && options_.architectures.size() != 1) {
      options_.notes.push_back(
          fmt::format("-ptx writes one text: that for sm_{}, the newest", options_.architectures.back()));
    }
    for (const std::string& note : options_.notes) std::cerr << "heddle: note: " << note << "\n";
    if (options_.inputs.empty()) {
      throw InputError({"nvcc"}, "there is no file to compile", "heddle nvcc FILE.cu -o PROGRAM");
    }
    if (!options_.output.empty() && options_.step != Step::link && sources() > 1 && options_.step != Step::archive &&
        options_.step != Step::device_link) {
      throw InputError({"-o " + options_.output}, "is one file, for several sources",
                       "leave it out, or compile one file at a time");
    }
    check_files();
    if (options_.step == Step::device_link) return device_link();
    Words objects;
    for (const std::string& input : options_.inputs) {
      const Kind kind = kind_of(input, options_);
      if (kind == Kind::unknown) {
        throw InputError({input},
                         "is of no kind that is known: its name ends in none of .cu .cpp .cc .cxx .c .o .a .so",
                         "-x cu takes it as CUDA");
      }
      if (kind == Kind::linked) {
        objects.push_back(input);
        continue;
      }
      if (const auto reason = unreadable_reason(input)) {
        throw InputError({input}, "the file cannot be read: " + *reason, "check its name and permissions");
      }
      const std::string output = output_of(input, objects.size());
      if (const int code = compile(input, kind, output); code != 0) return code;
      objects.push_back(output);
    }
    if (options_.step == Step::link) return link(objects);
    if (options_.step == Step::archive) return archive(objects);
    return 0;
  }

 private:
  [[nodiscard]] std::size_t sources() const {
    return static_cast<std::size_t>(
        std::count_if(options_.inputs.begin(), options_.inputs.end(),
                      [&](const auto& input) { return kind_of(input, options_) != Kind::linked; }));
  }

  // Every file that the command reads or writes, before it touches one.
  void check_files() {
    os::CommandFiles files;
    add_nvcc_inputs(files, options_);
    std::vector<std::pair<std::string, Kind>> compiled;
    for (const std::string& input : options_.inputs) {
      if (const Kind kind = kind_of(input, options_); kind != Kind::linked && kind != Kind::unknown) {
        compiled.emplace_back(input, kind);
      }
    }
    files.reads_texts("a file", [this, compiled] {
      Words all;
      for (const auto& [input, kind] : compiled) {
        const Words read = included(input, kind);
        all.insert(all.end(), read.begin(), read.end());
      }
      return all;
    });
    Words sources;
    Words results;
    for (std::size_t i = 0; i != compiled.size() && options_.step != Step::device_link; ++i) {
      sources.push_back(compiled[i].first);
      results.push_back(output_of(compiled[i].first, i));
    }
    add_nvcc_outputs(files, options_, sources, results);
  }

  // What a source includes of the user's, in the compilations of host and device code.
  [[nodiscard]] Words included(const std::string& input, Kind kind) const {
    Words all;
    static constexpr std::string_view kDevice = "--cuda-device-only";
    for (const std::string_view side : {std::string_view("--cuda-host-only"), kDevice}) {
      Words words = common(kind);
      const Words host = without_dependency_options(options_.host);
      words.insert(words.end(), host.begin(), host.end());
      if (kind == Kind::cuda) words.emplace_back(side);
      if (side == kDevice) {
        const Words newest = architecture_words(options_.architectures.back());
        words.insert(words.end(), newest.begin(), newest.end());
      }
      const std::string list = (temporary_.path() / "included.d").string();
      words.insert(words.end(), {"-w", "-M", "-MF", list, "-o", "-", input});
      const os::Finished finished = os::run_program_or_stop(words, {}, "while " + input + " was looked through");
      const Words files = included_files(whole_file(list), temporary_.path());
      all.insert(all.end(), files.begin(), files.end());
      if (kind != Kind::cuda) break;
    }
    return all;
  }

  // Where the step's result for one source goes; empty: to standard output.
  std::string output_of(const std::string& input, std::size_t number) {
    const std::string stem = fs::path(input).stem().string();
    switch (options_.step) {
      case Step::link:
      case Step::archive:
        return (temporary_.path() / fmt::format("{}-{}.o", number, stem)).string();
      case Step::preprocess:
      case Step::dependencies:
        return options_.output;
      default:
        break;
    }
    if (!options_.output.empty()) return options_.output;
    const std::string name = stem + (options_.step == Step::ptx      ? ".ptx"
                                     : options_.step == Step::fatbin ? ".fatbin"
                                                                     : ".o");
    return options_.output_folder.empty() ? name : (fs::path(options_.output_folder) / name).string();
  }

  // The words that both compilations of a CUDA file get, or compilations of host code in C and C++.
  Words common(Kind kind) const {
    Words words{clang_, "-fno-crash-diagnostics"};
    if (kind == Kind::cuda) {
      words.insert(words.end(), {"-x", "cuda", "--cuda-gpu-arch=sm_60", "-nocudainc", "-nocudalib",
                                 "-Wno-unknown-cuda-version", "-Xclang", kRuntimeVersion});
      // Declared and never called, functions with "..." choose overloads.
      words.insert(words.end(), {"-Xclang", "-fcuda-allow-variadic-functions"});
      words.insert(words.end(), kCompilerMacros.begin(), kCompilerMacros.end());
      if (options_.relocatable) words.emplace_back("-D__CUDACC_RDC__");
    } else {
      words.insert(words.end(), {"-x", kind == Kind::c ? "c" : "c++"});
    }
    if (kind == Kind::c) {
      words.insert(words.end(), kTakenInC.begin(), kTakenInC.end());
    } else {
      words.insert(words.end(), kTakenWithWarnings.begin(), kTakenWithWarnings.end());
      words.insert(words.end(), cpp_standard_.begin(), cpp_standard_.end());
    }
    for (const char* const word : kAsWritten) {
      if (kind == Kind::cuda) words.emplace_back("-Xarch_host");
      words.emplace_back(word);
    }
    for (std::size_t i = 0; i < options_.both.size(); ++i) {
      const std::string& word = options_.both[i];
      if (names_own_headers(i)) {
        ++i;
      } else if (kind != Kind::c || !word.starts_with("-std=c++")) {
        words.push_back(word);
      }
    }
    // System headers: their warnings are not the user's, and device functions of theirs may take the place of constexpr
    // ones of the standard library.
    const std::string folder = temporary_.path().string();
    words.insert(words.end(),
                 {"-fdebug-prefix-map=" + folder + "=heddle", "-isystem", folder + "/runtime", "-isystem", folder});
    if (kind == Kind::cuda) words.insert(words.end(), {"-include", "cuda_runtime.h"});
    return words;
  }

  // "-I FOLDER" of the toolkit's headers, which are the headers that come by themselves.
  [[nodiscard]] bool names_own_headers(std::size_t i) const {
    if ((options_.both[i] != "-I" && options_.both[i] != "-isystem") || i + 1 == options_.both.size()) return false;
    std::error_code ignored;
    const fs::path folder = fs::weakly_canonical(options_.both[i + 1], ignored);
    return folder.filename() == "runtime" && fs::exists(folder / "../heddle/cuda_vectors.h", ignored);
  }

  // What the passes over the text change (cuda/compiler/source_pass.hpp), which clang then reads in place of the files.
  Words changed_sources(const std::string& input) {
    std::vector<std::string> folders;
    for (std::size_t i = 0; i + 1 < options_.both.size(); ++i) {
      if (options_.both[i] == "-I" || options_.both[i] == "-isystem") folders.push_back(options_.both[i + 1]);
    }
    Words words;
    for (const ChangedSource& source : sources_for_clang(input, folders)) {
      const fs::path changed = temporary_.write(fmt::format("source-{}", sources_++), source.text);
      words.insert(words.end(), {"-Xclang", "-remap-file", "-Xclang", source.path + ";" + changed.string()});
    }
    return words;
  }

  // clang's words for the file's device code, but for the file and what to make of it.
  [[nodiscard]] Words device_words(const Words& changed) const {
    Words words = common(Kind::cuda);
    words.insert(words.end(), changed.begin(), changed.end());
    // The options of kernels alone (cuda/compiler/clang_options.txt), but for what host code in the file would not
    // stand.
    std::istringstream options{std::string(clang_options())};
    for (std::string option; std::getline(options, option);) {
      static constexpr std::string_view kKernelsOnly[] = {"-x",
                                                          "cuda",
                                                          "-nocudainc",
                                                          "-nocudalib",
                                                          "-nostdinc",
                                                          "-nostdinc++",
                                                          "-std=c++17",
                                                          "--cuda-gpu-arch=sm_60",
                                                          "-fno-exceptions",
                                                          "-Wno-unknown-cuda-version"};
      if (!option.empty() &&
          std::find(std::begin(kKernelsOnly), std::end(kKernelsOnly), option) == std::end(kKernelsOnly)) {
        words.push_back(option);
      }
    }
    if (options_.fused) words.emplace_back("-D__HEDDLE_FMAD__");  // heddle/cuda_unfused.h
    words.insert(words.end(), options_.device.begin(), options_.device.end());
    words.emplace_back("-w");  // the host's compilation warns
    return words;
  }

  int device_code(const std::string& input, const std::string& ptx, const Words& changed, unsigned architecture) const {
    const Words words = device_words(changed);
    DeviceCode code{words, {input}, temporary_.path(), {}, {}, architecture, options_.dry};
    bool bad_name = false;
    code.run = [&](const Words& command) {
      const Heard heard = listen(command);
      bad_name = is_name_beyond_ascii(heard.text);  // clang ends for it with a listing of its own stack
      return bad_name ? heard.code : tell(heard);
    };
    code.silent = [this](const Words& command) {
      show(command);
      os::ProcessSetup setup;
      setup.err = os::Redirection::output();
      return options_.dry ? 0 : os::run_program_or_stop(command, setup, during()).end.shell_code();
    };
    const int failed = compile_device_code(code, ptx);
    if (bad_name) {
      const std::string module = (temporary_.path() / "device.ll").string();
      Words listing = words;
      listing.insert(listing.end(), {"-emit-llvm", "-g", "-O0", "-o", module, input});
      static_cast<void>(code.silent(listing));
      refuse_name(whole_file(module), temporary_.path().string() + "/", input);
    }
    return failed;
  }

  int device_text(const std::string& input, const std::string& output, const Words& changed) const {
    const std::string ptx = (temporary_.path() / "device.ptx").string();
    const int code = device_code(input, ptx, changed, options_.architectures.back());
    if (code != 0 || options_.dry) return code;
    if (output == "-") {
      std::cout << whole_file(ptx) << std::flush;
    } else {
      os::write_file(output, whole_file(ptx));
    }
    return 0;
  }

  // The file as its device code is read for an architecture; empty: clang refuses it.
  [[nodiscard]] std::string preprocessed(const std::string& input, const Words& changed, unsigned architecture) const {
    const std::string text = (temporary_.path() / "device.ii").string();
    Words words = device_words(changed);
    const Words of = architecture_words(architecture);
    words.insert(words.end(), of.begin(), of.end());
    words.insert(words.end(), {"-E", "-o", text, input});
    show(words);
    os::ProcessSetup setup;
    setup.err = os::Redirection::output();
    const bool done = !options_.dry && os::run_program_or_stop(words, setup, during()).end.shell_code() == 0;
    return done ? whole_file(text) : std::string();
  }

  // Device code by itself, as cuModuleLoad takes it. What an architecture would have as the one before it has it is
  // there once.
  int container(const std::string& input, const std::string& output, const Words& changed) {
    const std::string ptx = (temporary_.path() / "device.ptx").string();
    std::string entries;
    std::string before;
    for (const unsigned architecture : options_.architectures) {
      if (options_.architectures.size() != 1) {
        std::string text = preprocessed(input, changed, architecture);
        if (!text.empty() && text == before) continue;
        before = std::move(text);
      }
      if (const int code = device_code(input, ptx, changed, architecture); code != 0) return code;
      if (options_.dry) continue;
      entries += cudart::fat_binary_entry(whole_file(ptx), architecture, options_.relocatable);
    }
    if (!options_.dry) os::write_file(output, cudart::fat_binary(entries));
    return 0;
  }

  int compile(const std::string& input, Kind kind, const std::string& output) {
    const Words changed = kind == Kind::cuda ? changed_sources(input) : Words();
    if (options_.step == Step::ptx || options_.step == Step::fatbin) {
      const bool text = options_.step == Step::ptx;
      if (kind != Kind::cuda) {
        throw InputError({input}, fmt::format("is no CUDA file, which {} compiles", text ? "-ptx" : "-fatbin"));
      }
      return text ? device_text(input, output, changed) : container(input, output, changed);
    }
    Words words = common(kind);
    words.insert(words.end(), changed.begin(), changed.end());
    const DependencyLists lists = dependency_lists(options_.host);
    words.insert(words.end(), lists.words.begin(), lists.words.end());
    if (options_.step == Step::dependencies) {
      if (kind == Kind::cuda) words.emplace_back("--cuda-host-only");
      words.insert(words.end(), {options_.listed, "-MF", dependency_list(), input});
      const int code = compile_source(words);
      if (code == 0) write_dependencies(lists.named.empty() ? output : lists.named);
      return code;
    }
    if (lists.wanted) {
      words.insert(words.end(), {"-MF", dependency_list()});
      if (!lists.has_target && options_.step == Step::link) {
        words.insert(words.end(), {"-MQ", options_.output.empty() ? "a.out" : options_.output});
      } else if (!lists.has_target && options_.step == Step::archive) {
        words.insert(words.end(), {"-MQ", options_.output.empty() ? "a.a" : options_.output});
      }
    } else if (!lists.named.empty()) {
      words.insert(words.end(), {"-MF", lists.named});  // clang says that it belongs to -MD
    }
    const int code = compile_host_code(input, kind, output, changed, words);
    if (code == 0 && lists.wanted) {
      write_dependencies(lists.named.empty() ? usual_dependency_list(options_, input, output) : lists.named);
    }
    return code;
  }

  [[nodiscard]] std::string dependency_list() const { return (temporary_.path() / "listed.d").string(); }

  // clang's list of what it has read, without the headers that there are while it runs alone. To standard output: "-"
  // or nowhere.
  void write_dependencies(const std::string& file) const {
    if (options_.dry) return;
    const std::string kept = dependencies_without(whole_file(dependency_list()), temporary_.path());
    if (file.empty() || file == "-") {
      std::cout << kept << std::flush;
    } else {
      os::write_file(file, kept);
    }
  }

  int compile_host_code(const std::string& input, Kind kind, const std::string& output, const Words& changed,
                        Words words) {
    if (options_.step == Step::preprocess) {
      if (kind == Kind::cuda) words.emplace_back("--cuda-host-only");
      words.emplace_back("-E");
      if (!output.empty()) words.insert(words.end(), {"-o", output});
      words.push_back(input);
      return compile_source(words);
    }
    if (kind == Kind::cuda) {
      const std::string file = (temporary_.path() / "device.fatbin").string();
      if (const int code = container(input, file, changed); code != 0) return code;
      // clang registers no file without kernels and variables; other files may call its functions.
      if (options_.relocatable && !options_.dry && whole_file(file).find(".entry ") == std::string::npos) {
        words.emplace_back("-DHEDDLE_REGISTERED_FILE_");
      }
      words.insert(words.end(), {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", file});
    }
    words.insert(words.end(), {"-c", "-o", output, input});
    return compile_source(std::move(words));
  }

  int link(const Words& objects) const {
    const std::string folder = runtime_library_folder();
    Words words{clang_, "-o", options_.output.empty() ? "a.out" : options_.output};
    words.insert(words.end(), objects.begin(), objects.end());
    words.insert(words.end(), options_.linking.begin(), options_.linking.end());
    words.insert(words.end(), {"-L" + folder, "-lheddle_cudart", "-Wl,-rpath," + folder});
    const Heard heard = listen(words);
    std::cerr << heard.text << std::flush;
    if (const auto missing = heard.code == 0 ? std::nullopt : missing_function(heard.text)) throw *missing;
    return heard.code;
  }

  int archive(const Words& objects) const {
    Words words{"ar", "rcs", options_.output.empty() ? "a.a" : options_.output};
    words.insert(words.end(), objects.begin(), objects.end());
    return execute(words);
  }

  // Device code is linked when the program begins; what nvcc would make here is an object with nothing in it.
  int device_link() const {
    const std::string source = temporary_.write("nothing.c", "").string();
    return execute({clang_, "-x", "c", "-c", "-o", options_.output.empty() ? "a_dlink.o" : options_.output, source});
  }

  void show(const Words& words) const {
    if (!options_.verbose) return;
    std::cerr << "#$";
    for (const std::string& word : words) std::cerr << " " << word;
    std::cerr << "\n";
  }

  // What a compilation has ended with, and said.
  struct Heard {
    int code = 0;
    std::string text;
  };
  Heard listen(Words words) const {
    if (::isatty(STDERR_FILENO) != 0) words.insert(words.begin() + 1, "-fcolor-diagnostics");
    show(words);
    if (options_.dry) return {};
    const std::string said = (temporary_.path() / "said").string();
    os::ProcessSetup setup;
    setup.err = os::Redirection::file(said);
    Heard heard;
    heard.code = os::wait_or_stop(words, setup, during()).shell_code();
    heard.text = whole_file(said);
    return heard;
  }

  // It is told the user, in our words where a library of CUDA's is missing or kernels launch kernels.
  int tell(const Heard& heard) const {
    if (const auto parallelism = heard.code == 0 ? std::nullopt : find_dynamic_parallelism(heard.text)) {
      if (!parallelism->all) std::cerr << heard.text;
      throw InputError(parallelism->error);
    }
    if (const auto error = first_error(heard.text); heard.code != 0 && error) {
      if (const auto missing = missing_library(*error)) {
        std::cerr << heard.text.substr(0, error->begins) << std::flush;
        throw *missing;
      }
    }
    std::cerr << heard.text << std::flush;
    return heard.code;
  }

  int compile_source(const Words& words) const { return tell(listen(words)); }

  int execute(const Words& words) const {
    show(words);
    if (options_.dry) return 0;
    return os::wait_or_stop(words, {}, during()).shell_code();
  }

  [[nodiscard]] std::string during() const { return fmt::format("while {} was compiled", options_.inputs.front()); }

  NvccOptions options_;
  std::string clang_;
  os::TemporaryFolder temporary_;
  Words cpp_standard_;
  int sources_ = 0;  // that a pass has changed
};

}  // namespace

int compile_program(const std::vector<std::string>& words) {
  NvccOptions options = read_nvcc_options(words);
  leave_out_cutil(options);
  if (options.version) {
    // In the form in which builds look for it.
    std::cout << "heddle nvcc: CUDA programs by clang\nCuda compilation tools, release 11.5, V11.5.0\n";
    return 0;
  }
  const os::StopsOrderly caught;  // nothing temporary stays behind
  try {
    return Compiler(std::move(options)).run();
  } catch (const os::StartError& error) {
    throw InputError({}, error.what(), "install Debian's package clang (14 to 19), or set HEDDLE_CLANG");
  }
}

}  // namespace heddle::cuda
