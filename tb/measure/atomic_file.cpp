#include "tb/measure/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace heddle::tb {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, int error) {
  throw InputError({path}, fmt::format("cannot be written: {}", std::strerror(error)));
}

fs::path temporary_beside(const fs::path& target) {
  return target.parent_path() / fmt::format(".{}.{}.tmp", target.filename().string(), ::getpid());
}

}  // namespace

void check_writable(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    refuse(path, EISDIR);
  }
  const fs::path temporary = temporary_beside(path);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    refuse(path, errno);
  }
  ::close(file);
  ::unlink(temporary.c_str());
}

void write_file(const std::string& path, std::string_view contents) {
  const fs::path target(path);
  const fs::path temporary = temporary_beside(target);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    refuse(path, errno);
  }
  int error = 0;
  while (!contents.empty() && error == 0) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written > 0) {
      contents.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      error = written == 0 ? ENOSPC : errno;
    }
  }
  if (::close(file) != 0 && error == 0) {
    error = errno;
  }
  if (error == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(temporary.c_str());
    refuse(path, error);
  }
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path, error)) {
    throw InputError({path}, "is no folder and cannot be made into one");
  }
}

}  // namespace heddle::tb
