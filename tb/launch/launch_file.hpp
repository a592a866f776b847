// A LAUNCH.toml: a kernel, its buffers, its launches and the expected outputs, with no C++. The format is described in
// docs/launch-files.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isa/module.hpp"
#include "tb/device/executor.hpp"
#include "tb/device/workload.hpp"

namespace heddle::tb {

namespace launch {
struct Description;
}

class LaunchFile {
 public:
  // Reads and checks the file. Throws InputError (file:line:column, key, nearest valid name) for everything that can be
  // told without the kernel: syntax, unknown keys, wrong types, values out of range, buffers that do not exist, missing
  // files and files whose size does not match.
  [[nodiscard]] static LaunchFile read(const std::string& path);

  LaunchFile(LaunchFile&&) noexcept;
  LaunchFile& operator=(LaunchFile&&) noexcept;
  ~LaunchFile();

  // The file as it was named to read().
  [[nodiscard]] const std::string& path() const;
  // 32 or 64: how a CUDA file is compiled, and the size of a buffer argument.
  [[nodiscard]] unsigned address_bits() const;

  // The kernels of the file's `ptx` or `cuda`, compiled as `code` says. Throws InputError; a kernel that cannot be
  // compiled is refused by run(), if that launches it. The other arguments are as ptx::CompileOptions has them.
  [[nodiscard]] isa::Module compile(const ptx::CodeOptions& code, std::vector<std::string>* notes = nullptr,
                                    const std::atomic<bool>* interrupted = nullptr) const;
  // The PTX of the kernel file, compiled from CUDA where it is that. Throws InputError.
  [[nodiscard]] std::string ptx() const;
  // Throws InputError when what ptx() has returned is no PTX, which compile() would refuse on every machine.
  void check(const std::string& ptx) const;
  // Like compile(), from what ptx() has returned.
  [[nodiscard]] isa::Module compile(const std::string& ptx, const ptx::CodeOptions& code,
                                    std::vector<std::string>* notes = nullptr,
                                    const std::atomic<bool>* interrupted = nullptr) const;

  // The files that it names as input: kernel, contents of buffers, expected outputs.
  struct InputFile {
    std::string what;  // "the kernel file"
    std::string path;
  };
  [[nodiscard]] std::vector<InputFile> inputs() const;
  // What the compiler would read besides: the headers of a CUDA file. Asks the compiler, which takes a moment.
  [[nodiscard]] std::vector<std::string> includes() const;
  // The output files that run() writes, below the output directory.
  [[nodiscard]] std::vector<std::string> output_files() const;

  // Threads of the largest launch. Where several sides of a grid are counted, an upper bound.
  [[nodiscard]] std::uint64_t threads() const;

  // Checks the launches against the kernels of executor.module() (entry names, argument count and sizes), allocates and
  // fills the buffers, runs the launches in order, compares the outputs that have `expect`, and, with a directory,
  // writes the outputs that have `file` into it (made when missing; each file appears whole or not at all).
  // `executor` has the module of compile() loaded. Throws InputError before the first launch when something does not
  // fit, SimulatedFault when the program faults or a loop does not end within its limit.
  // The buffers stay allocated.
  [[nodiscard]] Verdict run(Executor& executor, const std::optional<std::string>& output_directory) const;

 private:
  explicit LaunchFile(std::unique_ptr<launch::Description> description);
  [[nodiscard]] std::string ptx_name() const;  // of errors
  std::unique_ptr<launch::Description> description_;
};

}  // namespace heddle::tb
