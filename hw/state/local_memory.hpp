// The local memory of some threads: where each one's lies, and which bytes it has written.
//
// A thread's local memory reads as zero until it is written, as its registers and its block's scratchpad do, whatever
// the thread that had it before left in memory; so results do not depend on which block runs where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/set_bits.hpp"

namespace heddle::hw {

// Where `offset` of the local memory with this number lies in its backing store. The local memories of a GPU are
// interleaved by words, so that threads with neighbouring numbers which access the same offset share lines.
[[nodiscard]] constexpr std::uint64_t local_address(std::uint64_t base, std::uint64_t memories, std::uint64_t number,
                                                    std::uint64_t offset) {
  return base + (offset / 4 * memories + number) * 4 + offset % 4;
}

class LocalWritten {
 public:
  // `threads` threads start anew, with `bytes` of local memory each.
  void start(unsigned threads, std::uint32_t bytes) {
    words_ = (std::size_t{bytes} + 63) / 64;
    written_.assign(words_ * threads, 0);
  }
  // `bytes` at `offset`, a multiple of `bytes`, which is a power of two up to 64.
  void write(unsigned thread, std::uint64_t offset, unsigned bytes) { word(thread, offset) |= mask(offset, bytes); }
  // Zeroes what was not written in a copy of the bytes at `offset`.
  void blank(unsigned thread, std::uint64_t offset, std::span<std::byte> copy) {
    const std::uint64_t all = mask(offset, static_cast<unsigned>(copy.size()));
    for (const unsigned bit : set_bits(all & ~word(thread, offset))) {
      copy[bit - offset % 64] = std::byte{0};
    }
  }

 private:
  [[nodiscard]] std::uint64_t& word(unsigned thread, std::uint64_t offset) {
    return written_[words_ * thread + offset / 64];
  }
  [[nodiscard]] static std::uint64_t mask(std::uint64_t offset, unsigned bytes) {
    return (~std::uint64_t{0} >> (64 - bytes)) << (offset % 64);
  }

  std::size_t words_ = 0;               // per thread
  std::vector<std::uint64_t> written_;  // a bit per byte, thread after thread
};

}  // namespace heddle::hw
