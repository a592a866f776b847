#include "tb/measure/waves/fst_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace heddle::tb {

FstOutput::FstOutput(const std::string& path) : target_(path), file_(target_.open()) {}

FstOutput::~FstOutput() {
  if (file_.open()) {
    file_.close();
    target_.discard();
  }
}

void FstOutput::write(std::string_view bytes) {
  if (target_.straight()) {
    kept_ += bytes;
  } else if (!os::write_all(file_.number(), bytes)) {
    target_.refuse(errno);
  }
}

void FstOutput::write_at_begin(std::string_view bytes) {
  if (target_.straight()) {
    kept_.replace(0, bytes.size(), bytes);
    return;
  }
  if (::lseek(file_.number(), 0, SEEK_SET) != 0 || !os::write_all(file_.number(), bytes) ||
      ::lseek(file_.number(), 0, SEEK_END) < 0) {
    target_.refuse(errno);
  }
}

void FstOutput::commit() {
  if (!os::write_all(file_.number(), kept_)) {
    target_.refuse(errno);
  }
  // Locked until it has its name: unlocked it might be cleared away.
  const os::Descriptor lock(::fcntl(file_.number(), F_DUPFD_CLOEXEC, 0));
  file_.close();
  target_.replace();
}

}  // namespace heddle::tb
