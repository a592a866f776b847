#include "ptx/subdivision.hpp"

#include <cstdint>
#include <vector>

namespace heddle::ptx {

namespace {

// Instructions from each PC on to the end of its basic block.
std::vector<std::uint32_t> instructions_to_end(const std::vector<isa::Instruction>& code) {
  std::vector<bool> entered(code.size() + 1);
  for (const isa::Instruction& in : code) {
    if (in.op == isa::Op::BRA && in.target < code.size()) entered[in.target] = true;
  }
  std::vector<std::uint32_t> left(code.size());
  for (std::size_t pc = code.size(); pc-- > 0;) {
    const isa::Op op = code[pc].op;
    const bool ends =
        op == isa::Op::BRA || op == isa::Op::EXIT || op == isa::Op::TRAP || pc + 1 == code.size() || entered[pc + 1];
    left[pc] = ends ? 1 : left[pc + 1] + 1;
  }
  return left;
}

}  // namespace

void mark_subdivision(isa::Module& module, unsigned instructions, bool loop_branches) {
  for (isa::Kernel& kernel : module.kernels) {
    isa::rewrite(kernel, [&](std::vector<isa::Instruction>& code) {
      const std::vector<std::uint32_t> left = instructions_to_end(code);
      for (std::size_t pc = 0; pc < code.size(); ++pc) {
        isa::Instruction& in = code[pc];
        in.subdivides = in.op == isa::Op::BRA && !in.guard.always() && in.reconvergence < left.size() &&
                        left[in.reconvergence] <= instructions && (loop_branches || in.target > pc);
      }
    });
  }
}

}  // namespace heddle::ptx
