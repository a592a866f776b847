// Question 4 of a core: when may a group be fetched again? One file per answer, in Registry<IssueDiscipline>.
#pragma once

#include "base/registry.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/group.hpp"
#include "isa/instruction.hpp"

namespace heddle::hw {

class IssueDiscipline {
 public:
  struct Setup {
    unsigned simd_width;
    unsigned warp_size;
  };
  // What a discipline does (hw/parameters/policy.hpp).
  struct Traits {
    // Instructions of one group overlap, so that the sub-warp former must leave threads alone that are in flight, and
    // the divergence mechanism must be able to bear it (Divergence::Traits::overlap).
    bool overlaps = true;
  };
  using About = PolicyAbout<Traits, CorePolicies>;
  virtual ~IssueDiscipline() = default;
  // Asked when a sub-warp of the group has been written back, until the group's latest instruction is released; about
  // that instruction. True: the group's PC and mask are brought up to date and it may be fetched again.
  [[nodiscard]] virtual bool release(const Group& group, const isa::Instruction& instruction) const = 0;
};

}  // namespace heddle::hw
