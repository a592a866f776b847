// Relaxed re-fetch of large warps (thesis 4.2.2): a warp may be fetched again once the first sub-warp of its
// instruction has completed. One interlock bit per thread keeps a thread that is in flight out of the next
// instruction's sub-warps. A conditional branch waits for all of its sub-warps, as its outcome is not known before
// (thesis 4.2.2). So do, in this model, an exit and a barrier, which change who takes part, and an access to memory
// beyond the core: were the warp fetched while other sub-warps of the access still wait for their lines, its next
// instruction would hold the decode stage, and with it every other warp, until they are there. "relaxed-memory" is the
// thesis's rule to the letter. With relaxed.diverged_early the warp goes on at a branch when sub-warps of it have gone
// both ways: from then on it is known that the warp diverges, and where it goes first (4.2.2, footnote 2).
#include <fmt/format.h>

#include "hw/issue/discipline.hpp"
#include "hw/issue/relaxed.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/subwarp/former.hpp"
#include "isa/instruction.hpp"

namespace heddle::hw {

namespace {

bool waits_for_all(const isa::Instruction& instruction) {
  const bool conditional_branch = instruction.op == isa::Op::BRA && !instruction.guard.always();
  return conditional_branch || instruction.op == isa::Op::EXIT || isa::info(instruction.op).unit == isa::Unit::barrier;
}

class RelaxedMemory : public IssueDiscipline {
 public:
  using Parameters = RelaxedParameters;
  static constexpr Traits traits{.overlaps = true};
  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found) {
    if (machine.core.warp_size == machine.core.simd_width) {
      found.push_back({{"relaxed.diverged_early"}, "core.warp_size is core.simd_width: a branch has one sub-warp"});
    }
  }
  static void cost(const CostShape& shape, CostLines& lines) {
    if (shape.rows > 1) {
      lines.add(CostLine::Kind::counted, "interlock bits", fmt::format("core.threads {} x 1", shape.threads),
                shape.threads, "thesis 4.2.2, 4.5");
      lines.accessed("warp_instructions", 3 * shape.lanes);  // a thread's bit looked at, set, cleared
    }
  }

  explicit RelaxedMemory(const Setup& setup)
      : diverged_early_(setup.core.policies.of<RelaxedParameters>().diverged_early) {}
  [[nodiscard]] bool release(const Group& group, const isa::Instruction& instruction) const override {
    return group.flight().done() || (group.flight().completed != 0 && !waits_for_all(instruction));
  }
  [[nodiscard]] bool releases_diverged() const override { return diverged_early_; }

 private:
  bool diverged_early_;
};

class Relaxed final : public RelaxedMemory {
 public:
  explicit Relaxed(const Setup& setup) : RelaxedMemory(setup) {}
  [[nodiscard]] bool release(const Group& group, const isa::Instruction& instruction) const override {
    return accesses_global_memory(instruction) ? group.flight().done() : RelaxedMemory::release(group, instruction);
  }
};

const Register<IssueDiscipline, Relaxed> relaxed{
    "relaxed", "once its first sub-warp has completed; branches and memory accesses wait for all"};
const Register<IssueDiscipline, RelaxedMemory> relaxed_memory{
    "relaxed-memory", "as relaxed, and a memory access too only waits for its first sub-warp"};

}  // namespace

}  // namespace heddle::hw
