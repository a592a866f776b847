#include "os/files/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "os/files/noted_files.hpp"

namespace heddle::os {

FileLock::FileLock(const std::string& path, const std::string& what, const std::string& busy, const std::string& hint)
    : path_(path) {
  for (;;) {
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file_ < 0 && errno != ELOOP) {
      throw InputError({path}, fmt::format("cannot be written: {}", std::strerror(errno)));
    }
    struct stat opened {};
    if (file_ < 0 || (::fstat(file_, &opened) == 0 && !S_ISREG(opened.st_mode))) {
      if (file_ >= 0) {
        ::close(file_);
      }
      throw InputError({path},
                       fmt::format("is no file but a {}, and a lock is not put behind it",
                                   file_ < 0 ? "symbolic link" : "pipe or device"),
                       "remove it");
    }
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(file_);
      throw InputError({what}, busy, hint);
    }
    // Whoever had it may have removed it between the two calls: a lock on a removed file would keep no process out.
    struct stat named {};
    if (::fstat(file_, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
        opened.st_dev == named.st_dev) {
      note_file(path_);
      return;
    }
    ::close(file_);
  }
}

FileLock::~FileLock() {
  ::unlink(path_.c_str());
  forget_file(path_);
  ::close(file_);
}

FolderLock::FolderLock(const std::string& folder, const std::string& who)
    : FileLock((std::filesystem::path(folder) / ".heddle.lock").string(), folder, who + " is writing to this folder",
               "wait for it, or name another folder") {}

}  // namespace heddle::os
