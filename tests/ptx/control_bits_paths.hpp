// An oracle for the compiler's control bits: ways through a kernel's code, instruction by instruction, as a warp goes
// that does what the bits say and nothing more. What counts in a dependence counter is done only when an instruction
// waits for that counter; what has a fixed time is done in its last cycle. It shares with the compiler's pass what
// instructions read and write, and how long the machine says they take.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "isa/module.hpp"
#include "isa/register_use.hpp"
#include "isa/result_time.hpp"

namespace heddle::test {

class ControlBitsPaths {
 public:
  ControlBitsPaths(const std::vector<isa::Instruction>& code, const isa::ResultTimes& times) {
    for (const isa::Instruction& in : code) {
      add(in, times);
    }
  }
  ControlBitsPaths(const isa::Kernel& kernel, const isa::ResultTimes& times) {
    for (const isa::InstructionWord& word : kernel.words) {
      add(isa::decode(word).value(), times);
    }
  }

  // Goes so many ways of at most so many instructions, with a coin at each branch. The first dependence that is not
  // kept; empty: none.
  [[nodiscard]] std::string walk(std::uint32_t seed, unsigned ways, unsigned most = 600) const {
    std::mt19937 random(seed);
    for (unsigned way = 0; way != ways; ++way) {
      std::vector<Flight> flights;
      std::uint64_t now = 0;
      std::size_t pc = 0;
      for (unsigned step = 0; step != most && pc < code_.size(); ++step) {
        if (std::string wrong = issue(flights, now, pc); !wrong.empty()) {
          return fmt::format("{} (way {}, step {})", wrong, way, step);
        }
        const isa::Instruction& in = code_[pc];
        now += in.control.stall;
        const bool goes = in.guard.always() || random() % 2 == 0;
        if (goes && (in.op == isa::Op::EXIT || in.op == isa::Op::TRAP)) {
          break;
        }
        pc = goes && in.op == isa::Op::BRA ? in.target : pc + 1;
      }
    }
    return {};
  }

 private:
  struct Flight {
    std::size_t pc;
    isa::RegisterUse use;
    std::uint64_t there;  // cycle, of a fixed time
    bool counted;
    bool unread;
    unsigned read, write;  // counters
  };

  static bool overlap(const isa::RegisterSet& a, unsigned p, const isa::RegisterSet& b, unsigned q) {
    return a.meets(b) || (p & q) != 0;
  }

  std::string issue(std::vector<Flight>& flights, std::uint64_t now, std::size_t pc) const {
    const isa::Instruction& in = code_[pc];
    const isa::RegisterUse& use = uses_[pc];
    const auto waits_for = [&in](unsigned counter) { return counter < 6 && ((in.control.wait >> counter) & 1U) != 0; };
    std::vector<Flight> left;
    for (Flight& flight : flights) {
      if (flight.counted ? waits_for(flight.write) : now >= flight.there) {
        continue;
      }
      flight.unread = flight.unread && !waits_for(flight.read);
      left.push_back(flight);
    }
    flights = std::move(left);
    for (const Flight& flight : flights) {
      const isa::RegisterUse& before = flight.use;
      if (overlap(before.written, before.predicates_written, use.read, use.predicates_read) ||
          overlap(before.written, before.predicates_written, use.written, use.predicates_written)) {
        return fmt::format("PC {} goes before the results of PC {}", pc, flight.pc);
      }
      if (flight.unread && overlap(before.read, before.predicates_read, use.written, use.predicates_written)) {
        return fmt::format("PC {} goes before the operands of PC {}", pc, flight.pc);
      }
    }
    const isa::ResultTime time = times_[pc];
    flights.push_back({pc, use, now + time.fixed, time.counted(), time.counted(), in.control.read, in.control.write});
    return {};
  }

  void add(const isa::Instruction& in, const isa::ResultTimes& times) {
    code_.push_back(in);
    uses_.push_back(isa::register_use(in));
    times_.push_back(times(in));
  }

  std::vector<isa::Instruction> code_;
  std::vector<isa::RegisterUse> uses_;  // by PC
  std::vector<isa::ResultTime> times_;  // likewise
};

}  // namespace heddle::test
