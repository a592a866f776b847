#include "ptx/control_bits.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "isa/register_use.hpp"

namespace heddle::ptx {

namespace {

using isa::ControlBits;
using isa::RegisterSet;

// The last counter is for operands alone: they are read soon, in the order of the instructions, so that to wait for
// those of all is not much more than to wait for one.
constexpr unsigned kOperandCounter = ControlBits::kCounters - 1;
constexpr unsigned kResultCounters = ControlBits::kCounters - 1;

// Registers and predicates.
struct Places {
  RegisterSet registers;
  std::uint8_t predicates = 0;
  [[nodiscard]] bool meets(const Places& other) const {
    return registers.meets(other.registers) || (predicates & other.predicates) != 0;
  }
  [[nodiscard]] bool empty() const { return registers.empty() && predicates == 0; }
  Places& operator|=(const Places& other) {
    registers |= other.registers;
    predicates = static_cast<std::uint8_t>(predicates | other.predicates);
    return *this;
  }
  friend bool operator==(const Places&, const Places&) = default;
};

// What a counter stands for: results that are not written, operands that are not read.
struct Outstanding {
  Places written, read;
  friend bool operator==(const Outstanding&, const Outstanding&) = default;
};

// Before an instruction: what the instructions on any way to it have left.
struct Left {
  std::array<std::uint8_t, isa::kRegisters> registers{};    // cycles until results of fixed time are there
  std::array<std::uint8_t, isa::kPredicates> predicates{};  // likewise
  std::array<Outstanding, ControlBits::kCounters> counters;

  // True: it was less.
  bool join(const Left& other) {
    const Left before = *this;
    for (std::size_t i = 0; i != registers.size(); ++i) registers[i] = std::max(registers[i], other.registers[i]);
    for (std::size_t i = 0; i != predicates.size(); ++i) predicates[i] = std::max(predicates[i], other.predicates[i]);
    for (std::size_t i = 0; i != counters.size(); ++i) {
      counters[i].written |= other.counters[i].written;
      counters[i].read |= other.counters[i].read;
    }
    return *this != before;
  }
  friend bool operator==(const Left&, const Left&) = default;

  // Cycles until all of them are there.
  [[nodiscard]] unsigned until(const Places& places) const {
    unsigned cycles = 0;
    places.registers.each([&](unsigned reg) { cycles = std::max<unsigned>(cycles, registers[reg]); });
    for (std::size_t p = 0; p != predicates.size(); ++p) {
      if (((places.predicates >> p) & 1U) != 0) cycles = std::max<unsigned>(cycles, predicates[p]);
    }
    return cycles;
  }
  void write(const Places& places, unsigned cycles) {
    places.registers.each([&](unsigned reg) { registers[reg] = static_cast<std::uint8_t>(cycles); });
    for (std::size_t p = 0; p != predicates.size(); ++p) {
      if (((places.predicates >> p) & 1U) != 0) predicates[p] = static_cast<std::uint8_t>(cycles);
    }
  }
  void pass(unsigned cycles) {
    const auto less = [cycles](std::uint8_t left) {
      return static_cast<std::uint8_t>(left - std::min<unsigned>(left, cycles));
    };
    std::transform(registers.begin(), registers.end(), registers.begin(), less);
    std::transform(predicates.begin(), predicates.end(), predicates.begin(), less);
  }
};

class Writer {
 public:
  Writer(const std::vector<isa::Instruction>& code, const isa::ResultTimes& times) : bits_(code.size()) {
    steps_.reserve(code.size());
    for (const isa::Instruction& in : code) {
      const isa::RegisterUse use = isa::register_use(in);
      const Places read{use.read, use.predicates_read}, written{use.written, use.predicates_written};
      Places touched = read;
      touched |= written;
      steps_.push_back({read, written, touched, times(in).fixed, {}});
    }
    for (std::size_t pc = 0; pc != code.size(); ++pc) follow(code, pc);
    choose_counters();
  }

  std::vector<ControlBits> run() {
    if (bits_.empty()) return {};
    find_left();
    for (std::size_t begin = 0; begin != steps_.size(); begin = ends_[begin]) {
      if (const std::optional<Left>& left = left_[begin]) walk(begin, *left, [](std::size_t, const Left&) {});
    }
    return std::move(bits_);
  }

 private:
  struct Step {
    Places read, written, touched;
    unsigned fixed;                 // isa::ResultTime
    std::vector<std::size_t> next;  // PCs that may follow
  };

  void follow(const std::vector<isa::Instruction>& code, std::size_t pc) {
    const isa::Instruction& in = code[pc];
    const bool branch = in.op == isa::Op::BRA;
    const bool ends = branch || in.op == isa::Op::EXIT || in.op == isa::Op::TRAP;
    if (branch && in.target < code.size()) steps_[pc].next.push_back(in.target);
    if ((!ends || !in.guard.always()) && pc + 1 != code.size()) steps_[pc].next.push_back(pc + 1);
    begins_.resize(code.size() + 1);
    begins_[0] = true;
    if (branch && in.target < code.size()) begins_[in.target] = true;
    if (ends) begins_[pc + 1] = true;
  }

  // In the order of the text, which is that of most ways through it: a counter that nothing stands behind, else the one
  // that was taken last, so that what came before does not have to wait for what comes now.
  void choose_counters() {
    std::array<Outstanding, kResultCounters> open;
    unsigned latest = 0;
    for (std::size_t pc = 0; pc != steps_.size(); ++pc) {
      const Step& step = steps_[pc];
      for (Outstanding& one : open) {
        if (one.written.meets(step.touched)) one = {};
      }
      ControlBits& bits = bits_[pc];
      bits.there = true;
      bits.stall = 1;
      if (step.fixed != 0) continue;
      if (!step.read.empty()) bits.read = kOperandCounter;
      if (step.written.empty()) continue;
      unsigned chosen = latest;
      for (unsigned i = 1; i <= kResultCounters; ++i) {
        const unsigned counter = (latest + i) % kResultCounters;
        if (open[counter].written.empty()) {
          chosen = counter;
          break;
        }
      }
      latest = chosen;
      open[chosen].written |= step.written;
      bits.write = static_cast<std::uint8_t>(chosen);
    }
  }

  // Walks the block from `begin`, before which `left` is left, writes its bits, and tells what is left before each PC
  // that may follow the block.
  template <class Tell>
  void walk(std::size_t begin, Left left, Tell tell) {
    for (std::size_t pc = begin; pc != ends_[begin]; ++pc) {
      const Step& step = steps_[pc];
      ControlBits& bits = bits_[pc];
      bits.wait = 0;
      for (unsigned counter = 0; counter != ControlBits::kCounters; ++counter) {
        Outstanding& open = left.counters[counter];
        if (open.written.meets(step.touched) || open.read.meets(step.written)) {
          bits.wait = static_cast<std::uint8_t>(bits.wait | 1U << counter);
          open = {};
        }
      }
      if (step.fixed != 0) {
        left.write(step.written, step.fixed);
      } else {
        if (bits.write != ControlBits::kNoCounter) left.counters[bits.write].written |= step.written;
        if (bits.read != ControlBits::kNoCounter) left.counters[bits.read].read |= step.read;
      }
      unsigned stall = 1;
      for (const std::size_t next : step.next) stall = std::max(stall, left.until(steps_[next].touched));
      bits.stall = static_cast<std::uint8_t>(stall);
      left.pass(stall);
      if (pc + 1 == ends_[begin]) {
        for (const std::size_t next : step.next) tell(next, left);
      }
    }
  }

  void find_left() {
    ends_.resize(steps_.size());
    for (std::size_t pc = steps_.size(); pc-- != 0;) {
      ends_[pc] = pc + 1 == steps_.size() || begins_[pc + 1] ? pc + 1 : ends_[pc + 1];
    }
    left_.resize(steps_.size());
    left_[0].emplace();
    std::vector<std::size_t> to_visit{0};
    while (!to_visit.empty()) {
      const std::size_t begin = to_visit.back();
      to_visit.pop_back();
      walk(begin, *left_[begin], [&](std::size_t next, const Left& left) {
        const bool fresh = !left_[next];
        if (fresh) left_[next].emplace();
        if (left_[next]->join(left) || fresh) to_visit.push_back(next);
      });
    }
  }

  std::vector<ControlBits> bits_;
  std::vector<Step> steps_;
  std::vector<bool> begins_;               // by PC: a basic block does
  std::vector<std::size_t> ends_;          // by PC: behind its block
  std::vector<std::optional<Left>> left_;  // by PC of a block's beginning; none: no way leads there
};

}  // namespace

std::vector<ControlBits> control_bits(const std::vector<isa::Instruction>& code, const isa::ResultTimes& times) {
  return Writer(code, times).run();
}

void write_control_bits(isa::Module& module, const isa::ResultTimes& times) {
  for (isa::Kernel& kernel : module.kernels) {
    isa::rewrite(kernel, [&](std::vector<isa::Instruction>& code) {
      const std::vector<ControlBits> bits = control_bits(code, times);
      for (std::size_t pc = 0; pc != code.size(); ++pc) code[pc].control = bits[pc];
    });
  }
}

}  // namespace heddle::ptx
