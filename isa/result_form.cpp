#include "isa/result_form.hpp"

#include "isa/instruction_fields.hpp"

namespace heddle::isa {

ResultForm result_form(const Instruction& instruction) {
  ResultForm form;
  const Op op = instruction.op;
  if (is_store(op)) {
    form.stored = static_cast<std::uint8_t>(stored_registers(instruction));
    form.address = true;
    return form;
  }
  form.address = is_atomic(op) || is_accumulate(op);
  if (info(op).dst == OperandKind::p) {
    form.p = static_cast<std::uint8_t>(instruction.pred_p());
    if (has_second_predicate(op)) {
      form.q = static_cast<std::uint8_t>(instruction.pred_q());
    }
    return form;
  }
  if (instruction.dst != kRZ) {
    form.dst = instruction.dst;
    form.words =
        static_cast<std::uint8_t>(is_load(op) ? memory_words(instruction) : destination_registers(instruction));
  }
  if (is_carry(op)) {
    form.p = static_cast<std::uint8_t>(instruction.carry_out());
  } else if (modifier_form(op) == ModifierForm::predicate_out) {
    form.p = static_cast<std::uint8_t>(instruction.pred_out());
  }
  return form;
}

SourcePredicates source_predicates(const Instruction& instruction) {
  const Op op = instruction.op;
  if (is_setp(op)) {
    return {instruction.setp_combine() == BoolOp::none ? Pred{} : instruction.setp_predicate(), {}};
  }
  if (is_carry(op)) {
    return {instruction.carry_in(), {}};
  }
  if (is_bar_red(op)) {
    return {instruction.sub_predicate(), {}};
  }
  if (is_accumulate(op)) {
    return {instruction.sub_predicate(), {}};
  }
  switch (op) {
    case Op::SEL:
    case Op::SEL64:
    case Op::VOTE_ALL:
    case Op::VOTE_ANY:
    case Op::VOTE_UNI:
    case Op::BALLOT:
    case Op::TREE_TRAVERSE:
    case Op::TREE_TRAVERSE_SIZE:
      return {instruction.sub_predicate(), {}};
    case Op::PLOP:
      return {instruction.plop_a(), instruction.plop_b()};
    default:
      return {};
  }
}

}  // namespace heddle::isa
