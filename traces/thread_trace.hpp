// What the threads of a kernel did, as far as it decides about timing: the outcomes of guards and the addresses of
// memory accesses (hw/state/replay.hpp has the same from the machine's side), and how a block of threads is packed.
//
// Which program counters a thread passes follows from the kernel's code and its guards, so they are not stored. What is
// stored of a block, thread after thread in the order of their ids:
//
//   difference  bits: more or fewer than the thread before has
//   bytes       the bits, eight a byte from bit 0 on, exclusive-or the bits of the thread before (0 beyond its end)
//   difference  per value, in the order in which the thread comes to them: what is left of it beyond its prediction
//
// The prediction, per instruction: the value that the thread before had when it came there as many times, plus by how
// much this thread was ahead of it the last time; without such a value, the thread's own last one plus its last step.
// Threads that do the same with other data leave zeros, which compress well. The first thread of a chunk is compared
// with nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/module.hpp"
#include "traces/bytes.hpp"

namespace heddle::traces {

// The places of a kernel at which a record has something to say.
class KernelEvents {
 public:
  // Of code that need not be good: a word that is no instruction is where threads end with an error.
  explicit KernelEvents(std::span<const isa::InstructionWord> words);

  struct Event {
    bool guarded = false;      // a bit: the guard
    bool accumulates = false;  // where the guard is true: a bit, the predicate
    bool value = false;        // where guard and predicate are true: a value
    bool exits = false;
    bool branches = false;
    std::uint32_t slot = 0;  // number of the value's instruction among instructions with values
    std::uint32_t taken = 0;
  };
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};  // past the end, or round and round

  // The first event at or after a PC, on the path without guards; kNowhere if there is none.
  [[nodiscard]] std::uint32_t first_from(std::uint32_t pc) const { return pc < next_.size() ? next_[pc] : kNowhere; }
  [[nodiscard]] const Event& at(std::uint32_t pc) const { return events_[pc]; }
  [[nodiscard]] std::uint32_t slots() const { return slots_; }

 private:
  std::vector<Event> events_;
  std::vector<std::uint32_t> next_;
  std::uint32_t slots_ = 0;
};

// What one thread did. `bits`: 64 a word, unused ones zero.
struct ThreadEvents {
  std::vector<std::uint64_t> bits;
  std::uint64_t bit_count = 0;
  std::vector<std::uint64_t> values;

  void clear() {
    bits.clear();
    bit_count = 0;
    values.clear();
  }
  void add_bit(bool bit) {
    if (bit_count % 64 == 0) {
      bits.push_back(0);
    }
    bits.back() |= std::uint64_t{bit} << (bit_count % 64);
    ++bit_count;
  }
  [[nodiscard]] bool bit(std::uint64_t index) const { return ((bits[index / 64] >> (index % 64)) & 1U) != 0; }
};

// Predicts values, for packing and unpacking alike. Threads are shown one after another.
class ValuePredictor {
 public:
  explicit ValuePredictor(std::uint32_t slots) : slots_(slots) {}
  void next_thread();
  [[nodiscard]] std::uint64_t predict(std::uint32_t slot) const;
  void saw(std::uint32_t slot, std::uint64_t value);

 private:
  struct Slot {
    std::vector<std::uint64_t> before;  // of the thread before
    std::vector<std::uint64_t> own;
    std::uint64_t ahead = 0;  // of the thread before, at the last value
  };
  std::vector<Slot> slots_;
};

class ThreadPacker {
 public:
  explicit ThreadPacker(const KernelEvents& events) : events_(events), predictor_(events.slots()) {}
  // Appends one thread. Throws InternalError when its events fit no path through the kernel.
  void pack(const ThreadEvents& thread, ByteWriter& out);

 private:
  const KernelEvents& events_;
  ValuePredictor predictor_;
  ThreadEvents before_;
};

class ThreadUnpacker {
 public:
  explicit ThreadUnpacker(const KernelEvents& events) : events_(events), predictor_(events.slots()) {}
  // Takes one thread from `in`. Throws Damaged.
  void unpack(ByteReader& in, ThreadEvents& thread);

 private:
  const KernelEvents& events_;
  ValuePredictor predictor_;
  std::vector<std::uint64_t> bits_before_;
  std::uint64_t count_before_ = 0;
};

}  // namespace heddle::traces
