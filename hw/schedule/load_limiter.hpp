// Beside question 2 of a core: which warps may issue loads? One file per answer, in Registry<LoadLimiter>.
//
// The fetch stage asks when it has the word of a group's next instruction and that is a load by way of the L1. A group
// that may not goes to GroupState::throttled with its word: no scheduler sees it, so that any goes together with a
// limiter, and for two-level scheduling it is stalled. As soon as it may, it can be fetched again, and is asked about
// once more when its turn comes.
#pragma once

#include "base/registry.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/core_statistics.hpp"
#include "hw/state/group.hpp"
#include "hw/state/line_listener.hpp"
#include "isa/instruction.hpp"

namespace heddle::hw {

class LoadLimiter : public LineListener {
 public:
  struct Setup {
    const GroupTable& groups;  // of the core: their live ones, and their ages, which tell one warp from the next
    const Machine& machine;
    CoreStatistics& statistics;
  };
  // What a limiter does (hw/parameters/policy.hpp).
  struct Traits {
    bool limits = true;  // false: every warp may issue every load, and nothing has to be asked or told
  };
  using About = PolicyAbout<Traits, CorePolicies>;

  // A launch begins; the L1 may still hold lines.
  virtual void begin_launch() {}
  // An instruction of the group goes to decode.
  virtual void issued(const Group& /*group*/) {}
  // Whether a group that is live may issue a load in cycle `now`; never earlier than the cycle of the call before.
  [[nodiscard]] virtual bool may_load(const Group& /*group*/, Cycle /*now*/) { return true; }
  // The earliest cycle in which an answer may be another one, should the core do nothing until then (kNever: in none).
  [[nodiscard]] virtual Cycle next_change() const { return link::kNever; }
};

// Loads that go by way of the L1: loads from global, local and generic addresses.
[[nodiscard]] inline bool is_limited(const isa::Instruction& instruction) {
  if (!isa::is_load(instruction.op)) {
    return false;
  }
  const isa::Space space = isa::space_of(instruction.op);
  return space == isa::Space::global || space == isa::Space::local || space == isa::Space::generic;
}

}  // namespace heddle::hw
