#include "tests/ptx/post_dominators.hpp"

#include <boost/dynamic_bitset.hpp>
#include <vector>

namespace heddle::test {

namespace {

using isa::Op;
using Pcs = boost::dynamic_bitset<std::uint64_t>;

constexpr isa::Pred kNever{isa::kPT, true};

class MachineCode {
 public:
  explicit MachineCode(const isa::Kernel& kernel)
      : size_(kernel.words.size()), next_(size_), exits_(size_), traps_(size_) {
    for (const isa::InstructionWord& word : kernel.words) code_.push_back(isa::decode(word).value());
    for (std::size_t pc = 0; pc < size_; ++pc) {
      const isa::Instruction& in = code_[pc];
      const bool runs = in.guard != kNever, stays = !in.guard.always();
      if (in.op == Op::BRA && runs) next_[pc].push_back(in.target);
      exits_[pc] = in.op == Op::EXIT && runs;
      traps_[pc] = in.op == Op::TRAP && !stays;
      const bool ends = in.op == Op::BRA || in.op == Op::EXIT || in.op == Op::TRAP;
      if (!ends || stays) next_[pc].push_back(pc + 1);
    }
    from_exit_ = from_which(exits_);
    from_trap_ = from_which(traps_) - from_exit_;
  }

  [[nodiscard]] const isa::Instruction& at(std::size_t pc) const { return code_[pc]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool is_branch(std::size_t pc) const {
    return code_[pc].op == Op::BRA && !code_[pc].guard.always() && code_[pc].guard != kNever;
  }
  [[nodiscard]] const Pcs& leads_to_exit() const { return from_exit_; }
  // To traps alone: neither to an exit nor into an endless loop.
  [[nodiscard]] Pcs leads_to_traps_alone() const { return from_trap_ - from_which(~(from_exit_ | from_trap_)); }

  // What every path from each of `region` to one of `ends` passes, itself included, where paths stay in the region.
  [[nodiscard]] std::vector<Pcs> passed(const Pcs& region, const Pcs& ends) const {
    std::vector<Pcs> sets(size_, region);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t pc = size_; pc-- > 0;) {
        if (!region[pc]) continue;
        Pcs now(size_);
        if (!ends[pc]) {
          now.set();
          for (const std::size_t to : next_[pc]) {
            if (region[to]) now &= sets[to];
          }
        }
        now.set(pc);
        if (now == sets[pc]) continue;
        sets[pc] = std::move(now);
        changed = true;
      }
    }
    return sets;
  }

  // A guarded exit in straight line before the branch: no other branch, and no branch's target, between the two.
  [[nodiscard]] bool behind_exit(std::size_t branch) const {
    Pcs targets(size_ + 1);
    for (const isa::Instruction& in : code_) {
      if (in.op == Op::BRA) targets.set(in.target);
    }
    for (std::size_t pc = branch; pc-- > 0 && !targets[pc + 1] && code_[pc].op != Op::BRA;) {
      if (code_[pc].op == Op::EXIT) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] Pcs from_which(const Pcs& goals) const {
    Pcs reached = goals;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t pc = size_; pc-- > 0;) {
        if (reached[pc]) continue;
        for (const std::size_t to : next_[pc]) changed |= reached[to] && !reached.test_set(pc);
      }
    }
    return reached;
  }

  std::size_t size_;
  std::vector<isa::Instruction> code_;
  std::vector<std::vector<std::size_t>> next_;
  Pcs exits_, traps_, from_exit_, from_trap_;

 public:
  [[nodiscard]] const Pcs& exits() const { return exits_; }
  [[nodiscard]] const Pcs& traps() const { return traps_; }
};

// Of what is passed after `pc`, what is passed first: everything else is passed from there on too.
std::uint32_t nearest(const std::vector<Pcs>& passed, std::size_t pc) {
  Pcs others = passed[pc];
  others.reset(pc);
  for (std::size_t at = others.find_first(); at != Pcs::npos; at = others.find_next(at)) {
    if (others.is_subset_of(passed[at])) return static_cast<std::uint32_t>(at);
  }
  return isa::kNoReconvergence;
}

std::string place(std::uint32_t pc) {
  return pc == isa::kNoReconvergence ? "exit" : std::to_string(pc);
}

}  // namespace

ReConvergence check_re_convergence(const isa::Kernel& kernel) {
  const MachineCode code(kernel);
  ReConvergence result;
  const Pcs trapping = code.leads_to_traps_alone();
  const std::vector<Pcs> to_exit = code.passed(code.leads_to_exit(), code.exits());
  const std::vector<Pcs> to_trap = trapping.any() ? code.passed(trapping, code.traps()) : std::vector<Pcs>{};
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    std::uint32_t expected = isa::kNoReconvergence;
    if (code.is_branch(pc)) {
      if (!code.leads_to_exit()[pc] && !trapping[pc]) {
        ++result.endless;
        continue;
      }
      expected = nearest(code.leads_to_exit()[pc] ? to_exit : to_trap, pc);
      ++result.branches;
      const bool meets = expected != isa::kNoReconvergence;
      result.at_exit += meets ? 0 : 1;
      result.behind_exits += meets && code.behind_exit(pc) ? 1 : 0;
    }
    // Threads that execute a BSYNC meet behind it.
    if (expected != isa::kNoReconvergence && code.at(expected).op == Op::BSYNC) ++expected;
    if (code.at(pc).reconvergence != expected && result.wrong.empty()) {
      result.wrong = "kernel " + kernel.name + ", PC " + std::to_string(pc) + ": re-converges at " +
                     place(code.at(pc).reconvergence) + " instead of " + place(expected);
    }
  }
  return result;
}

}  // namespace heddle::test
