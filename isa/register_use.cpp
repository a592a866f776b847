#include "isa/register_use.hpp"

#include "isa/result_form.hpp"

namespace heddle::isa {

namespace {

std::uint64_t registers_from(unsigned first, unsigned count) {
  return first >= kRZ ? 0 : ((std::uint64_t{1} << count) - 1) << first;
}

std::uint8_t predicate_bit(unsigned reg) {
  return reg >= kPT ? 0 : static_cast<std::uint8_t>(1U << reg);
}

}  // namespace

RegisterUse register_use(const Instruction& instruction) {
  RegisterUse use;
  use.read = registers_from(instruction.a, a_registers(instruction)) |
             registers_from(instruction.c, c_registers(instruction)) |
             registers_from(instruction.dst, stored_registers(instruction));
  if (!instruction.immediate) {
    use.read |= registers_from(instruction.b, b_registers(instruction)) |
                registers_from(instruction.d, d_registers(instruction));
  }
  const SourcePredicates sources = source_predicates(instruction);
  use.predicates_read = static_cast<std::uint8_t>(predicate_bit(instruction.guard.reg) | predicate_bit(sources.a.reg) |
                                                  predicate_bit(sources.b.reg));
  const ResultForm form = result_form(instruction);
  use.written = registers_from(form.dst, form.words);
  use.predicates_written = static_cast<std::uint8_t>(predicate_bit(form.p) | predicate_bit(form.q));
  return use;
}

}  // namespace heddle::isa
