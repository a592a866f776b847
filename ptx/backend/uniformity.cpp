// Uniformity as a forward data-flow analysis over physical registers: optimistic, so that what loops carry round stays
// uniform until something says otherwise. What is varying and where threads may be apart depend on each other; both
// only grow.
#include "ptx/uniformity.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "isa/register_use.hpp"

namespace heddle::ptx {

namespace {

using isa::Op;

// Registers and predicates that are the same for all threads.
struct Uniform {
  isa::RegisterSet registers = isa::RegisterSet::all();
  std::uint8_t predicates = 0xFF;
  friend bool operator==(const Uniform&, const Uniform&) = default;
};

class Uniformity {
 public:
  explicit Uniformity(const std::vector<isa::Instruction>& code)
      : code_(code), before_(code.size()), apart_(code.size()), spread_(code.size()) {
    uses_.reserve(code.size());
    for (const isa::Instruction& instruction : code) {
      uses_.push_back(isa::register_use(instruction));
    }
    if (!code.empty()) {
      before_[0] = Uniform{};
      do {
        flow();
      } while (part());
    }
  }

  [[nodiscard]] bool scalar(std::size_t pc) const {
    return before_[pc] && !apart_[pc] && isa::accepts_uniform(code_[pc]) && same_operands(pc);
  }

 private:
  [[nodiscard]] bool same_operands(std::size_t pc) const {
    return (uses_[pc].read & ~before_[pc]->registers).empty() &&
           (uses_[pc].predicates_read & ~before_[pc]->predicates) == 0;
  }
  [[nodiscard]] bool same_guard(std::size_t pc) const {
    const isa::Pred guard = code_[pc].guard;
    return guard.reg == isa::kPT || ((before_[pc]->predicates >> guard.reg) & 1U) != 0;
  }

  template <class Visit>
  void each_next(std::size_t pc, Visit visit) const {
    const isa::Instruction& instruction = code_[pc];
    const bool ends = instruction.op == Op::BRA || instruction.op == Op::EXIT || instruction.op == Op::TRAP;
    if (instruction.op == Op::BRA) visit(std::size_t{instruction.target});
    if ((!ends || !instruction.guard.always()) && pc + 1 < code_.size()) visit(pc + 1);
  }

  [[nodiscard]] Uniform after(std::size_t pc) const {
    Uniform result = *before_[pc];
    const isa::RegisterUse& use = uses_[pc];
    if (!scalar(pc)) {
      result.registers &= ~use.written;
      result.predicates &= static_cast<std::uint8_t>(~use.predicates_written);
    } else if (code_[pc].guard.always()) {  // else the old value may stay, in all threads
      result.registers |= use.written;
      result.predicates |= use.predicates_written;
    }
    return result;
  }

  // To the fixed point, where threads are apart as it is known now.
  void flow() {
    std::vector<std::size_t> work;
    for (std::size_t pc = code_.size(); pc-- > 0;) {
      if (before_[pc]) work.push_back(pc);
    }
    while (!work.empty()) {
      const std::size_t pc = work.back();
      work.pop_back();
      const Uniform out = after(pc);
      each_next(pc, [&](std::size_t next) {
        Uniform met = out;
        if (before_[next]) {
          met.registers &= before_[next]->registers;
          met.predicates &= before_[next]->predicates;
          if (met == *before_[next]) return;
        }
        before_[next] = met;
        work.push_back(next);
      });
    }
  }

  // Threads are apart from a branch that they may disagree on to where they meet. True: more places than before.
  bool part() {
    bool grown = false;
    for (std::size_t pc = 0; pc < code_.size(); ++pc) {
      if (code_[pc].op != Op::BRA || !before_[pc] || spread_[pc] || same_guard(pc)) continue;
      spread_[pc] = true;
      grown = true;
      spread(pc);
    }
    return grown;
  }

  void spread(std::size_t branch) {
    const std::size_t meet = code_[branch].reconvergence;
    std::vector<bool> seen(code_.size());
    std::vector<std::size_t> work;
    const auto come = [&](std::size_t pc) {
      if (pc == meet || seen[pc]) return;
      seen[pc] = true;
      apart_[pc] = true;
      work.push_back(pc);
    };
    each_next(branch, come);
    while (!work.empty()) {
      const std::size_t pc = work.back();
      work.pop_back();
      each_next(pc, come);
    }
  }

  const std::vector<isa::Instruction>& code_;
  std::vector<isa::RegisterUse> uses_;
  std::vector<std::optional<Uniform>> before_;  // by PC; none: not reached
  std::vector<bool> apart_;                     // threads of a warp may be elsewhere
  std::vector<bool> spread_;                    // a branch whose region is in apart_
};

}  // namespace

std::vector<bool> uniform_instructions(const std::vector<isa::Instruction>& code) {
  const Uniformity analysis(code);
  std::vector<bool> marks(code.size());
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    marks[pc] = analysis.scalar(pc);
  }
  return marks;
}

void mark_uniform(isa::Module& module) {
  for (isa::Kernel& kernel : module.kernels) {
    isa::rewrite(kernel, [&](std::vector<isa::Instruction>& code) {
      const std::vector<bool> marks = uniform_instructions(code);
      for (std::size_t pc = 0; pc < code.size(); ++pc) {
        code[pc].uniform = marks[pc];
      }
    });
  }
}

}  // namespace heddle::ptx
