// Instructions as text.
#include <fmt/format.h>

#include <array>

#include "isa/instruction_fields.hpp"
#include "isa/instruction_text.hpp"

namespace heddle::isa {

namespace {

constexpr std::array<std::string_view, 9> kRoundings = {"", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"};
constexpr std::array<std::string_view, 15> kComparisons = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ", "neu",
                                                           "ltu", "leu", "gtu", "geu", "num", "nan", "any"};
constexpr std::array<std::string_view, 4> kCombines = {"", "and", "or", "xor"};
constexpr std::array<std::string_view, 6> kTests = {"finite",     "infinite", "number",
                                                    "notanumber", "normal",   "subnormal"};
constexpr std::array<std::string_view, 13> kAtomics = {"add", "and",  "or",  "xor",     "min",     "max",         "inc",
                                                       "dec", "exch", "cas", "add16x2", "barrier", "after_copies"};
constexpr std::array<std::string_view, 6> kSpaces = {"global", "shared", "local", "const", "param", "generic"};
constexpr std::array<std::string_view, 6> kWidths = {"u8", "s8", "u16", "s16", "b32", "b64"};
constexpr std::array<std::string_view, kSpecials> kSpecialNames = {"tid.x",
                                                                   "tid.y",
                                                                   "tid.z",
                                                                   "ntid.x",
                                                                   "ntid.y",
                                                                   "ntid.z",
                                                                   "ctaid.x",
                                                                   "ctaid.y",
                                                                   "ctaid.z",
                                                                   "nctaid.x",
                                                                   "nctaid.y",
                                                                   "nctaid.z",
                                                                   "laneid",
                                                                   "warpid",
                                                                   "nwarpid",
                                                                   "smid",
                                                                   "nsmid",
                                                                   "gridid",
                                                                   "clock",
                                                                   "clock_hi",
                                                                   "clock64",
                                                                   "lanemask_eq",
                                                                   "lanemask_le",
                                                                   "lanemask_lt",
                                                                   "lanemask_ge",
                                                                   "lanemask_gt",
                                                                   "dynamic_smem_size",
                                                                   "total_smem_size",
                                                                   "is_cooperative",
                                                                   "envreg1",
                                                                   "envreg2"};
constexpr std::array<std::string_view, 6> kFactors = {"f16", "bf16", "tf32", "s8", "u8", "f64"};
constexpr std::array<std::string_view, 4> kElements = {"b8", "b16", "b32", "b64"};
constexpr std::array<std::string_view, 7> kPrmtModes = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};

std::string register_text(unsigned reg) {
  return reg == kRZ ? "rz" : fmt::format("r{}", reg);
}
std::string predicate_text(Pred pred) {
  const std::string_view sign = pred.negated ? "!" : "";
  return pred.reg == kPT ? fmt::format("{}pt", sign) : fmt::format("{}p{}", sign, pred.reg);
}
std::string predicate_text(unsigned reg) {
  return predicate_text(Pred{static_cast<std::uint8_t>(reg), false});
}

std::string combination(BoolOp op, Pred with) {
  return fmt::format("{}, {}", kCombines[static_cast<std::size_t>(op)], predicate_text(with));
}

// Predicate result beside a register result; PT when there is none.
unsigned side_predicate(const Instruction& i) {
  switch (modifier_form(i.op)) {
    case ModifierForm::carry:
      return i.carry_out();
    case ModifierForm::predicate_out:
      return i.pred_out();
    default:
      return kPT;
  }
}

std::string address_text(const Instruction& i) {
  const auto offset = static_cast<std::int32_t>(i.imm);
  if (offset == 0) return fmt::format("[{}]", register_text(i.a));
  return fmt::format("[{}{:+}]", register_text(i.a), offset);
}

// Empty for a slot that has nothing to say.
std::string slot_text(const Instruction& i, Slot slot) {
  switch (slot) {
    case Slot::destination: {
      const unsigned side = side_predicate(i);
      return register_text(i.dst) + (side == kPT ? "" : "|" + predicate_text(side));
    }
    case Slot::predicates:
      return predicate_text(i.pred_p()) + (i.pred_q() == kPT ? "" : "|" + predicate_text(i.pred_q()));
    case Slot::value:
      return register_text(i.dst);
    case Slot::a:
      return register_text(i.a);
    case Slot::b:
      return i.immediate ? fmt::format("{:#x}", i.imm) : register_text(i.b);
    case Slot::c:
      return register_text(i.c);
    case Slot::d:
      return i.immediate ? std::string{} : register_text(i.d);
    case Slot::address:
      return address_text(i);
    case Slot::atomic_address:
      return fmt::format("[{}]", register_text(i.a));
    case Slot::special:
      return fmt::format("%{}", kSpecialNames[i.imm]);
    case Slot::sub_predicate:
      return predicate_text(i.sub_predicate());
    case Slot::combine:
      return i.setp_combine() == BoolOp::none ? "" : combination(i.setp_combine(), i.setp_predicate());
    case Slot::plop: {
      const std::string first = predicate_text(i.plop_a());
      return i.plop_op() == BoolOp::none ? first : first + ", " + combination(i.plop_op(), i.plop_b());
    }
    case Slot::carry_in:
      return predicate_text(i.carry_in());
    case Slot::table:
      return fmt::format("{:#04x}", i.lop3_lut());
    case Slot::target:
      if (i.reconvergence == kNoReconvergence) return fmt::format("{}", i.target);
      return fmt::format("{}, reconverge {}", i.target, i.reconvergence);
    case Slot::meeting:
      return fmt::format("{}", i.imm);
  }
  return {};
}

void add_floating(const Instruction& i, std::vector<std::string>& out) {
  if (i.approximate()) out.emplace_back("approx");
  if (i.float_rounding() != Rounding::rn) {
    out.emplace_back(kRoundings[static_cast<std::size_t>(i.float_rounding())]);
  }
  if (i.ftz()) out.emplace_back("ftz");
  if (i.saturate()) out.emplace_back("sat");
  if (i.propagate_nan()) out.emplace_back("nan");
}

void add_half(const Instruction& i, std::vector<std::string>& out) {
  if (i.op == Op::CVT_PACK && i.float_rounding() != Rounding::rn) {
    out.emplace_back(kRoundings[static_cast<std::size_t>(i.float_rounding())]);
  }
  if (i.ftz()) out.emplace_back("ftz");
  if (i.saturate()) out.emplace_back("sat");
  if (i.relu()) out.emplace_back("relu");
  if (i.propagate_nan()) out.emplace_back("nan");
  if (i.magnitudes()) out.emplace_back("xorsign");
}

// What a register of 16-bit floating point holds.
void add_half_format(const Instruction& i, std::vector<std::string>& out) {
  if (i.bfloat()) out.emplace_back("bf16");
  if (i.packed()) out.emplace_back("x2");
}

// As PTX has them: size, then the elements of a and of b; what the sum is of where there is a choice.
void add_matrix(const Instruction& i, std::vector<std::string>& out) {
  const MatrixShape shape = matrix_shape(i);
  out.push_back(fmt::format("m{}n8k{}", shape.rows, shape.depth));
  if (i.clamps_sum()) out.emplace_back("sat");
  if (i.half_sum()) out.emplace_back("sum16");
  out.emplace_back(kFactors[static_cast<std::size_t>(i.factor_a())]);
  out.emplace_back(kFactors[static_cast<std::size_t>(i.factor_b())]);
}

void add_cvt(const Instruction& i, std::vector<std::string>& out) {
  if (i.cvt_rounding() != Rounding::none) out.emplace_back(kRoundings[static_cast<std::size_t>(i.cvt_rounding())]);
  if (i.cvt_ftz()) out.emplace_back("ftz");
  if (i.cvt_saturate()) out.emplace_back("sat");
  out.emplace_back(name_of(i.cvt_to()));
  out.emplace_back(name_of(i.cvt_from()));
}

}  // namespace

std::span<const std::string_view> rounding_names() {
  return kRoundings;
}
std::span<const std::string_view> comparison_names() {
  return kComparisons;
}
std::span<const std::string_view> combine_names() {
  return kCombines;
}
std::span<const std::string_view> test_names() {
  return kTests;
}
std::span<const std::string_view> atomic_names() {
  return kAtomics;
}
std::span<const std::string_view> space_names() {
  return kSpaces;
}
std::span<const std::string_view> width_names() {
  return kWidths;
}
std::span<const std::string_view> special_names() {
  return kSpecialNames;
}
std::span<const std::string_view> element_names() {
  return kElements;
}
std::span<const std::string_view> factor_names() {
  return kFactors;
}
bool set_matrix_size(Instruction& i, std::string_view size) {
  for (unsigned parts = 1; parts <= 4; parts *= 2) {
    Instruction with = i;
    with.mods |= (parts / 2) << 6U;
    const MatrixShape shape = matrix_shape(with);
    if (size == fmt::format("m{}n8k{}", shape.rows, shape.depth)) {
      i = with;
      return true;
    }
  }
  return false;
}
std::span<const std::string_view> prmt_names() {
  return kPrmtModes;
}

std::vector<Slot> operand_slots(const Instruction& i) {
  if (i.op == Op::BRA) return {Slot::target};
  if (i.op == Op::BSSY) return {Slot::meeting};
  if (i.op == Op::PLOP) return {Slot::predicates, Slot::plop};
  if (i.op == Op::S2R || i.op == Op::S2R64) return {Slot::destination, Slot::special};
  if (is_load(i.op)) return {Slot::destination, Slot::address};
  if (is_store(i.op)) return {Slot::address, Slot::value};
  if (is_atomic(i.op)) {
    std::vector<Slot> slots = {Slot::destination, Slot::atomic_address, Slot::b};
    if (i.atomic_op() == AtomicOp::cas) slots.push_back(Slot::c);
    return slots;
  }
  if (is_accumulate(i.op)) return {Slot::destination, Slot::atomic_address, Slot::sub_predicate, Slot::b};
  if (i.op == Op::TEX_1D) return {Slot::destination, Slot::atomic_address, Slot::b};
  if (i.op == Op::TEX_2D) return {Slot::destination, Slot::atomic_address, Slot::b, Slot::c};
  if (is_tree_traverse(i.op)) return {Slot::destination, Slot::a, Slot::sub_predicate, Slot::b};
  const OperationInfo& operation = info(i.op);
  std::vector<Slot> slots;
  if (operation.dst == OperandKind::p) {
    slots.push_back(Slot::predicates);
  } else if (operation.dst != OperandKind::none) {
    slots.push_back(Slot::destination);
  }
  if (operation.a != OperandKind::none) slots.push_back(Slot::a);
  if (operation.b != OperandKind::none) slots.push_back(Slot::b);
  if (operation.c != OperandKind::none) slots.push_back(Slot::c);
  if (operation.d != OperandKind::none) slots.push_back(Slot::d);
  if (sub_form(i.op) == SubForm::predicate) slots.push_back(Slot::sub_predicate);
  switch (modifier_form(i.op)) {
    case ModifierForm::setp:
      slots.push_back(Slot::combine);
      break;
    case ModifierForm::carry:
      slots.push_back(Slot::carry_in);
      break;
    case ModifierForm::lop3:
      slots.push_back(Slot::table);
      break;
    default:
      break;
  }
  return slots;
}

bool suffixes_before_type(Op op) {
  if (op == Op::SETP_H) return false;
  switch (modifier_form(op)) {
    case ModifierForm::floating:
    case ModifierForm::setp:
    case ModifierForm::bfind:
      return true;
    default:
      return sub_form(op) == SubForm::test;
  }
}

std::vector<std::string> suffixes(const Instruction& i) {
  std::vector<std::string> out;
  switch (sub_form(i.op)) {
    case SubForm::comparison:
      out.emplace_back(kComparisons[i.c]);
      break;
    case SubForm::test:
      out.emplace_back(kTests[i.c]);
      break;
    case SubForm::space:
      out.emplace_back(kSpaces[i.c]);
      break;
    case SubForm::memory:
      if (i.op == Op::LD_MATRIX) {
        out.push_back(fmt::format("x{}", i.matrices()));
        if (i.transposed()) out.emplace_back("trans");
        break;
      }
      if (i.vector() > 1) out.push_back(fmt::format("v{}", i.vector()));
      out.emplace_back(kWidths[static_cast<std::size_t>(i.width())]);
      if (i.row_hint()) out.emplace_back(is_copy(i.op) ? "past_l1" : "hint");
      break;
    default:
      break;
  }
  if (i.immediate) return out;
  switch (modifier_form(i.op)) {
    case ModifierForm::floating:
      add_floating(i, out);
      break;
    case ModifierForm::cvt:
      add_cvt(i, out);
      break;
    case ModifierForm::setp:
      if (i.setp_ftz()) out.emplace_back("ftz");
      if (i.op == Op::SETP_H) add_half_format(i, out);
      break;
    case ModifierForm::half:
      add_half(i, out);
      add_half_format(i, out);
      break;
    case ModifierForm::prmt:
      if (i.prmt_mode() != 0) out.emplace_back(kPrmtModes[i.prmt_mode()]);
      break;
    case ModifierForm::bfind:
      if (i.bfind_shift_amount()) out.emplace_back("shiftamt");
      break;
    case ModifierForm::element:
      out.emplace_back(kElements[i.mods & 3U]);
      break;
    case ModifierForm::atomic:
      out.emplace_back(kAtomics[static_cast<std::size_t>(i.atomic_op())]);
      out.emplace_back(name_of(i.atomic_type()));
      break;
    case ModifierForm::matrix:
      add_matrix(i, out);
      break;
    case ModifierForm::texture:
      if (i.texture_channels() > 1) out.push_back(fmt::format("v{}", i.texture_channels()));
      out.emplace_back(i.texture_real() ? "f32" : "s32");
      break;
    default:
      break;
  }
  return out;
}

namespace {

// "[B0-2---:R1:W-:-:S04] ", as disassemblers of GPUs' control bits have it (CuAssembler): counters to wait for, counter
// of operands, of results, yield, stall count.
std::string control_text(const ControlBits& control) {
  std::string text = "[B";
  for (unsigned counter = 0; counter != ControlBits::kCounters; ++counter) {
    text += ((control.wait >> counter) & 1U) != 0 ? static_cast<char>('0' + counter) : '-';
  }
  const auto counter = [](unsigned number) {
    return number == ControlBits::kNoCounter ? '-' : static_cast<char>('0' + number);
  };
  return text + fmt::format(":R{}:W{}:{}:S{:02}] ", counter(control.read), counter(control.write),
                            control.yield ? 'Y' : '-', control.stall);
}

}  // namespace

std::string disassemble(const Instruction& given) {
  const Instruction i = canonical(given);
  if (const std::string_view reason = why_malformed(i); !reason.empty()) {
    return fmt::format("<malformed: {}>", reason);
  }
  std::string text;
  if (i.control.there) text = control_text(i.control);
  if (i.uniform) text += "{uniform} ";
  if (i.subdivides) text += "{subdivides} ";
  if (i.past_scratchpad) text += "{past_scratchpad} ";
  if (i.yields) text += "{yields} ";
  if (!i.guard.always()) text += fmt::format("@{} ", predicate_text(i.guard));
  std::string_view mnemonic = info(i.op).mnemonic;
  std::string_view type;
  if (suffixes_before_type(i.op)) {
    const std::size_t dot = mnemonic.rfind('.');
    type = mnemonic.substr(dot);
    mnemonic = mnemonic.substr(0, dot);
  }
  text += mnemonic;
  for (const std::string& suffix : suffixes(i)) text += "." + suffix;
  text += type;
  std::string_view separator = " ";
  for (const Slot slot : operand_slots(i)) {
    const std::string operand = slot_text(i, slot);
    if (operand.empty()) continue;
    text += separator;
    text += operand;
    separator = ", ";
  }
  return text;
}

}  // namespace heddle::isa
