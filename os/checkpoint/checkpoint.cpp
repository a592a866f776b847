#include "os/checkpoint/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "os/checkpoint/image.hpp"
#include "os/checkpoint/open_files.hpp"
#include "os/checkpoint/process_state.hpp"
#include "os/checkpoint/restore.hpp"
#include "os/checkpoint/supported.hpp"
#include "os/checkpoint/writer.hpp"
#include "os/files/noted_files.hpp"
#include "os/files/output_file.hpp"
#include "os/files/temporary_name.hpp"

namespace heddle::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOption = "--checkpoint";

// What the path leads to. Throws InputError where that cannot be replaced, and for builds without checkpoints.
std::string target_of(const std::string& path) {
  if (const auto reason = unsupported()) {
    throw InputError({kOption}, *reason);
  }
  const os::OutputTarget target(path);
  if (target.straight()) {
    throw InputError({kOption}, fmt::format("'{}' is no regular file, which the next checkpoint could replace", path));
  }
  target.check();
  return fs::absolute(os::behind_links(path)).lexically_normal().string();
}

// Beside the file, hidden.
std::string lock_of(const std::string& path) {
  const fs::path file(path);
  return (file.parent_path() / ("." + file.filename().string() + ".lock")).string();
}

// A thread that has ended and been joined may be listed for a moment.
void check_alone() {
  constexpr int kTries = 1000;
  constexpr unsigned kWaitMicroseconds = 1000;
  const auto threads = [] {
    std::error_code error;
    return std::distance(fs::directory_iterator("/proc/self/task", error), fs::directory_iterator());
  };
  for (int tries = 0; threads() != 1; ++tries) {
    if (tries == kTries) {
      throw InternalError("a checkpoint is to be taken while several threads are at work");
    }
    ::usleep(kWaitMicroseconds);
  }
  siginfo_t child{};
  if (::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0) {
    throw InputError({kOption}, "the run has another program at work, which a process that is resumed would not have");
  }
}

// What call_resumable() calls.
struct Job {
  ImageWriter& writer;
  int file;
  const std::string& notes;
  Registers& registers;
  int error = 0;
};

void write_image(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  job.error = job.writer.write(job.file, job.notes, job.registers);
}

std::string reason_of(int error) {
  return error == ImageWriter::kStrange ? "a mapping has changed meanwhile" : std::strerror(error);
}

// The name lasts when its folder is on the disk, too.
void sync_folder(const std::string& file) {
  const os::Descriptor folder(::open(fs::path(file).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) {
    ::fsync(folder.number());
  }
}

}  // namespace

std::optional<std::string> unsupported() {
#if HEDDLE_CHECKPOINT
  return std::nullopt;
#elif HEDDLE_CHECKPOINT_SANITIZED
  return "a build with sanitizers takes no checkpoints: their memory cannot be moved to another process";
#else
  return "checkpoints are for Linux on x86-64 with the GNU C library";
#endif
}

Checkpoint::Checkpoint(const std::string& path)
    : inherited_(open_descriptors()),
      path_(target_of(path)),
      lock_(lock_of(path_), path, "another run writes this checkpoint", "wait for it, or name another file") {
  os::keep_temporary_names(path_);
}

void Checkpoint::check() const {
  check_alone();
  static_cast<void>(open_files(inherited_));
}

Checkpoint::Result Checkpoint::take() {
  try {
    return attempt();
  } catch (const InputError& error) {
    failure_ = error.what();
  } catch (const fs::filesystem_error& error) {
    failure_ = error.what();
  }
  return Result::failed;
}

Checkpoint::Result Checkpoint::attempt() {
  check_alone();
  Notes notes;
  notes.folder = fs::current_path().string();
  notes.open = open_files(inherited_);
  ImageWriter writer;
  const std::string mappings = mappings_text();
  identify(mappings_of(mappings), notes);
  notes.mapped = mapped_.of(mappings_of(mappings));
  const std::string described = bytes_of(notes);
  const std::string temporary = os::temporary_of_process(path_);
  os::clear_left_over(fs::path(path_).parent_path().string());
  const int file = os::create_locked(temporary, 0600);  // it holds the environment, and whatever else is in memory
  if (file < 0) {
    throw InputError({path_}, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  std::fflush(nullptr);
  const ProcessState state;
  Registers registers;
  registers.thread = state.thread();
  Job job{writer, file, described, registers};
  if (const auto* const arrival = static_cast<const Arrival*>(call_resumable(write_image, &job, &registers))) {
    state.apply();
    ::munmap(reinterpret_cast<void*>(arrival->begin), arrival->bytes);
    inherited_ = open_descriptors();
    for (const OpenFile& own : notes.open) {
      inherited_.erase(static_cast<int>(own.number));
    }
    state.release();
    os::forget_file(temporary);
    os::forget_cleared_folders();
    os::clear_left_over(fs::path(path_).parent_path().string());  // such as the next image, half written
    return Result::resumed;
  }
  if (job.error == 0 && ::fsync(file) != 0) {
    job.error = errno;
  }
  if (job.error == 0 && std::rename(temporary.c_str(), path_.c_str()) != 0) {
    job.error = errno;
  }
  if (job.error != 0) {
    ::unlink(temporary.c_str());
  }
  os::forget_file(temporary);
  ::close(file);
  state.release();
  if (job.error != 0) {
    throw InputError({path_}, fmt::format("cannot be written: {}", reason_of(job.error)));
  }
  sync_folder(path_);
  bytes_ = writer.bytes();
  return Result::written;
}

void resume(const std::string& path) {
  if (const auto reason = unsupported()) {
    throw InputError({"--resume"}, *reason);
  }
  const Image image(path);
  Notes here;
  const std::string mappings = mappings_text();
  identify(mappings_of(mappings), here);
  here.mapped = {identified(here.program)};
  if (const auto reason = difference(image.notes(), here)) {
    throw InputError({path}, "the checkpoint cannot be resumed here: " + *reason);
  }
  ReopenedFiles files(image.notes().open);
  Restoration restoration(image);
  if (::chdir(image.notes().folder.c_str()) != 0) {
    throw InputError({image.notes().folder},
                     fmt::format("the checkpoint's run worked in this folder: {}", std::strerror(errno)));
  }
  std::fflush(nullptr);
  files.set_up();
  const ProcessState blocked;
  if (!leave_restartable_sequences()) {
    throw InternalError("the system does not let go of this process's restartable sequences");
  }
  restoration.go();
}

}  // namespace heddle::checkpoint
