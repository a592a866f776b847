// The PTX front end: text in, machine code out (what ptxas does for real GPUs).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/module.hpp"
#include "ptx/code_options.hpp"
#include "ptx/refusal.hpp"

namespace heddle::ptx {

class CompiledKernels;

struct CompileOptions : CodeOptions {
  CompileOptions() = default;
  explicit CompileOptions(const CodeOptions& code) : CodeOptions(code) {}

  // Of the stack that a thread has in a kernel with recursion.
  std::uint32_t stack_bytes = 1024;  // as CUDA's run-time library has it by default
  // The most threads of a block that a kernel is launched with, by its name as launches have it, where that is known:
  // no room is kept in a core for larger ones. Null: it is known of none.
  const std::map<std::string, std::uint64_t>* block_threads = nullptr;
  // Whether a kernel that spills registers so that blocks of 1024 threads have room, and does not say how many threads
  // its blocks have, is there again with as many registers as it can use (isa::Kernel::more_registers).
  bool roomier = false;
  // Takes what a user should know of how the text was read; null: it is not told.
  std::vector<std::string>* notes = nullptr;
  // Takes the kernels that cannot be compiled, in the order of the text; the module has the others. Null: the first
  // refusal is thrown.
  std::vector<RefusedKernel>* refused = nullptr;
  // Kernels that have been compiled before, which takes those that are compiled now, too; null: all are compiled.
  CompiledKernels* known = nullptr;
  // While it is set (by a signal handler, or another thread), compiling throws Interrupted. Null: never.
  const std::atomic<bool>* interrupted = nullptr;
};

// The kernel of `refused` that `wanted` means, if `module` and `refused` have no other that it could mean
// (isa/symbol_names.hpp); null: there is none.
[[nodiscard]] const RefusedKernel* find_refused(const isa::Module& module, std::span<const RefusedKernel> refused,
                                                std::string_view wanted);
// Names of the module's kernels, and then of kernels that are refused.
[[nodiscard]] std::vector<std::string> kernel_names(const isa::Module& module, std::span<const RefusedKernel> refused);

// Compiles every .entry of a PTX file (3.0 to 9.x). Throws InputError with file:line:column, the construct and what to
// do about it. `file` names the text in messages.
[[nodiscard]] isa::Module compile(std::string_view text, const std::string& file, const CompileOptions& options = {});

// One of several texts that make a program.
struct ProgramText {
  std::string text;
  std::string file;          // names it in messages of its syntax
  bool relocatable = false;  // its visible names are shared by all such texts (nvcc's -rdc=true)
};

// Compiles the kernels of several texts into one module. A name that two texts have for themselves gets the number of
// the later text ("scale.2"); `changed` says by text which were changed. Lines of messages and of LineInfo count as if
// the texts stood one behind the other in `file`. Throws InputError.
[[nodiscard]] isa::Module compile_program(std::span<const ProgramText> texts, const std::string& file,
                                          const CompileOptions& options,
                                          std::vector<std::map<std::string, std::string>>& changed);

// The text of a PTX file. Throws InputError where it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);
// Reads the file and compiles it.
[[nodiscard]] isa::Module compile_file(const std::string& path, const CompileOptions& options = {});

}  // namespace heddle::ptx
