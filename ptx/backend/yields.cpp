#include "ptx/yields.hpp"

#include <vector>

#include "isa/loop_exits.hpp"

namespace heddle::ptx {

void mark_yields(isa::Module& module) {
  for (isa::Kernel& kernel : module.kernels) {
    const std::vector<isa::InstructionWord> words = kernel.words;
    isa::rewrite(kernel, [&](std::vector<isa::Instruction>& code) {
      for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
        isa::Instruction& in = code[pc];
        in.yields = in.op == isa::Op::BRA && in.target <= pc && isa::loop_exits(words, in.target, pc).waits;
      }
    });
  }
}

}  // namespace heddle::ptx
