#include "cuda/compiler/cuda_compiler.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "cuda/compiler/compiler_texts.hpp"
#include "cuda/compiler/cuda_libraries.hpp"
#include "cuda/compiler/device_code.hpp"
#include "cuda/compiler/dynamic_parallelism.hpp"
#include "cuda/compiler/embedded.hpp"
#include "os/files/temporary_folder.hpp"
#include "os/process/child_process.hpp"
#include "os/process/stopping.hpp"

namespace heddle::cuda {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// What the compiler ended with, and what it printed.
os::Finished run_compiler(const std::vector<std::string>& words, const std::string& path) {
  os::ProcessSetup setup;
  setup.err = os::Redirection::output();  // in the order in which it was said
  try {
    return os::run_program_or_stop(words, setup, fmt::format("while {} was compiled", path));
  } catch (const os::StartError& error) {
    throw InputError({}, fmt::format("cannot run the CUDA compiler '{}': {}", words[0], error.reason()),
                     "set HEDDLE_CLANG to a clang++ of version 14 to 19, or unset it");
  }
}

}  // namespace

std::string find_clang() {
  if (const char* chosen = std::getenv("HEDDLE_CLANG"); chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  for (const char* name :
       {"clang++", "clang++-19", "clang++-18", "clang++-17", "clang++-16", "clang++-15", "clang++-14"}) {
    if (!os::find_program(name).empty()) {
      return name;
    }
  }
  throw InputError({}, "no clang++ found, which compiles CUDA files to PTX",
                   "install Debian's package clang (14 to 19), set HEDDLE_CLANG to the compiler, or give a .ptx file");
}

namespace {

// The compiler's words for `path`, but for what it is to make of it. Writes the headers into `temporary`.
std::vector<std::string> compiler_words(const std::string& path, unsigned address_bits,
                                        const os::TemporaryFolder& temporary) {
  if (address_bits != 32 && address_bits != 64) {
    throw InternalError(fmt::format("device addresses of {} bits", address_bits));
  }
  if (const auto reason = unreadable_reason(path)) {
    throw InputError({path}, "the CUDA file cannot be read: " + *reason, "check its name and permissions");
  }
  const std::string clang = find_clang();
  for (const EmbeddedFile& header : device_headers()) {
    temporary.write(header.name, header.text);
  }
  // Headers that ordinary CUDA files include; heddle/cuda.h, which comes before everything, has their contents.
  for (const char* name : {"cuda_runtime.h",
                           "device_launch_parameters.h",
                           "math.h",
                           "stddef.h",
                           "stdint.h",
                           "cfloat",
                           "climits",
                           "cmath",
                           "cstddef",
                           "cstdint",
                           "cstdio",
                           "cstdlib",
                           "cstring",
                           "cuda.h",
                           "cuda_runtime_api.h",
                           "device_functions.h",
                           "float.h",
                           "limits.h",
                           "math_constants.h",
                           "math_functions.h",
                           "new",
                           "sm_20_intrinsics.h",
                           "stdio.h",
                           "stdlib.h",
                           "string.h",
                           "vector_functions.h",
                           "vector_types.h"}) {
    temporary.write(name, "#pragma once\n");
  }
  for (const char* name : {"assert.h", "cassert"}) {  // no #pragma once: each inclusion looks at NDEBUG anew
    temporary.write(name, "#include \"heddle/cuda_assert.h\"\n");
  }
  for (const auto& [name, header] : {std::pair{"cuda_fp16.h", "heddle/cuda_half.h"},
                                     {"cuda_bf16.h", "heddle/cuda_bfloat.h"},
                                     {"cuda_fp8.h", "heddle/cuda_float8.h"},
                                     {"cuComplex.h", "heddle/cuda_complex.h"},
                                     {"cuda/atomic", "heddle/cuda_scopes.h"},
                                     {"cuda/barrier", "heddle/cuda_barrier.h"},
                                     {"cuda/latch", "heddle/cuda_barrier.h"},
                                     {"cuda/pipeline", "heddle/cuda_pipeline.h"},
                                     {"cuda/semaphore", "heddle/cuda_barrier.h"},
                                     {"cuda/std/atomic", "heddle/cuda_standard_scopes.h"},
                                     {"cuda/std/barrier", "heddle/cuda_standard_barrier.h"},
                                     {"curand_kernel.h", "heddle/cuda_random.h"},
                                     {"cuda_pipeline.h", "heddle/cuda_copy_primitives.h"},
                                     {"cuda_pipeline_primitives.h", "heddle/cuda_copy_primitives.h"},
                                     {"mma.h", "heddle/cuda_matrices.h"},
                                     {"cooperative_groups.h", "heddle/cuda_groups.h"},
                                     {"cooperative_groups/memcpy_async.h", "heddle/cuda_groups_copies.h"},
                                     {"cooperative_groups/reduce.h", "heddle/cuda_groups_reduce.h"},
                                     {"cooperative_groups/scan.h", "heddle/cuda_groups_scan.h"}}) {
    temporary.write(name, fmt::format("#pragma once\n#include \"{}\"\n", header));
  }

  std::vector<std::string> words{clang, "-fno-crash-diagnostics"};  // which would stay in the folder of temporary files
  std::istringstream options{std::string(clang_options())};
  for (std::string option; std::getline(options, option);) {
    if (!option.empty()) {
      words.push_back(option);
    }
  }
  if (address_bits == 32) {
    words.insert(words.end(), {"--target=i386-linux-gnu", "-malign-double"});
  } else {
    words.emplace_back("--target=x86_64-linux-gnu");
  }
  words.insert(words.end(), {"-fno-color-diagnostics", "-fdebug-prefix-map=" + temporary.path().string() + "=heddle",
                             "-I" + temporary.path().string(), "-include", "heddle/cuda.h"});
  return words;
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

std::string compile_cuda(const std::string& path, unsigned address_bits, unsigned architecture) {
  const os::StopsOrderly caught;  // the folder does not stay behind
  const os::TemporaryFolder temporary;
  const std::vector<std::string> words = compiler_words(path, address_bits, temporary);
  const fs::path ptx = temporary.path() / "out.ptx";
  os::Finished compiler;
  DeviceCode code{words, {"--", path}, temporary.path(), {}, {}, architecture, false};
  code.run = [&](const std::vector<std::string>& command) {
    compiler = run_compiler(command, path);
    return compiler.end.shell_code();
  };
  code.silent = [&](const std::vector<std::string>& command) { return run_compiler(command, path).end.shell_code(); };
  if (compile_device_code(code, ptx.string()) != 0) {
    std::string output = compiler.out;
    // The folder's name differs from run to run.
    const std::string folder = temporary.path().string() + "/";
    for (std::size_t at = output.find(folder); at != std::string::npos; at = output.find(folder, at)) {
      output.erase(at, folder.size());
    }
    if (is_name_beyond_ascii(output)) {
      const fs::path module = temporary.path() / "out.ll";
      static_cast<void>(
          run_compiler(with(words, {"-emit-llvm", "-g", "-O0", "-o", module.string(), "--", path}), path));
      refuse_name(read_text(module), folder, path);
    }
    const Diagnostic error = first_error(output).value_or(Diagnostic{{}, "the CUDA compiler failed"});
    const SourceLocation where = error.where.file.empty() ? SourceLocation{path} : error.where;
    if (const auto parallelism = find_dynamic_parallelism(output)) throw InputError(parallelism->error);
    if (const auto missing = missing_library(error)) throw *missing;
    std::string hint = error.message.find("file not found") != std::string::npos
                           ? "device code can include files beside it and the headers that docs/cuda-support.md lists"
                           : "see the compiler's output below";
    if (!output.empty()) {
      hint += "\n" + output;
    }
    throw InputError(where, error.message, hint);
  }
  return read_text(ptx);
}

std::vector<std::string> cuda_includes(const std::string& path, unsigned address_bits, unsigned architecture) {
  const os::StopsOrderly caught;
  const os::TemporaryFolder temporary;
  const std::vector<std::string> words = compiler_words(path, address_bits, temporary);
  const fs::path list = temporary.path() / "out.d";
  const std::vector<std::string> all = with(words, architecture_words(architecture));
  static_cast<void>(run_compiler(with(all, {"-M", "-MF", list.string(), "-o", "-", "--", path}), path));
  return included_files(read_text(list), temporary.path());
}

}  // namespace heddle::cuda
