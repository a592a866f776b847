#include "os/checkpoint/open_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "os/checkpoint/digest.hpp"
#include "os/files/temporary_name.hpp"

namespace heddle::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMostDigested = std::uint64_t{1} << 20;
constexpr unsigned kMemoryDevices = 1;  // /dev/null, /dev/zero and their like

bool writes(const OpenFile& file) {
  return (file.flags & O_ACCMODE) != O_RDONLY;
}

// Where the bytes begin of which the digest is.
std::uint64_t digest_from(const OpenFile& file) {
  return writes(file) ? file.position - file.digest_bytes : 0;
}

// False: the file is shorter, or cannot be read.
bool digest_of(const std::string& path, std::uint64_t from, std::uint64_t bytes, std::uint64_t& value) {
  const os::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Digest digest;
  std::array<char, 1 << 14> buffer;
  while (file.open() && bytes != 0) {
    const ssize_t count =
        ::pread(file.number(), buffer.data(), std::min<std::uint64_t>(buffer.size(), bytes), static_cast<off_t>(from));
    if (count <= 0) {
      return false;
    }
    digest.add(buffer.data(), static_cast<std::size_t>(count));
    from += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::uint64_t>(count);
  }
  value = digest.value();
  return file.open();
}

[[noreturn]] void refuse_kind(int number, const std::string& path, const char* kind) {
  throw InputError(
      {"--checkpoint"},
      fmt::format("the run has {} open, {} '{}', which a process that is resumed would not have", number, kind, path),
      "let it write a regular file");
}

const char* kind_of(mode_t mode) {
  return S_ISFIFO(mode)   ? "the pipe"
         : S_ISSOCK(mode) ? "the socket"
         : S_ISCHR(mode)  ? "the device"
         : S_ISDIR(mode)  ? "the folder"
                          : "what is no file,";
}

// Lines "flags:" and a tab and the flags in octal, "lock:" and a tab and "1: FLOCK  ADVISORY  WRITE ...".
void read_flags(OpenFile& file) {
  const os::Descriptor info(::open(fmt::format("/proc/self/fdinfo/{}", file.number).c_str(), O_RDONLY | O_CLOEXEC));
  const std::string text = info.open() ? os::read_all(info.number()) : std::string();
  const std::size_t at = text.find("flags:\t");
  if (at == std::string::npos) {
    throw InternalError(fmt::format("the flags of descriptor {} cannot be found", file.number));
  }
  std::from_chars(text.data() + at + 7, text.data() + text.size(), file.flags, 8);
  file.locked = text.find("FLOCK") != std::string::npos ? 1 : 0;
}

OpenFile described(int number) {
  OpenFile file;
  file.number = static_cast<std::uint64_t>(number);
  std::error_code error;
  file.path = fs::read_symlink(fmt::format("/proc/self/fd/{}", number), error).string();
  struct stat found {};
  if (::fstat(number, &found) != 0) {
    throw InternalError(fmt::format("descriptor {} is closed", number));
  }
  const bool plain_device = S_ISCHR(found.st_mode) && major(found.st_rdev) == kMemoryDevices;
  if (!S_ISREG(found.st_mode) && !plain_device) {
    refuse_kind(number, file.path, kind_of(found.st_mode));
  }
  if (found.st_nlink == 0) {
    refuse_kind(number, file.path, "the removed file");
  }
  read_flags(file);
  if (plain_device) {
    return file;
  }
  file.bytes = static_cast<std::uint64_t>(found.st_size);
  file.position = static_cast<std::uint64_t>(::lseek(number, 0, SEEK_CUR));
  file.digest_bytes = std::min(writes(file) ? std::min(file.position, file.bytes) : file.bytes, kMostDigested);
  if (!digest_of(file.path, digest_from(file), file.digest_bytes, file.digest)) {
    throw InputError({file.path}, "the run has this file open, and a resumed one could not read it");
  }
  if (writes(file)) {
    ::fdatasync(number);  // the checkpoint counts on it
  }
  return file;
}

// The name still leads to the file that is open: who had the lock may have removed it between the two calls.
bool is_named(const os::Descriptor& descriptor, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor.number(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// A run that has ended, after the checkpoint, has given its files their names: what was there at the checkpoint is
// their beginning, of which the part to go on with is made anew.
void recover(const OpenFile& file) {
  const std::optional<std::string> target = os::target_of_kept(file.path);
  std::uint64_t digest = 0;
  std::error_code error;
  if (writes(file) && target && !fs::exists(file.path, error) && fs::is_regular_file(*target, error) &&
      digest_of(*target, digest_from(file), file.digest_bytes, digest) && digest == file.digest) {
    // Not behind a link that has the name: an empty file first, of this process's own making.
    const os::Descriptor made(::open(file.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (made.open()) {
      fs::copy_file(*target, file.path, fs::copy_options::overwrite_existing, error);
    }
  }
}

os::Descriptor reopened(const OpenFile& file) {
  recover(file);
  const auto refuse = [&](const std::string& what) {
    throw InputError({file.path}, "the checkpoint's run had this file open, and " + what);
  };
  // An empty one (a lock) may have been cleared away since.
  const bool may_be_new = writes(file) && file.bytes == 0;
  const int dropped = O_CREAT | O_EXCL | O_TRUNC;
  const int flags = (static_cast<int>(file.flags) & ~dropped) | O_CLOEXEC | O_NOFOLLOW | (may_be_new ? O_CREAT : 0);
  os::Descriptor descriptor(::open(file.path.c_str(), flags, 0666));
  if (!descriptor.open()) {
    refuse(fmt::format("it cannot be opened: {}", std::strerror(errno)));
  }
  if (file.locked != 0 && (::flock(descriptor.number(), LOCK_EX | LOCK_NB) != 0 || !is_named(descriptor, file.path))) {
    refuse("another process has it now");
  }
  struct stat found {};
  ::fstat(descriptor.number(), &found);
  const auto bytes = static_cast<std::uint64_t>(found.st_size);
  std::uint64_t digest = 0;
  if (!writes(file) && bytes != file.bytes) {
    refuse("it has changed since");
  }
  if (writes(file) && S_ISREG(found.st_mode) && bytes < file.bytes) {
    refuse(fmt::format("it has {} bytes now, of {} then", bytes, file.bytes));
  }
  if (file.digest_bytes != 0 &&
      (!digest_of(file.path, digest_from(file), file.digest_bytes, digest) || digest != file.digest)) {
    refuse("it has other contents now");
  }
  return descriptor;
}

}  // namespace

std::set<int> open_descriptors() {
  std::set<int> numbers = {0, 1, 2};
  std::set<int> listed;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd")) {
    listed.insert(std::stoi(entry.path().filename().string()));
  }
  for (const int number : listed) {  // not that of the folder itself, which is closed again
    if (::fcntl(number, F_GETFD) >= 0) {
      numbers.insert(number);
    }
  }
  return numbers;
}

std::vector<OpenFile> open_files(const std::set<int>& others) {
  std::vector<OpenFile> files;
  for (const int number : open_descriptors()) {
    if (others.find(number) == others.end()) {
      files.push_back(described(number));
    }
  }
  return files;
}

ReopenedFiles::ReopenedFiles(const std::vector<OpenFile>& files) {
  int behind = 3;  // all numbers that are wanted
  for (const OpenFile& file : files) {
    behind = std::max(behind, static_cast<int>(file.number) + 1);
  }
  for (const OpenFile& file : files) {
    const os::Descriptor opened = reopened(file);
    os::Descriptor descriptor(::fcntl(opened.number(), F_DUPFD_CLOEXEC, behind));
    if (!descriptor.open()) {
      throw InputError({file.path}, fmt::format("cannot be opened: {}", std::strerror(errno)));
    }
    files_.push_back({file, std::move(descriptor)});
  }
}

void ReopenedFiles::set_up() {
  for (Reopened& one : files_) {
    const auto number = static_cast<int>(one.file.number);
    if (::dup3(one.descriptor.number(), number, static_cast<int>(one.file.flags) & O_CLOEXEC) < 0) {
      throw InputError({one.file.path}, fmt::format("cannot be opened: {}", std::strerror(errno)));
    }
    one.descriptor.close();
    struct stat found {};
    if (::fstat(number, &found) == 0 && S_ISREG(found.st_mode)) {
      if (writes(one.file) && ::ftruncate(number, static_cast<off_t>(one.file.bytes)) != 0) {
        throw InputError({one.file.path}, fmt::format("cannot be cut: {}", std::strerror(errno)));
      }
      ::lseek(number, static_cast<off_t>(one.file.position), SEEK_SET);
    }
  }
}

}  // namespace heddle::checkpoint
