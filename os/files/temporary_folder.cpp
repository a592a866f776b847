#include "os/files/temporary_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace heddle::os {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "heddle-tmp-";

int open_folder(const fs::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

// Removes the folders of this user's dead processes.
void clear_left_over_below(const fs::path& below) {
  std::error_code error;
  for (fs::directory_iterator it(below, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(kPrefix)) {
      continue;
    }
    const int folder = open_folder(it->path());
    if (folder < 0) {
      continue;
    }
    struct stat found {};
    if (::fstat(folder, &found) == 0 && found.st_uid == ::geteuid() && ::flock(folder, LOCK_EX | LOCK_NB) == 0) {
      std::error_code ignored;
      fs::remove_all(it->path(), ignored);
    }
    ::close(folder);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const auto refuse = [](const std::string& name, const std::string& why) {
    throw InputError({}, fmt::format("cannot make a temporary folder{}: {}", name, why),
                     "set TMPDIR to a folder that can be written to");
  };
  std::error_code error;
  const fs::path below = fs::temp_directory_path(error);
  if (error) {
    refuse("", error.message());
  }
  clear_left_over_below(below);
  for (;;) {
    std::string pattern = (below / kPrefix).string() + "XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      refuse(" '" + pattern + "'", std::strerror(errno));
    }
    path_ = pattern;
    lock_ = open_folder(path_);
    // Another process may have taken it for left over before it was locked: then it is gone, or about to be.
    if (lock_ < 0) {
      continue;
    }
    if (::flock(lock_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
      if (fs::is_directory(path_, error)) {
        return;
      }
    }
    ::close(lock_);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

fs::path TemporaryFolder::write(const fs::path& name, std::string_view text) const {
  fs::path path = path_ / name;
  std::error_code ignored;  // then the file cannot be written either
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw InputError({path.string()}, "cannot write a temporary file", "is the disk full?");
  }
  return path;
}

}  // namespace heddle::os
