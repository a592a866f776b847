// The machine operations that handlers write: immediates, guards, pairs.
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

// Does a constant fit the immediate field as operand b of its type? (isa/operations.inc: 64-bit integers are
// sign-extended, a double is its high word with a zero low word.)
std::optional<std::uint32_t> immediate_of(const Value& value) {
  const auto low = static_cast<std::uint32_t>(value.bits);
  if (isa::size_of(value.type) < 8) return low;
  if (value.type == Type::f64) {
    if (low != 0) return std::nullopt;
    return static_cast<std::uint32_t>(value.bits >> 32U);
  }
  const auto as_signed = static_cast<std::int64_t>(value.bits);
  if (as_signed != static_cast<std::int32_t>(as_signed)) return std::nullopt;
  return low;
}

bool faults(Op op) {
  switch (op) {
    case Op::DIV_S:
    case Op::DIV_U:
    case Op::REM_S:
    case Op::REM_U:
    case Op::DIV_S64:
    case Op::DIV_U64:
    case Op::REM_S64:
    case Op::REM_U64:
      return true;
    default:
      return false;
  }
}

constexpr std::size_t kMaxItems = std::size_t{1} << 20U;

}  // namespace

void Selector::write(IrInstruction instruction) {
  const isa::Unit unit = isa::info(instruction.op).unit;
  bool effect = faults(instruction.op) || instruction.op == Op::PRINT || instruction.op == Op::PROGRESS ||
                isa::is_heap(instruction.op) || unit == isa::Unit::memory || unit == isa::Unit::control ||
                unit == isa::Unit::barrier || unit == isa::Unit::warp || unit == isa::Unit::tensor;
  if (instruction.op == Op::ISSPACEP || instruction.op == Op::ISSPACEP_E) effect = false;
  for (const VReg reg : {instruction.dst, instruction.p, instruction.q}) effect = effect || named_register(reg);
  if (instruction.op == Op::MOV) {  // the halves of an unpacked pair
    for (const VReg reg : instruction.elements) effect = effect || named_register(reg);
  }
  if (effect && instruction.guard.reg == kNone) instruction.guard = guard_;
  if (unit == isa::Unit::control || unit == isa::Unit::barrier) together_.reset();
  if (statement_ != nullptr) instruction.at = library_call_ ? *library_call_ : statement_->at;
  if (out_.items.size() >= kMaxItems) {
    refuse("kernel '" + out_.name + "' grows beyond a million instructions when its calls are inlined",
           "turn repeated calls into loops");
  }
  out_.items.push_back({false, 0, std::move(instruction)});
}

void Selector::emit(Op op, VReg dst, const Value& a, const Value& b, const Value& c, std::uint32_t mods,
                    const VPred& guard) {
  IrInstruction instruction;
  instruction.op = op;
  instruction.guard = guard;
  instruction.dst = dst;
  instruction.mods = mods;
  instruction.a = in_register(a);
  std::optional<std::uint32_t> imm;
  // The immediate form has no modifiers; a table of lop3 is one even where it is 0.
  if (b.constant && mods == 0 && op != Op::LOP3) imm = immediate_of(b);
  if (imm) {
    instruction.immediate = true;
    instruction.imm = *imm;
  } else {
    instruction.b = in_register(b);
  }
  instruction.c = in_register(c);
  write(std::move(instruction));
}

void Selector::convert(VReg dst, Type to, const Value& from, isa::Rounding rounding, bool ftz, bool saturate) {
  emit(Op::CVT, dst, {}, Value::of(in_register(from), from.type), {},
       isa::cvt_mods(to, from.type, rounding, ftz, saturate));
}

void Selector::pack(VReg dst, VReg low, VReg high) {
  IrInstruction instruction;
  instruction.op = Op::MOV64;
  instruction.dst = dst;
  instruction.elements = {low, high};
  write(std::move(instruction));
}

void Selector::unpack(VReg low, VReg high, VReg pair) {
  IrInstruction instruction;
  instruction.op = Op::MOV;
  instruction.a = pair;
  instruction.elements = {low, high};
  write(std::move(instruction));
}

VReg Selector::low_half(VReg pair) {
  if (pair == kNone) return kNone;
  const VReg low = temp(Type::b32);
  unpack(low, kNone, pair);
  return low;
}

void Selector::plop(VReg p, const VPred& a, isa::BoolOp op, const VPred& b) {
  IrInstruction instruction;
  instruction.op = Op::PLOP;
  instruction.p = p;
  instruction.pa = a;
  instruction.pb = b;
  instruction.mods = static_cast<std::uint32_t>(op) << 8U;
  write(std::move(instruction));
}

void Selector::setp(const Compare& compare, VReg p, VReg q, Value a, Value b) {
  isa::Comparison comparison = compare.comparison;
  if (a.constant && !b.constant) {
    using isa::Comparison;
    std::swap(a, b);
    switch (comparison) {
      case Comparison::lt:
        comparison = Comparison::gt;
        break;
      case Comparison::le:
        comparison = Comparison::ge;
        break;
      case Comparison::gt:
        comparison = Comparison::lt;
        break;
      case Comparison::ge:
        comparison = Comparison::le;
        break;
      case Comparison::ltu:
        comparison = Comparison::gtu;
        break;
      case Comparison::leu:
        comparison = Comparison::geu;
        break;
      case Comparison::gtu:
        comparison = Comparison::ltu;
        break;
      case Comparison::geu:
        comparison = Comparison::leu;
        break;
      default:
        break;
    }
  }
  IrInstruction instruction;
  instruction.op = compare.op;
  instruction.p = p;
  instruction.q = q;
  instruction.sub = static_cast<std::uint8_t>(comparison);
  instruction.a = in_register(a);
  instruction.mods = static_cast<std::uint32_t>(compare.combine) | (compare.ftz ? 64U : 0U) | compare.format;
  instruction.pa = compare.with;
  std::optional<std::uint32_t> imm;
  if (b.constant && instruction.mods == 0) imm = immediate_of(b);
  if (imm) {
    instruction.immediate = true;
    instruction.imm = *imm;
  } else {
    instruction.b = in_register(b);
  }
  write(std::move(instruction));
}

void Selector::select(VReg dst, const VPred& p, const Value& a, const Value& b) {
  const bool wide = is_wide(a.type);
  const Type type = wide ? Type::b64 : Type::b32;
  VPred which = p;
  Value yes = a.as(type);
  Value no = b.as(type);
  // Only b may be an immediate; a zero needs none, it is RZ.
  if (yes.constant && (!no.constant || no.bits == 0)) {
    std::swap(yes, no);
    which.negated = !which.negated;
  }
  IrInstruction instruction;
  instruction.op = wide ? Op::SEL64 : Op::SEL;
  instruction.dst = dst;
  instruction.pa = which;
  instruction.a = in_register(yes);
  const auto imm = no.constant && no.bits != 0 ? immediate_of(no) : std::nullopt;
  if (imm) {
    instruction.immediate = true;
    instruction.imm = *imm;
  } else {
    instruction.b = in_register(no);
  }
  write(std::move(instruction));
}

void Selector::load(Op op, VReg dst, VReg base, std::int32_t offset, isa::Width width) {
  IrInstruction instruction;
  instruction.op = op;
  instruction.a = base;
  instruction.immediate = true;
  instruction.imm = static_cast<std::uint32_t>(offset);
  instruction.sub = isa::memory_sub(width, 1);
  instruction.elements = {dst};
  write(std::move(instruction));
}

void Selector::special(VReg dst, isa::Special special, bool wide) {
  using isa::Special;
  switch (special) {
    case Special::laneid:
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
      note_warp_operation();
      break;
    case Special::envreg1:
    case Special::envreg2:
      out_.kernel.reads_grid_workspace = true;
      break;
    default:
      break;
  }
  emit_b(wide ? Op::S2R64 : Op::S2R, dst, Value::imm(static_cast<std::uint64_t>(special), Type::b32));
}

void Selector::branch(LabelId target, const VPred& guard) {
  IrInstruction instruction;
  instruction.op = Op::BRA;
  instruction.guard = guard;
  instruction.target = target;
  write(std::move(instruction));
}

void Selector::bind(LabelId label) {
  together_.reset();
  IrBlockItem item;
  item.is_label = true;
  item.label = label;
  item.keep_loop = keeps_loops_;
  out_.items.push_back(std::move(item));
}

void Selector::guard_by_branch() {
  if (guard_.reg == kNone) return;
  if (!after_) after_ = new_label();
  const VPred skip = {guard_.reg, !guard_.negated};
  guard_ = {};
  branch(*after_, skip);
}

}  // namespace heddle::ptx
