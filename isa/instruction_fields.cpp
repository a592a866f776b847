#include "isa/instruction_fields.hpp"

#include "isa/result_form.hpp"

namespace heddle::isa {

namespace {

constexpr bool within(Op op, Op first, Op last) {
  return op >= first && op <= last;
}
constexpr bool is_shfl(Op op) {
  return within(op, Op::SHFL_UP, Op::SHFL_IDX);
}

bool is_float_type(Type type) {
  return type == Type::f16 || type == Type::f32 || type == Type::f64;
}
bool is_integer_rounding(Rounding rounding) {
  return rounding >= Rounding::rni;
}

std::string_view malformed_cvt(const Instruction& i) {
  if (i.cvt_to() > Type::f64 || i.cvt_from() > Type::f64) return "cvt converts u8..s64, f16, f32 and f64 only";
  const Rounding rounding = i.cvt_rounding();
  if (rounding > Rounding::rpi) return "cvt has an unknown rounding";
  if (rounding == Rounding::none) return {};
  const bool to_float = is_float_type(i.cvt_to());
  const bool from_float = is_float_type(i.cvt_from());
  if (!to_float && !from_float) return "cvt between integers takes no rounding";
  const bool integral = from_float && (!to_float || i.cvt_to() == i.cvt_from());
  if (integral != is_integer_rounding(rounding)) {
    return integral ? "cvt to an integral value rounds with rni, rzi, rmi or rpi"
                    : "cvt to another floating-point type rounds with rn, rz, rm or rp";
  }
  return {};
}

std::string_view malformed_atomic(const Instruction& i) {
  const AtomicOp op = i.atomic_op();
  const Type type = i.atomic_type();
  if (op > AtomicOp::after_copies) return "unknown atomic operation";
  if (is_of_barrier_object(op)) {
    return type == Type::u64 && i.op == Op::ATOM_SHARED ? std::string_view{}
                                                        : "a barrier object is a u64 in shared memory";
  }
  if (op == AtomicOp::add_halves) {
    return type == Type::b32 ? std::string_view{} : "an atomic addition of halves works on b32";
  }
  if (is_float_type(type)) {
    return op == AtomicOp::add ? std::string_view{} : "a floating-point atomic can only add";
  }
  if (type == Type::b16) return op == AtomicOp::cas ? std::string_view{} : "an atomic on 16 bits is a cas, or adds f16";
  switch (type) {
    case Type::u32:
      return {};
    case Type::s32:
    case Type::u64:
    case Type::s64:
    case Type::b32:
    case Type::b64:
      break;
    default:
      return "atomics work on 32- and 64-bit types, on f16 and b16";
  }
  if (op == AtomicOp::inc || op == AtomicOp::dec) return "atomic inc and dec work on u32";
  if ((op == AtomicOp::min || op == AtomicOp::max) && (type == Type::b32 || type == Type::b64)) {
    return "atomic min and max need a signed or unsigned type";
  }
  return {};
}

constexpr std::string_view kNoFlush = "bf16 is not flushed to zero";
std::string_view malformed_half(const Instruction& i) {
  if (i.op == Op::CVT_PACK) {
    return i.float_rounding() <= Rounding::rz ? std::string_view{} : "halves are packed with rn or rz";
  }
  if (i.bfloat() && i.ftz()) return kNoFlush;
  if (i.bfloat() && i.saturate()) return "bf16 does not saturate";
  return i.saturate() && i.relu() ? "sat and relu exclude each other" : std::string_view{};
}

std::string_view malformed_matrix(const Instruction& i) {
  const auto integer = [](Factor factor) { return factor == Factor::s8 || factor == Factor::u8; };
  const Factor a = i.factor_a(), b = i.factor_b();
  if (a > Factor::f64 || b > Factor::f64 || ((i.mods >> 6U) & 3U) == 3) return "unknown elements or size of matrices";
  if (a != b && !(integer(a) && integer(b))) return "the factors of a product have elements of one kind";
  if (i.half_sum() && a != Factor::f16) return "only products of f16 have a sum of f16";
  if (i.clamps_sum() && !integer(a)) return "only sums of integers are clamped";
  if (!integer(a) && (i.matrix_parts() == 1) != (a == Factor::f64)) return "no such matrices of these elements";
  return {};
}

std::string_view malformed_modifiers(const Instruction& i) {
  if (i.immediate || i.op == Op::BRA)
    return i.mods == 0 ? std::string_view{} : "bra and immediate forms have no modifiers";
  if ((i.mods & ~modifier_mask(i.op)) != 0) return "the operation does not have this modifier";
  switch (modifier_form(i.op)) {
    case ModifierForm::cvt:
      return malformed_cvt(i);
    case ModifierForm::atomic:
      return malformed_atomic(i);
    case ModifierForm::setp:
      if (i.setp_combine() == BoolOp::none && !i.setp_predicate().always()) return "setp combines with no predicate";
      return i.op == Op::SETP_H && i.bfloat() && i.setp_ftz() ? kNoFlush : std::string_view{};
    case ModifierForm::plop:
      if (i.plop_op() == BoolOp::none && !i.plop_b().always()) return "plop combines with no predicate";
      return {};
    case ModifierForm::half:
      return malformed_half(i);
    case ModifierForm::matrix:
      return malformed_matrix(i);
    case ModifierForm::prmt:
      return i.prmt_mode() <= 6 ? std::string_view{} : "unknown prmt mode";
    case ModifierForm::texture:
      return (i.mods >> 1U) != 3 ? std::string_view{} : "a fetch yields 1, 2 or 4 channels";
    default:
      return {};
  }
}

unsigned bytes_copied(const Instruction& i) {
  return i.width() == Width::b32 ? 4 * i.vector() : i.width() == Width::b64 && i.vector() == 1 ? 8 : 0;
}

std::string_view malformed_sub(const Instruction& i) {
  switch (sub_form(i.op)) {
    case SubForm::none:
      return i.c == kRZ ? std::string_view{} : "the operation has no operand c";
    case SubForm::reg:
      return register_fits(i.c, c_registers(i)) ? std::string_view{} : "register c is out of range or not aligned";
    case SubForm::comparison: {
      const bool floating = i.op == Op::SETP_F32 || i.op == Op::SETP_F64 || i.op == Op::SETP_H;
      if (i.op == Op::SETP_U32 && i.comparison() == Comparison::any) return {};
      return i.c <= static_cast<unsigned>(floating ? Comparison::nan : Comparison::ge) ? std::string_view{}
                                                                                       : "unknown comparison";
    }
    case SubForm::predicate:
      return i.c < 16 ? std::string_view{} : "unknown predicate operand";
    case SubForm::space:
      return i.c <= static_cast<unsigned>(Space::constant) ? std::string_view{} : "isspacep knows no such space";
    case SubForm::test:
      return i.c <= static_cast<unsigned>(TestKind::subnormal) ? std::string_view{} : "unknown test";
    case SubForm::memory:
      if (i.c > 63 || i.width() > Width::b64 || ((i.c >> 3U) & 3U) == 3) return "unknown element width or vector";
      if (i.op == Op::LD_MATRIX && i.width() != Width::b32) return "a lane gets words of a matrix";
      if (is_bulk_copy(i.op))
        return i.c == memory_sub(Width::b32, 4) ? std::string_view{} : "a copy in bulk has pieces of 16 bytes";
      if (is_copy(i.op)) return bytes_copied(i) >= 4 ? std::string_view{} : "a copy has 4, 8 or 16 bytes";
      return is_store(i.op) && i.row_hint() ? "stores have no row hint" : std::string_view{};
  }
  return {};
}

std::string_view malformed_destination(const Instruction& i) {
  if (info(i.op).dst == OperandKind::p) {
    if (i.dst > 63) return "unknown predicate result";
    return has_second_predicate(i.op) || i.pred_q() == kPT ? std::string_view{} : "the operation has one result";
  }
  const unsigned registers = is_store(i.op) ? stored_registers(i) : destination_registers(i);
  if (registers == 0) return i.dst == kRZ ? std::string_view{} : "the operation has no destination";
  const bool vector = sub_form(i.op) == SubForm::memory && i.vector() > 1 && !is_copy(i.op);
  return register_fits(i.dst, registers, vector) ? std::string_view{} : "the register is out of range or not aligned";
}

std::string_view malformed_branch(const Instruction& i) {
  if (i.immediate || i.imm != 0 || i.dst != kRZ || i.a != kRZ || i.b != kRZ || i.c != kRZ || i.d != kRZ) {
    return "bra has no register operands";
  }
  if (i.target > kMaxPc) return "branch target beyond the largest PC";
  return i.reconvergence <= kMaxPc || i.reconvergence == kNoReconvergence ? std::string_view{}
                                                                          : "re-convergence beyond the largest PC";
}

std::string_view malformed_operands(const Instruction& i) {
  if (!register_fits(i.a, a_registers(i))) return "register a is out of range, not aligned or not used";
  if (i.immediate) {
    if (i.b != kRZ || i.d != kRZ) return "the immediate form has neither register b nor d";
    if (!is_load(i.op) && !is_store(i.op) && !accepts_immediate(i)) return "b cannot be an immediate here";
    if (i.op == Op::BSSY && i.imm > kMaxPc) return "meeting beyond the largest PC";
    const bool special = i.op == Op::S2R || i.op == Op::S2R64;
    return special && i.imm >= kSpecials ? "unknown special register" : std::string_view{};
  }
  if (i.imm != 0) return "an immediate without the immediate form";
  if (is_load(i.op) || is_store(i.op) || i.op == Op::S2R || i.op == Op::S2R64 || i.op == Op::BSSY ||
      i.op == Op::ASYNC_WAIT)
    return "the operation needs an immediate";
  if (!register_fits(i.b, b_registers(i))) return "register b is out of range, not aligned or not used";
  if (!register_fits(i.d, d_registers(i))) return "register d is out of range, not aligned or not used";
  return {};
}

}  // namespace

bool register_fits(unsigned reg, unsigned registers, bool vector) {
  if (reg == kRZ) return !vector;
  return registers != 0 && reg % registers == 0 && reg + registers <= kRegisters;
}

SubForm sub_form(Op op) {
  if (is_setp(op)) return SubForm::comparison;
  if (is_load(op) || is_store(op)) return SubForm::memory;
  if (is_accumulate(op)) return SubForm::predicate;
  if (info(op).c != OperandKind::none) return SubForm::reg;
  switch (op) {
    case Op::SEL:
    case Op::SEL64:
    case Op::VOTE_ALL:
    case Op::VOTE_ANY:
    case Op::VOTE_UNI:
    case Op::BALLOT:
    case Op::BAR_RED_POPC:
    case Op::BAR_RED_AND:
    case Op::BAR_RED_OR:
    case Op::TREE_TRAVERSE:
    case Op::TREE_TRAVERSE_SIZE:
      return SubForm::predicate;
    case Op::TESTP_F32:
    case Op::TESTP_F64:
      return SubForm::test;
    case Op::ISSPACEP:
    case Op::ISSPACEP_E:
      return SubForm::space;
    default:
      return SubForm::none;
  }
}

ModifierForm modifier_form(Op op) {
  if (is_setp(op)) return ModifierForm::setp;
  if (is_atomic(op)) return ModifierForm::atomic;
  if (is_accumulate(op)) return ModifierForm::element;
  if (is_texture(op)) return ModifierForm::texture;
  if (is_shfl(op) || op == Op::MATCH_ALL || op == Op::MATCH_ALL64 || op == Op::ELECT) {
    return ModifierForm::predicate_out;
  }
  if (within(op, Op::FADD, Op::DRSQRT)) return modifier_mask(op) == 0 ? ModifierForm::none : ModifierForm::floating;
  if (info(op).unit == Unit::half || op == Op::CVT_PACK) return ModifierForm::half;
  if (op == Op::MMA) return ModifierForm::matrix;
  switch (op) {
    case Op::CVT:
      return ModifierForm::cvt;
    case Op::PLOP:
      return ModifierForm::plop;
    case Op::ADDC:
    case Op::SUBC:
    case Op::ADDC64:
    case Op::SUBC64:
      return ModifierForm::carry;
    case Op::LOP3:
      return ModifierForm::lop3;
    case Op::PRMT:
      return ModifierForm::prmt;
    case Op::BFIND_S:
    case Op::BFIND_U:
    case Op::BFIND_S64:
    case Op::BFIND_U64:
      return ModifierForm::bfind;
    default:
      return ModifierForm::none;
  }
}

std::uint32_t modifier_mask(Op op) {
  switch (op) {
    case Op::FADD:
    case Op::FSUB:
    case Op::FMUL:
    case Op::FFMA:
      return kRoundingBits | kFtzBit | kSaturateBit;
    case Op::FMIN:
    case Op::FMAX:
      return kFtzBit | kNanBit;
    case Op::FABS:
    case Op::FNEG:
      return kFtzBit;
    case Op::FDIV:
    case Op::FRCP:
    case Op::FSQRT:
    case Op::DRCP:
      return kRoundingBits | kFtzBit | kApproximateBit;
    case Op::FRSQRT:
    case Op::FSIN:
    case Op::FCOS:
    case Op::FEX2:
    case Op::FLG2:
    case Op::FTANH:
    case Op::DRSQRT:
      return kFtzBit | kApproximateBit;
    case Op::DADD:
    case Op::DSUB:
    case Op::DMUL:
    case Op::DFMA:
    case Op::DDIV:
    case Op::DSQRT:
      return kRoundingBits;
    case Op::FCOPYSIGN:
    case Op::DMIN:
    case Op::DMAX:
    case Op::DABS:
    case Op::DNEG:
    case Op::DCOPYSIGN:
      return 0;
    case Op::SETP_F32:
      return 0x7F;
    case Op::SETP_H:
      return 0x7F | kHalfFormat;
    case Op::HADD:
    case Op::HSUB:
    case Op::HMUL:
      return kFtzBit | kSaturateBit | kHalfFormat;
    case Op::HFMA:
      return kFtzBit | kSaturateBit | kReluBit | kHalfFormat;
    case Op::HMIN:
    case Op::HMAX:
      return kFtzBit | kNanBit | kMagnitudesBit | kHalfFormat;
    case Op::HABS:
    case Op::HNEG:
      return kFtzBit | kHalfFormat;
    case Op::CVT_PACK:
      return kRoundingBits | kReluBit | kBfloatBit;
    default:
      break;
  }
  switch (modifier_form(op)) {
    case ModifierForm::cvt:
      return 0x3FFF;
    case ModifierForm::setp:
      return 0x3F;
    case ModifierForm::plop:
      return 0x3FF;
    case ModifierForm::carry:
      return 0x7F;
    case ModifierForm::predicate_out:
    case ModifierForm::prmt:
    case ModifierForm::texture:
      return 7;
    case ModifierForm::lop3:
    case ModifierForm::atomic:
      return 0xFF;
    case ModifierForm::bfind:
      return 1;
    case ModifierForm::element:
      return 3;
    case ModifierForm::matrix:
      return 0x3FF;
    default:
      return 0;
  }
}

bool accepts_immediate(const Instruction& instruction) {
  const OperandKind b = info(instruction.op).b;
  if (b != OperandKind::r && b != OperandKind::w) return false;
  if (instruction.d != kRZ || instruction.op == Op::BFI || instruction.op == Op::BFI64) return false;
  Instruction form = instruction;
  form.immediate = true;
  switch (modifier_form(instruction.op)) {
    case ModifierForm::carry:
    case ModifierForm::lop3:
    case ModifierForm::texture:
      return false;
    default:
      return canonical(form).mods == 0;
  }
}

bool accepts_uniform(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::BRA:
    case Op::LD_CONST:
    case Op::LD_PARAM:
      return true;
    case Op::ASYNC_COMMIT:
    case Op::ASYNC_WAIT:
    case Op::PRINT:
    case Op::HEAP_ALLOC:
    case Op::HEAP_ALLOC_E:
    case Op::HEAP_FREE:
    case Op::HEAP_FREE_E:
      return false;
    case Op::S2R:
    case Op::S2R64:
      switch (static_cast<Special>(instruction.imm)) {
        case Special::ntid_x:
        case Special::ntid_y:
        case Special::ntid_z:
        case Special::ctaid_x:
        case Special::ctaid_y:
        case Special::ctaid_z:
        case Special::nctaid_x:
        case Special::nctaid_y:
        case Special::nctaid_z:
        case Special::gridid:
        case Special::dynamic_smem_size:
        case Special::total_smem_size:
        case Special::is_cooperative:
        case Special::envreg1:
        case Special::envreg2:
          return true;
        default:
          return false;
      }
    default: {
      const Unit unit = info(instruction.op).unit;
      return unit == Unit::alu || unit == Unit::complex || unit == Unit::half;
    }
  }
}

bool carries_past_scratchpad(Op op) {
  return op == Op::BRA || info(op).unit == Unit::barrier;
}

Instruction canonical(const Instruction& instruction) {
  Instruction out = instruction;
  if (is_load(out.op) || is_store(out.op)) out.immediate = true;
  switch (modifier_form(out.op)) {
    case ModifierForm::setp:
      if (out.setp_combine() == BoolOp::none) {
        out.mods = (out.mods & ~0x3CU) | Pred{}.bits() << 2U;
        if (out.immediate && (out.mods & ~0x3CU) == 0) out.mods = 0;
      }
      break;
    case ModifierForm::plop:
      if (out.plop_op() == BoolOp::none) out.mods = (out.mods & ~0xF0U) | Pred{}.bits() << 4U;
      break;
    case ModifierForm::predicate_out:
      if (out.immediate && out.mods == kPT) out.mods = 0;
      break;
    default:
      break;
  }
  return out;
}

namespace {

std::string_view malformed_control(const ControlBits& control) {
  if (!control.there) {
    return control == ControlBits{} ? std::string_view{} : "control bits of an instruction that has none";
  }
  const auto is_counter = [](unsigned counter) {
    return counter < ControlBits::kCounters || counter == ControlBits::kNoCounter;
  };
  if (!is_counter(control.write) || !is_counter(control.read)) return "there is no such dependence counter";
  if ((control.wait >> ControlBits::kCounters) != 0) return "the wait mask names a counter that there is not";
  return control.stall <= ControlBits::kMostStall ? std::string_view{} : "a stall count has four bits";
}

}  // namespace

std::string_view why_malformed(const Instruction& i) {
  if (static_cast<unsigned>(i.op) >= kOperations) return "unknown operation";
  if (i.guard.reg > kPT) return "unknown guard";
  if (i.uniform && !accepts_uniform(i)) return "the operation cannot be marked as uniform";
  if (i.past_scratchpad && !carries_past_scratchpad(i.op))
    return "only bra and barriers are marked as past the scratchpad";
  if (const std::string_view reason = malformed_control(i.control); !reason.empty()) return reason;
  if (const std::string_view reason = malformed_modifiers(i); !reason.empty()) return reason;
  if (i.op == Op::BRA) return malformed_branch(i);
  if (i.subdivides) return "only bra is marked as one that may subdivide a warp";
  if (i.yields) return "only bra is marked as one at which threads let others run";
  if (i.target != 0 || i.reconvergence != kNoReconvergence) return "only bra has a target";
  if (const std::string_view reason = malformed_sub(i); !reason.empty()) return reason;
  if (const std::string_view reason = malformed_destination(i); !reason.empty()) return reason;
  return malformed_operands(i);
}

}  // namespace heddle::isa
