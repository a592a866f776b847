#include "os/files/temporary_name.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string_view>
#include <system_error>

#include "os/files/noted_files.hpp"

namespace heddle::os {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestName = 255;  // bytes; NAME_MAX of the usual file systems
constexpr std::size_t kRoom = 56;  // for dots, a process's number, the random part, the ending, what converters append
constexpr std::size_t kLongestStem = kLongestName - kRoom;
constexpr std::string_view kKept = ".heddle.part";
constexpr std::size_t kKeyDigits = 16;
constexpr int kTries = 100;
constexpr unsigned kWaitMicroseconds = 1000;

// Of the temporary files of this host.
const std::string& host_ending() {
  static const std::string text = [] {
    std::array<char, 256> name{};
    const bool known = ::gethostname(name.data(), name.size() - 1) == 0;
    const std::size_t digest = std::hash<std::string>()(known ? name.data() : "");
    return fmt::format("-{:08x}.heddle.tmp", static_cast<std::uint32_t>(digest));
  }();
  return text;
}

// Differs from call to call and cannot be foretold, so that no other program can have put anything in the name's place.
std::uint64_t random_part() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof value, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof value)) {
    value = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
  return value;
}

// The descriptor's file is the one that has this name.
bool is_named(int file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

// In the target's folder, hidden.
std::string beside(const std::string& target, const std::string& ending) {
  const fs::path path(target);
  std::string name = path.filename().string();
  if (name.size() > kLongestStem) {
    const std::string digest = fmt::format("-{:016x}", std::hash<std::string>()(name));  // others may begin like it
    name = name.substr(0, kLongestStem - digest.size()) + digest;
  }
  return (path.parent_path() / fmt::format(".{}.{}", name, ending)).string();
}

// What an ended process has left under a kept name, to be taken up. A link, or a file of another user, is not.
int open_kept(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat found {};
  if (file < 0 ||
      (::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink <= 1 && found.st_uid == ::geteuid())) {
    return file;
  }
  ::close(file);
  errno = EEXIST;
  return -1;
}

// Of names that are kept; empty: they are the process's.
std::string& kept_ending() {
  static std::string ending;
  return ending;
}

std::set<std::string>& cleared_folders() {
  static std::set<std::string> folders;
  return folders;
}

}  // namespace

std::string temporary_of_process(const std::string& target) {
  return beside(target, fmt::format("{}-{:016x}{}", ::getpid(), random_part(), host_ending()));
}

std::string temporary_beside(const std::string& target) {
  return kept_ending().empty() ? temporary_of_process(target) : beside(target, kept_ending());
}

void keep_temporary_names(const std::string& key) {
  kept_ending() = fmt::format("{:0{}x}{}", std::hash<std::string>()(key), kKeyDigits, kKept);
}

std::optional<std::string> target_of_kept(const std::string& temporary) {
  const fs::path path(temporary);
  const std::string name = path.filename().string();
  const std::size_t around = 2 + kKeyDigits + kKept.size();  // a dot in front and one before the key
  if (!name.starts_with(".") || !name.ends_with(kKept) || name.size() <= around ||
      name.size() - around >= kLongestStem) {
    return std::nullopt;
  }
  return (path.parent_path() / name.substr(1, name.size() - around)).string();
}

int create_locked(const std::string& path, unsigned mode) {
  for (;;) {
    int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    const bool was_there = file < 0 && errno == EEXIST && path.ends_with(kKept);
    if (was_there) {
      file = open_kept(path);
    }
    if (file < 0) {
      return -1;
    }
    // Another process may look whether it is left over, in a moment, and may have removed it before it was locked.
    for (int tries = 0; ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && tries < kTries; ++tries) {
      ::usleep(kWaitMicroseconds);
    }
    if (is_named(file, path)) {
      // A new file is left alone: ext4 writes one that has been truncated to the disk while it is closed.
      if (!was_there || ::ftruncate(file, 0) == 0) {
        if (!path.ends_with(kKept)) {  // which another process is to find
          note_file(path);
        }
        return file;
      }
      const int error = errno;
      ::close(file);
      errno = error;
      return -1;
    }
    ::close(file);
  }
}

void forget_cleared_folders() {
  cleared_folders().clear();
}

void clear_left_over(const std::string& folder) {
  const std::string where = folder.empty() ? "." : folder;
  if (!cleared_folders().insert(where).second) {
    return;
  }
  std::error_code error;
  for (fs::directory_iterator it(where, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(".") || !name.ends_with(host_ending())) {
      continue;
    }
    const std::string path = it->path().string();
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
      continue;
    }
    if (::flock(file, LOCK_EX | LOCK_NB) == 0 && is_named(file, path)) {
      ::unlink(path.c_str());
      ::unlink((path + ".hier").c_str());  // which vcd2fst has beside what it writes
    }
    ::close(file);
  }
}

}  // namespace heddle::os
