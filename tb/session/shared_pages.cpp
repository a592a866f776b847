#include "tb/session/shared_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace heddle::tb::session {
namespace {

constexpr std::uint64_t kDevicePage = isa::DeviceMemory::kPageBytes;
static_assert(SharedPages::kBytes % kDevicePage == 0);

// A limit on the size of files would end this process by a signal.
bool may_be_so_large() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= SharedPages::kBytes);
}

}  // namespace

std::shared_ptr<SharedPages> SharedPages::make() {
  if (!may_be_so_large()) return nullptr;
  const int descriptor = ::memfd_create("heddle device memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return nullptr;
  // Sealed, so that no program can take pages away from under the simulator.
  if (::ftruncate(descriptor, static_cast<off_t>(kBytes)) == 0 &&
      ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (memory != MAP_FAILED) {
      return std::shared_ptr<SharedPages>(new SharedPages(descriptor, static_cast<std::byte*>(memory)));
    }
  }
  ::close(descriptor);
  return nullptr;
}

SharedPages::~SharedPages() {
  ::munmap(memory_, kBytes);
  ::close(descriptor_);
}

std::byte* SharedPages::page(std::uint64_t number) {
  if (!holds(number * kDevicePage, kDevicePage)) return nullptr;
  std::byte* const bytes = memory_ + number * kDevicePage;
#ifdef MADV_POPULATE_WRITE
  // All at once costs the system less than one by one at the first touch of each. Where it cannot, that is what
  // happens.
  static_cast<void>(::madvise(bytes, kDevicePage, MADV_POPULATE_WRITE));
#endif
  return bytes;
}

void SharedPages::drop(std::uint64_t first, std::uint64_t count) {
  if (first >= kBytes / kDevicePage) return;
  const std::uint64_t bytes = std::min(count, kBytes / kDevicePage - first) * kDevicePage;
  if (::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first * kDevicePage),
                  static_cast<off_t>(bytes)) != 0) {
    std::memset(memory_ + first * kDevicePage, 0, bytes);
  }
}

std::uint64_t SharedPages::resident_bytes() const {
  constexpr std::uint64_t kBlock = 512;  // as stat counts
  struct stat facts {};
  return ::fstat(descriptor_, &facts) == 0 ? static_cast<std::uint64_t>(facts.st_blocks) * kBlock : 0;
}

}  // namespace heddle::tb::session
