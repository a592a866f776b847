// Question 6 of a core: which instructions have the same operands for all threads of a warp, so that one lane executes
// them for all (scalarisation, thesis 9.2.1)? One file per answer, in Registry<Scalarisation>.
//
// A scalar instruction takes one sub-warp of one lane, whatever the size of the warp, and its result is written once,
// to a register file per warp. It must be one that isa::accepts_uniform() allows, and all living threads of
// the warp must be active: what some of them execute alone is executed by each, since the others still need the old
// value. A register of a thread is in its lane from the moment at which the thread writes it there until a scalar
// instruction of its warp writes it (hw/scalar/wide_registers.hpp); vector instructions read it where it is.
#pragma once

#include "base/registry.hpp"
#include "hw/parameters/policy.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

// The registers of a warp's active threads, with nothing of the warp in flight that would change them.
class WarpOperands {
 public:
  virtual ~WarpOperands() = default;
  [[nodiscard]] virtual bool same_word(unsigned reg) const = 0;       // 32-bit register, below isa::kRZ
  [[nodiscard]] virtual bool same_predicate(unsigned reg) const = 0;  // below isa::kPT
};

class Scalarisation {
 public:
  struct Setup {};
  struct Traits {
    bool finds = false;        // false: there are no scalar instructions, and no register file for them
    bool needs_marks = false;  // it goes by the compiler's marks (isa::Instruction::uniform), which are to be set
  };
  using About = PolicyAbout<Traits, CorePolicies>;
  virtual ~Scalarisation() = default;
  // Of an instruction that isa::accepts_uniform() allows: its operands, guard included, are the same for all threads.
  [[nodiscard]] virtual bool same_operands(const link::DecodedInstruction& decoded,
                                           const WarpOperands& operands) const = 0;
};

// Storage of the warp-wide register file, for `heddle cost`.
void cost_of_wide_registers(const CostShape& shape, CostLines& lines);

}  // namespace heddle::hw
