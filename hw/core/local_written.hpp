// Which bytes of its local memory each resident thread has written. A thread's local memory reads as zero until it is
// written, as its registers and its block's scratchpad do, whatever the thread that had its place before left in
// memory; so results do not depend on which block runs where.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::hw {

class LocalWritten {
 public:
  explicit LocalWritten(unsigned threads) : threads_(threads) {}

  // The threads [first, first + count) of the core start anew, with `bytes` of local memory each. All resident threads
  // have equally many.
  void start(unsigned first, unsigned count, std::uint32_t bytes) {
    const std::size_t words = (std::size_t{bytes} + 63) / 64;
    if (words != words_) {
      words_ = words;
      written_.assign(words_ * threads_, 0);
    }
    std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(words_ * first), words_ * count, 0);
  }
  // `bytes` at `offset`, a multiple of `bytes`, which is a power of two up to 64.
  void write(unsigned thread, std::uint64_t offset, unsigned bytes) { word(thread, offset) |= mask(offset, bytes); }
  // Zeroes what was not written in a copy of the bytes at `offset`.
  void blank(unsigned thread, std::uint64_t offset, std::span<std::byte> copy) {
    const std::uint64_t all = mask(offset, static_cast<unsigned>(copy.size()));
    for (std::uint64_t left = all & ~word(thread, offset); left != 0; left &= left - 1) {
      copy[static_cast<unsigned>(std::countr_zero(left)) - offset % 64] = std::byte{0};
    }
  }

 private:
  [[nodiscard]] std::uint64_t& word(unsigned thread, std::uint64_t offset) {
    return written_[words_ * thread + offset / 64];
  }
  [[nodiscard]] static std::uint64_t mask(std::uint64_t offset, unsigned bytes) {
    return (~std::uint64_t{0} >> (64 - bytes)) << (offset % 64);
  }

  std::size_t threads_;
  std::size_t words_ = 0;               // per thread
  std::vector<std::uint64_t> written_;  // a bit per byte, thread after thread
};

}  // namespace heddle::hw
