#include "os/files/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <utility>

#include "base/error.hpp"
#include "os/files/noted_files.hpp"
#include "os/files/temporary_name.hpp"

namespace heddle::os {

namespace fs = std::filesystem;

namespace {

constexpr int kMostLinks = 40;  // one behind the other, as the system itself follows them

// The descriptor of this process that a name in /proc/self/fd means, or in /dev/fd, which leads there.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code error;
  const fs::path descriptors = fs::canonical("/proc/self/fd", error);
  if (error || fs::canonical(path.parent_path(), error) != descriptors) {
    return std::nullopt;
  }
  const std::string name = path.filename().string();
  int number = -1;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  return failure == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

fs::path behind_links(fs::path path) {
  std::error_code error;
  for (int links = 0; links < kMostLinks && fs::is_symlink(path, error) && !own_descriptor(path); ++links) {
    path = path.parent_path() / fs::read_symlink(path, error);  // an absolute path replaces the folder
  }
  return path;
}

OutputTarget::OutputTarget(const std::string& path)
    : name_(path), file_(behind_links(path).string()), descriptor_(own_descriptor(file_)) {
  if (descriptor_) {
    const int flags = ::fcntl(*descriptor_, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
      refuse(EBADF);
    }
    straight_ = true;
    return;
  }
  struct stat found {};
  if (::stat(file_.c_str(), &found) != 0) {
    if (errno != ENOENT || path.empty()) {
      refuse(errno);
    }
    temporary_ = temporary_beside(file_);
    return;
  }
  if (S_ISDIR(found.st_mode)) {
    refuse(EISDIR);
  }
  straight_ = !S_ISREG(found.st_mode);
  if (!straight_) {
    temporary_ = temporary_beside(file_);
  }
}

void OutputTarget::check() const {
  if (!straight_) {
    ::close(open());
    discard();
  } else if (!descriptor_ && ::access(file_.c_str(), W_OK) != 0) {  // opening a pipe would wait for its reader
    refuse(errno);
  }
}

int OutputTarget::open() const {
  int file = -1;
  if (descriptor_) {
    std::cout.flush();  // what was printed there before comes before
    file = ::fcntl(*descriptor_, F_DUPFD_CLOEXEC, 0);
  } else if (straight_) {
    file = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    clear_left_over(fs::path(file_).parent_path().string());
    file = create_locked(temporary_);
    if (file < 0 && (errno == EEXIST || errno == ELOOP)) {
      throw InputError({name_},
                       fmt::format("cannot be written: '{}', its temporary file, is there already and is not this "
                                   "user's own file",
                                   temporary_),
                       "remove it");
    }
  }
  if (file < 0) {
    refuse(errno);
  }
  if (straight_) {
    ::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an error of write(), not of this process
  }
  return file;
}

void OutputTarget::replace() const {
  if (!straight_ && std::rename(temporary_.c_str(), file_.c_str()) != 0) {
    const int error = errno;
    discard();
    refuse(error);
  }
  forget_file(temporary_);
}

void OutputTarget::discard() const {
  if (!straight_) {
    ::unlink(temporary_.c_str());
    forget_file(temporary_);
  }
}

void OutputTarget::refuse(int error) const {
  throw InputError({name_}, fmt::format("cannot be written: {}", std::strerror(error)));
}

OutputFile::OutputFile(const std::string& path, Form form) : target_(path), form_(form) {
  if (form != Form::plain) {
    compressed_ = std::make_unique<GzipBlocks>([this](std::string_view bytes) { write_plain(bytes); });
  }
  file_ = target_.open();
}

OutputFile::~OutputFile() {
  if (file_ >= 0) {
    ::close(file_);
    target_.discard();
  }
}

void OutputFile::write_plain(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written == 0 || errno != EINTR) {
      target_.refuse(written == 0 ? ENOSPC : errno);
    }
  }
}

void OutputFile::write(std::string_view bytes) {
  if (compressed_ == nullptr) {
    write_plain(bytes);
  } else {
    compressed_->write(bytes);
  }
}

void OutputFile::take_lines(Text& text) {
  if (wants_lines()) {
    compressed_->take_lines(text);
  } else {
    write({text.bytes.data(), text.size});
    text.size = 0;
    text.lines_count = 0;
  }
}

void OutputFile::commit() {
  if (compressed_ != nullptr) {
    compressed_->finish();
  }
  const int file = std::exchange(file_, -1);
  // Locked until it has its name: unlocked it might be cleared away.
  const struct Lock {
    int file;
    ~Lock() { ::close(file); }
  } lock{::fcntl(file, F_DUPFD_CLOEXEC, 0)};
  if (::close(file) != 0) {
    const int error = errno;
    target_.discard();
    target_.refuse(error);
  }
  target_.replace();
}

}  // namespace heddle::os
