#include "cuda/cudart/shared_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cuda/cudart/host_memory.hpp"

namespace heddle::cudart {

using cudart::Place;

namespace {

constexpr std::uint64_t kCall = 1U << 14U;  // a system call costs what copying so many bytes does, or more

}  // namespace

SharedMemory::~SharedMemory() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool SharedMemory::open(int descriptor, std::uint64_t bytes) {
  descriptor_ = descriptor;
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || static_cast<std::uint64_t>(facts.st_size) < bytes) return false;
  device_ = facts.st_dev;
  node_ = facts.st_ino;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED) return false;
  ::madvise(memory, bytes, MADV_DONTDUMP);
  memory_ = static_cast<std::byte*>(memory);
  bytes_ = bytes;
  copied_.assign((bytes + kPart - 1) / kPart, 0);
  return true;
}

// A program may close what it has not opened, and open something else by the same number.
bool SharedMemory::still_open() const {
  struct stat facts {};
  return ::fstat(descriptor_, &facts) == 0 && facts.st_dev == device_ && facts.st_ino == node_;
}

// `move(offset, bytes, x, y)` for each piece of each row that lies in one place: `x` bytes into row `y`.
template <class Move>
void SharedMemory::each_piece(const Rows& rows, Move move) {
  auto place = rows.places.begin();
  std::uint64_t before = 0;  // bytes of the places in front of it
  for (std::uint64_t y = 0; y < rows.height; ++y) {
    for (std::uint64_t x = 0; x < rows.width;) {
      const std::uint64_t at = y * rows.pitch + x;
      while (at - before >= place->bytes) {
        before += place->bytes;
        ++place;
      }
      const std::uint64_t inside = at - before;
      const std::uint64_t bytes = std::min(rows.width - x, place->bytes - inside);
      move(place->offset == cudart::kNowhere ? place->offset : place->offset + inside, bytes, x, y);
      x += bytes;
    }
  }
}

// A piece of the file by its parts: `move(offset, bytes, done, mapped)`, which says whether it has copied by a system
// call.
template <class Move>
void SharedMemory::each_part(std::uint64_t offset, std::uint64_t bytes, Move move) {
  for (std::uint64_t done = 0; done < bytes;) {
    const bool mapped = uses_mapping(offset + done);
    // As far as parts are alike, so that a large copy is one.
    std::uint64_t end = (offset + done) / kPart * kPart + kPart;
    while (end < offset + bytes && uses_mapping(end) == mapped) end += kPart;
    const std::uint64_t count = std::min(end, offset + bytes) - (offset + done);
    const bool was_copied = move(offset + done, count, done, mapped);
    for (std::uint64_t at = offset + done; was_copied && at < offset + done + count;) {
      const std::uint64_t next = std::min(at / kPart * kPart + kPart, offset + done + count);
      std::uint64_t& counted = copied_[at / kPart];
      counted += std::max(next - at, kCall);
#ifdef MADV_POPULATE_WRITE
      if (counted >= kTimes * kPart) {  // all at once, from the next copy on
        const std::uint64_t first = at / kPage * kPage;
        ::madvise(memory_ + first, next - first, MADV_POPULATE_WRITE);
      }
#endif
      at = next;
    }
    done += count;
  }
}

// What a system call does not copy goes by the mapping, if the program has memory there.
bool SharedMemory::write(const Rows& to, const std::byte* from, std::uint64_t pitch) {
  const bool open = still_open();
  bool there = true;
  each_piece(to, [&](std::uint64_t offset, std::uint64_t bytes, std::uint64_t x, std::uint64_t y) {
    const std::byte* const row = from + y * pitch + x;
    each_part(offset, bytes, [&](std::uint64_t at, std::uint64_t count, std::uint64_t done, bool mapped) {
      if (!there) return false;
      if (open && !mapped &&
          ::pwrite(descriptor_, row + done, count, static_cast<off_t>(at)) == static_cast<ssize_t>(count)) {
        return true;
      }
      there = can_read(row + done, count);
      if (there) std::memcpy(memory_ + at, row + done, count);
      return false;
    });
  });
  return there;
}

bool SharedMemory::read(const Rows& from, std::byte* to, std::uint64_t pitch) {
  const bool open = still_open();
  bool there = true;
  each_piece(from, [&](std::uint64_t offset, std::uint64_t bytes, std::uint64_t x, std::uint64_t y) {
    std::byte* const row = to + y * pitch + x;
    if (!there) return;
    if (offset == cudart::kNowhere) {
      there = can_write(row, bytes);
      if (there) std::memset(row, 0, bytes);
      return;
    }
    each_part(offset, bytes, [&](std::uint64_t at, std::uint64_t count, std::uint64_t done, bool mapped) {
      if (!there) return false;
      if (open && !mapped &&
          ::pread(descriptor_, row + done, count, static_cast<off_t>(at)) == static_cast<ssize_t>(count)) {
        return true;
      }
      there = can_write(row + done, count);
      if (there) std::memcpy(row + done, memory_ + at, count);
      return false;
    });
  });
  return there;
}

}  // namespace heddle::cudart
