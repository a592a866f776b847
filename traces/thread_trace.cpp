#include "traces/thread_trace.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "isa/recorded.hpp"

namespace heddle::traces {

namespace {

// Goes along the path that a thread takes. bit() and value(slot) say or learn what it does; both may throw. Returns
// false where the path leads nowhere.
template <class Bit, class Value>
bool walk(const KernelEvents& events, Bit bit, Value value) {
  std::uint32_t pc = events.first_from(0);
  while (pc != KernelEvents::kNowhere) {
    const KernelEvents::Event& event = events.at(pc);
    const bool on = !event.guarded || bit();
    if (on && event.exits) {
      return true;
    }
    if (on && event.value && (!event.accumulates || bit())) {
      value(event.slot);
    }
    pc = events.first_from(on && event.branches ? event.taken : pc + 1);
  }
  return false;
}

std::uint64_t word_at(const std::vector<std::uint64_t>& words, std::size_t index) {
  return index < words.size() ? words[index] : 0;
}

}  // namespace

KernelEvents::KernelEvents(std::span<const isa::InstructionWord> words)
    : events_(words.size()), next_(words.size(), kNowhere) {
  const auto size = static_cast<std::uint32_t>(words.size());
  std::vector<std::uint32_t> goes_to(size, kNowhere);  // of a place without an event
  for (std::uint32_t pc = 0; pc < size; ++pc) {
    const std::optional<isa::Instruction> instruction = isa::decode(words[pc]);
    if (!instruction) {
      continue;
    }
    Event& event = events_[pc];
    event.guarded = !instruction->guard.always();
    event.value = isa::records_value(*instruction);
    event.accumulates = isa::is_accumulate(instruction->op);
    event.exits = instruction->op == isa::Op::EXIT;
    event.branches = instruction->op == isa::Op::BRA;
    event.taken = instruction->target;
    if (event.value) {
      event.slot = slots_++;
    }
    if (event.guarded || event.value || event.exits) {
      next_[pc] = pc;
    } else {
      goes_to[pc] = event.branches ? event.taken : pc + 1;
    }
  }
  // Each place without an event leads where its successor leads. A path that comes back to itself leads nowhere.
  std::vector<bool> seen(size, false);
  std::vector<std::uint32_t> path;
  for (std::uint32_t start = 0; start < size; ++start) {
    std::uint32_t pc = start;
    path.clear();
    while (pc < size && !seen[pc] && next_[pc] == kNowhere) {
      seen[pc] = true;
      path.push_back(pc);
      pc = goes_to[pc];
    }
    const std::uint32_t found = pc < size ? next_[pc] : kNowhere;
    for (const std::uint32_t passed : path) {
      next_[passed] = found;
    }
  }
}

void ValuePredictor::next_thread() {
  for (Slot& slot : slots_) {
    std::swap(slot.before, slot.own);
    slot.own.clear();
  }
}

std::uint64_t ValuePredictor::predict(std::uint32_t slot) const {
  const Slot& of = slots_[slot];
  const std::size_t index = of.own.size();
  if (index < of.before.size()) {
    return of.before[index] + of.ahead;
  }
  if (index == 0) {
    return 0;
  }
  return of.own[index - 1] + (index > 1 ? of.own[index - 1] - of.own[index - 2] : 0);
}

void ValuePredictor::saw(std::uint32_t slot, std::uint64_t value) {
  Slot& of = slots_[slot];
  if (of.own.size() < of.before.size()) {
    of.ahead = value - of.before[of.own.size()];
  }
  of.own.push_back(value);
}

void ThreadPacker::pack(const ThreadEvents& thread, ByteWriter& out) {
  out.difference(static_cast<std::int64_t>(thread.bit_count - before_.bit_count));
  for (std::uint64_t first = 0; first < thread.bit_count; first += 8) {
    const std::uint64_t changed = thread.bits[first / 64] ^ word_at(before_.bits, first / 64);
    const std::uint64_t left = thread.bit_count - first;
    const std::uint64_t keep = left < 8 ? (std::uint64_t{1} << left) - 1 : 0xff;
    out.byte(static_cast<std::uint8_t>((changed >> (first % 64)) & keep));
  }
  predictor_.next_thread();
  std::uint64_t bits = 0;
  std::size_t values = 0;
  const auto wrong = [] { return InternalError("a recorded thread left its kernel's paths"); };
  const bool ends = walk(
      events_,
      [&] {
        if (bits == thread.bit_count) {
          throw wrong();
        }
        return thread.bit(bits++);
      },
      [&](std::uint32_t slot) {
        if (values == thread.values.size()) {
          throw wrong();
        }
        const std::uint64_t value = thread.values[values++];
        out.difference(static_cast<std::int64_t>(value - predictor_.predict(slot)));
        predictor_.saw(slot, value);
      });
  if (!ends || bits != thread.bit_count || values != thread.values.size()) {
    throw wrong();
  }
  before_ = thread;
}

void ThreadUnpacker::unpack(ByteReader& in, ThreadEvents& thread) {
  thread.clear();
  const std::size_t begin = in.at();
  thread.bit_count = count_before_ + static_cast<std::uint64_t>(in.difference());
  if (thread.bit_count / 8 > in.left()) {
    throw Damaged(begin, "a thread has more outcomes than what follows can hold");
  }
  const std::size_t bytes = (thread.bit_count + 7) / 8;
  thread.bits.assign((thread.bit_count + 63) / 64, 0);
  for (std::size_t i = 0; i < bytes; ++i) {
    thread.bits[i / 8] |= std::uint64_t{in.byte()} << (8 * (i % 8));
  }
  for (std::size_t i = 0; i < thread.bits.size(); ++i) {
    thread.bits[i] ^= word_at(bits_before_, i);
  }
  if (const std::uint64_t rest = thread.bit_count % 64; rest != 0) {
    thread.bits.back() &= (std::uint64_t{1} << rest) - 1;  // the thread before may have gone on
  }
  predictor_.next_thread();
  std::uint64_t bits = 0;
  const bool ends = walk(
      events_,
      [&] {
        if (bits == thread.bit_count) {
          throw Damaged(in.at(), "a thread comes to more guards than it has outcomes");
        }
        return thread.bit(bits++);
      },
      [&](std::uint32_t slot) {
        const std::uint64_t value = predictor_.predict(slot) + static_cast<std::uint64_t>(in.difference());
        predictor_.saw(slot, value);
        thread.values.push_back(value);
      });
  if (!ends) {
    throw Damaged(in.at(), "a thread goes where its kernel has no code, or round in it without an end");
  }
  if (bits != thread.bit_count) {
    throw Damaged(in.at(), "a thread exits before its last outcome");
  }
  bits_before_ = thread.bits;
  count_before_ = thread.bit_count;
}

}  // namespace heddle::traces
