#include "isa/register_use.hpp"

#include "isa/result_form.hpp"

namespace heddle::isa {

namespace {

std::uint8_t predicate_bit(unsigned reg) {
  return reg >= kPT ? 0 : static_cast<std::uint8_t>(1U << reg);
}

}  // namespace

RegisterUse register_use(const Instruction& instruction) {
  RegisterUse use;
  use.read = RegisterSet::from(instruction.a, a_registers(instruction)) |
             RegisterSet::from(instruction.c, c_registers(instruction)) |
             RegisterSet::from(instruction.dst, stored_registers(instruction));
  if (!instruction.immediate) {
    use.read |= RegisterSet::from(instruction.b, b_registers(instruction)) |
                RegisterSet::from(instruction.d, d_registers(instruction));
  }
  const SourcePredicates sources = source_predicates(instruction);
  use.predicates_read = static_cast<std::uint8_t>(predicate_bit(instruction.guard.reg) | predicate_bit(sources.a.reg) |
                                                  predicate_bit(sources.b.reg));
  const ResultForm form = result_form(instruction);
  use.written = RegisterSet::from(form.dst, form.words);
  use.predicates_written = static_cast<std::uint8_t>(predicate_bit(form.p) | predicate_bit(form.q));
  return use;
}

OperandWords operand_words(const Instruction& instruction) {
  OperandWords out;
  const auto add = [&out](unsigned place, unsigned first, unsigned count) {
    for (unsigned word = 0; word < count && first < kRZ; ++word) {
      out.add({static_cast<std::uint8_t>(first + word), static_cast<std::uint8_t>(place)});
    }
  };
  add(0, instruction.a, a_registers(instruction));
  if (!instruction.immediate) {
    add(1, instruction.b, b_registers(instruction));
  }
  add(1, instruction.dst, stored_registers(instruction));
  add(2, instruction.c, c_registers(instruction));
  if (!instruction.immediate) {
    add(3, instruction.d, d_registers(instruction));
  }
  return out;
}

}  // namespace heddle::isa
