// The last access to the scratchpad as a backward data-flow analysis: an access may come where the instruction is one,
// or may come at one that can follow. Calls are inlined, so that a kernel's code is all there is.
#include "ptx/last_access.hpp"

#include <cstddef>
#include <cstdint>

namespace heddle::ptx {

namespace {

using isa::Op;

bool may_access_scratchpad(Op op) {
  const bool accesses = isa::is_load(op) || isa::is_store(op) || isa::is_atomic(op) || isa::is_accumulate(op);
  return accesses &&
         (isa::space_of(op) == isa::Space::shared || isa::space_of(op) == isa::Space::generic || isa::is_copy(op));
}

}  // namespace

std::vector<bool> past_last_access(const std::vector<isa::Instruction>& code) {
  std::vector<bool> past(code.size(), true);
  const auto may_come = [&](std::size_t pc) {
    const isa::Instruction& in = code[pc];
    const bool ends = in.op == Op::BRA || in.op == Op::EXIT || in.op == Op::TRAP;
    const bool falls_through = (!ends || !in.guard.always()) && pc + 1 < code.size();
    return may_access_scratchpad(in.op) || (falls_through && !past[pc + 1]) ||
           (in.op == Op::BRA && in.target < code.size() && !past[in.target]);
  };
  // A sweep from the end takes it through all but the backward branches; they need another one each, nested ones more.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t pc = code.size(); pc-- > 0;) {
      if (past[pc] && may_come(pc)) {
        past[pc] = false;
        changed = true;
      }
    }
  }
  return past;
}

void mark_past_scratchpad(isa::Module& module) {
  for (isa::Kernel& kernel : module.kernels) {
    isa::rewrite(kernel, [&](std::vector<isa::Instruction>& code) {
      const std::vector<bool> past = past_last_access(code);
      for (std::size_t pc = 0; pc < code.size(); ++pc) {
        code[pc].past_scratchpad = past[pc] && isa::carries_past_scratchpad(code[pc].op);
      }
    });
  }
}

}  // namespace heddle::ptx
