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

// Where the local memories of a GPU lie in their backing store: interleaved by words, so that threads with neighbouring
// numbers which access the same offset share lines; or each in a frame of its own, as the stacks of a host's threads.
struct LocalPlaces {
  std::uint64_t base = 0;
  std::uint64_t memories = 0;     // how many there are
  std::uint64_t frame_bytes = 0;  // from one frame to the next; 0: interleaved

  // `frame_bytes` (private.frame_bytes) or the multiple of it that holds `bytes` of each thread.
  [[nodiscard]] static constexpr std::uint64_t frame_of(std::uint64_t frame_bytes, std::uint64_t bytes) {
    return frame_bytes == 0 ? 0 : (bytes + frame_bytes - 1) / frame_bytes * frame_bytes;
  }
  // Of `offset` in the local memory with this number.
  [[nodiscard]] constexpr std::uint64_t address(std::uint64_t number, std::uint64_t offset) const {
    return base +
           (frame_bytes != 0 ? number * frame_bytes + offset : (offset / 4 * memories + number) * 4 + offset % 4);
  }
};

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
