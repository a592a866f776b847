#include "ptx/ir.hpp"

namespace heddle::ptx {

MatrixElements matrix_elements(std::uint32_t mods) {
  isa::Instruction instruction;
  instruction.op = isa::Op::MMA;
  instruction.mods = mods;
  const unsigned words = instruction.factor_a() == isa::Factor::f64 ? 2 : 1;
  return {isa::a_registers(instruction) / words, isa::b_registers(instruction) / words,
          isa::c_registers(instruction) / words};
}

std::size_t written_elements(const IrInstruction& instruction) {
  return instruction.op == isa::Op::MMA ? matrix_elements(instruction.mods).sum : instruction.elements.size();
}

}  // namespace heddle::ptx
