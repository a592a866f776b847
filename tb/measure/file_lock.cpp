#include "tb/measure/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.hpp"

namespace heddle::tb {

FileLock::FileLock(const std::string& path, const std::string& what, const std::string& busy, const std::string& hint)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_ < 0) {
    throw InputError({path}, "cannot be written");
  }
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    throw InputError({what}, busy, hint);
  }
}

FileLock::~FileLock() {
  ::close(file_);
}

}  // namespace heddle::tb
