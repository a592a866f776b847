// Checkpoints of a run: an image of the whole process, taken between two cycles, from which another process of the same
// program goes on as if nothing had happened. Every module and every mechanism is in it without knowing of it.
//
// One thread, no children; open files are regular ones. What a process that goes on has from its own start: standard
// input, output and error, its parent, its limits. What it has from the image: memory, signals' actions, open files,
// environment and working directory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "os/checkpoint/identity.hpp"
#include "os/files/file_lock.hpp"

namespace heddle::checkpoint {

// Why this build, on this system, has no checkpoints; none: it has.
[[nodiscard]] std::optional<std::string> unsupported();

class Checkpoint {
 public:
  // The file that each image takes the place of. Descriptors that are open by now are the parent's, and not in the
  // image. From now on the names of files that are being written (OutputFile) stay the same from process to process.
  // Throws InputError where the file cannot be written or another run has it.
  explicit Checkpoint(const std::string& path);

  // Throws InputError where the process has open what an image cannot have.
  void check() const;

  enum class Result {
    written,
    failed,   // the earlier image is still there; failure() says why
    resumed,  // this is another process than the one that has called: the image's
  };
  // By a process of one thread. Throws nothing that a full disk or a removed file could cause.
  [[nodiscard]] Result take();
  [[nodiscard]] const std::string& failure() const { return failure_; }
  // Of the latest image.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] Result attempt();

  std::set<int> inherited_;
  std::string path_;
  os::FileLock lock_;
  MappedFiles mapped_;
  std::string failure_;
  std::uint64_t bytes_ = 0;
};

// Goes on from the image in `path`, in the take() that made it. Throws InputError, with nothing changed, where that
// cannot be.
[[noreturn]] void resume(const std::string& path);

}  // namespace heddle::checkpoint
