// Threads that replay a record instead of computing: what a recorded program did where its values decide about timing.
// A thread's record is the outcome of every guard that it evaluates, in program order, and the address of every access
// to memory that its operands determine; everything else (which PC, which mask, which sub-warp, which cycle) follows
// from the machine that replays it. docs/traces.md says what that means on another machine than the one recorded.
//
// With a source, register values are neither read nor computed nor written, and accesses to memory take their time
// without meaningful data. Without one (a null pointer in the core's state) nothing of this is looked at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "isa/recorded.hpp"

namespace heddle::hw {

// What one thread does. Bits, from bit 0 of word 0 on: the value of each guard that is not "always", in the order of
// the instructions that the thread comes to (every branch with a condition, every predicated instruction); of a
// conditional accumulate, after its guard's, the predicate. Values: see isa::records_value.
struct ThreadRecord {
  const std::uint64_t* bits = nullptr;
  std::uint64_t bit_count = 0;
  const std::uint64_t* values = nullptr;
  std::uint64_t value_count = 0;
};

// Stands in a record for the address of a load from global memory that lay out of bounds and read 0 (core.load_trap): a
// replay knows no buffers. A multiple of every access's size, and no buffer's address.
inline constexpr std::uint64_t kStrayAddress = ~std::uint64_t{0} << 4U;

// Where the records come from. The grid dispatcher alone asks; a block's records go to its core with the block.
class ReplaySource {
 public:
  virtual ~ReplaySource() = default;
  // Of a block of the present launch by its linear index, one per thread; valid until finish_block. Throws InputError
  // where the record is damaged.
  [[nodiscard]] virtual std::span<const ThreadRecord> start_block(std::uint64_t block) = 0;
  virtual void finish_block(std::uint64_t block) = 0;
};

// How far the threads in a core's register rows have come.
class ReplayRows {
 public:
  struct Thread {
    ThreadRecord record;
    std::uint64_t bit = 0;
    std::uint64_t value = 0;
  };
  ReplayRows(unsigned rows, unsigned width) : width_(width), threads_(std::size_t{rows} * width) {}

  void start_row(unsigned row, std::span<const ThreadRecord> threads) {
    for (std::size_t lane = 0; lane < threads.size(); ++lane) {
      threads_[row * width_ + lane] = {threads[lane], 0, 0};
    }
  }
  // That of the thread in a place, for who moves it to another one.
  [[nodiscard]] Thread& thread(unsigned row, unsigned lane) { return threads_[row * width_ + lane]; }
  // The next bit of a thread, which stays the next one.
  [[nodiscard]] bool peek_bit(unsigned row, unsigned lane) const {
    const Thread& thread = threads_[row * width_ + lane];
    if (thread.bit >= thread.record.bit_count) {
      throw InternalError("a replayed thread comes to more guards than were recorded");
    }
    return ((thread.record.bits[thread.bit / 64] >> (thread.bit % 64)) & 1U) != 0;
  }
  bool take_bit(unsigned row, unsigned lane) {
    const bool bit = peek_bit(row, lane);
    ++threads_[row * width_ + lane].bit;
    return bit;
  }
  std::uint64_t take_value(unsigned row, unsigned lane) {
    Thread& thread = threads_[row * width_ + lane];
    if (thread.value >= thread.record.value_count) {
      throw InternalError("a replayed thread comes to more accesses than were recorded");
    }
    return thread.record.values[thread.value++];
  }

 private:
  unsigned width_;
  std::vector<Thread> threads_;
};

}  // namespace heddle::hw
