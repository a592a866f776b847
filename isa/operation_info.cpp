// The operation table as data: operands, units and the groups that the operations form.
#include <array>

#include "isa/instruction.hpp"

namespace heddle::isa {

namespace {

namespace kinds {
inline constexpr OperandKind none = OperandKind::none;
inline constexpr OperandKind r = OperandKind::r;
inline constexpr OperandKind w = OperandKind::w;
inline constexpr OperandKind p = OperandKind::p;
inline constexpr OperandKind x = OperandKind::x;
}  // namespace kinds

constexpr std::array<OperationInfo, kOperations> make_table() {
  using namespace kinds;
  return {{
#define HEDDLE_OPERATION(name, mnemonic, dst, a, b, c, d, unit) {mnemonic, dst, a, b, c, d, Unit::unit},
#include "isa/operations.inc"
#undef HEDDLE_OPERATION
  }};
}

constexpr std::array<OperationInfo, kOperations> kTable = make_table();

struct TypeInfo {
  std::string_view name;
  unsigned bytes;
};

constexpr std::array<TypeInfo, 16> kTypes = {{{"u8", 1},
                                              {"s8", 1},
                                              {"u16", 2},
                                              {"s16", 2},
                                              {"u32", 4},
                                              {"s32", 4},
                                              {"u64", 8},
                                              {"s64", 8},
                                              {"f16", 2},
                                              {"f32", 4},
                                              {"f64", 8},
                                              {"b8", 1},
                                              {"b16", 2},
                                              {"b32", 4},
                                              {"b64", 8},
                                              {"pred", 1}}};
static_assert(static_cast<std::size_t>(Type::pred) + 1 == kTypes.size());

// Operations of one kind stand together in the table.
constexpr bool between(Op op, Op first, Op last) {
  return op >= first && op <= last;
}

unsigned registers_of(OperandKind kind) {
  switch (kind) {
    case OperandKind::r:
      return 1;
    case OperandKind::w:
      return 2;
    default:
      return 0;
  }
}

unsigned registers_of(Type type) {
  return size_of(type) == 8 ? 2 : 1;
}

unsigned memory_registers(const Instruction& instruction) {
  return instruction.vector() * (instruction.width() == Width::b64 ? 2 : 1);
}

}  // namespace

const OperationInfo& info(Op op) {
  return kTable[static_cast<std::size_t>(op)];
}
unsigned size_of(Type type) {
  return kTypes[static_cast<std::size_t>(type)].bytes;
}
std::string_view name_of(Type type) {
  return kTypes[static_cast<std::size_t>(type)].name;
}

bool is_floating_point(const Instruction& instruction) {
  const OperationInfo& operation = info(instruction.op);
  if (operation.unit == Unit::half || instruction.op == Op::CVT_PACK) {
    return true;
  }
  if (instruction.op == Op::MMA) {
    return instruction.factor_a() != Factor::s8 && instruction.factor_a() != Factor::u8;
  }
  if (operation.unit != Unit::alu && operation.unit != Unit::complex) {
    return false;
  }
  if (instruction.op == Op::CVT) {
    const auto is_float = [](Type type) { return type == Type::f16 || type == Type::f32 || type == Type::f64; };
    return is_float(instruction.cvt_to()) || is_float(instruction.cvt_from());
  }
  const auto names = [&](std::string_view type) { return operation.mnemonic.find(type) != std::string_view::npos; };
  return names(".f16") || names(".f32") || names(".f64");
}

LaneKind lane_kind(const Instruction& instruction) {
  const OperationInfo& operation = info(instruction.op);
  if (operation.unit != Unit::alu || is_note(instruction.op)) {
    return LaneKind::other;
  }
  if (!is_floating_point(instruction)) {
    const bool multiplies = operation.mnemonic.starts_with("mul") || operation.mnemonic.starts_with("mad");
    return multiplies ? LaneKind::single_precision : LaneKind::integer;
  }
  const bool doubles = instruction.op == Op::CVT
                           ? instruction.cvt_to() == Type::f64 || instruction.cvt_from() == Type::f64
                           : operation.mnemonic.find(".f64") != std::string_view::npos;
  return doubles ? LaneKind::double_precision : LaneKind::single_precision;
}

bool is_conversion_or_count(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::CVT: {
      const Type to = instruction.cvt_to();
      const Type from = instruction.cvt_from();
      const auto is_float = [](Type type) { return type == Type::f32 || type == Type::f64; };
      const bool halves = to == Type::f16 || from == Type::f16;
      const bool rounds = to == from && instruction.cvt_rounding() != Rounding::none;
      return !halves && (is_float(to) || is_float(from)) && (to != from || rounds);
    }
    case Op::POPC:
    case Op::POPC64:
    case Op::CLZ:
    case Op::CLZ64:
    case Op::BFIND_S:
    case Op::BFIND_U:
    case Op::BFIND_S64:
    case Op::BFIND_U64:
    case Op::BREV:
    case Op::BREV64:
      return true;
    default:
      return false;
  }
}

bool is_load(Op op) {
  return between(op, Op::LD_GLOBAL, Op::LDV_GENERIC_E) || op == Op::LD_MATRIX;
}
bool is_store(Op op) {
  return between(op, Op::ST_GLOBAL, Op::ST_LOCAL) || is_copy(op);
}
bool is_copy(Op op) {
  return between(op, Op::CP_ASYNC, Op::BULK_COPY_E);
}
bool is_atomic(Op op) {
  return between(op, Op::ATOM_GLOBAL, Op::ATOM_SHARED);
}
bool is_accumulate(Op op) {
  return between(op, Op::COND_ACC_GLOBAL, Op::COND_ACC_SHARED);
}
bool is_vote(Op op) {
  return between(op, Op::VOTE_ALL, Op::BALLOT);
}
bool is_heap(Op op) {
  return between(op, Op::HEAP_ALLOC, Op::HEAP_FREE_E);
}
bool is_texture(Op op) {
  return op == Op::TEX_1D || op == Op::TEX_2D;
}
bool is_volatile(Op op) {
  return between(op, Op::LDV_GLOBAL, Op::LDV_GENERIC_E);
}

bool looks_at_lanes(Op op) {
  return info(op).unit == Unit::warp || is_accumulate(op) || is_matrix(op);
}

bool has_wide_address(Op op) {
  return (is_load(op) || is_store(op) || is_atomic(op) || is_accumulate(op) || op == Op::ISSPACEP_E) &&
         info(op).a == OperandKind::w;
}

Space space_of(Op op) {
  switch (op) {
    case Op::LD_GENERIC:
    case Op::LD_GENERIC_E:
    case Op::LDV_GENERIC:
    case Op::LDV_GENERIC_E:
    case Op::ST_GENERIC:
    case Op::ST_GENERIC_E:
    case Op::ATOM_GENERIC:
    case Op::ATOM_GENERIC_E:
      return Space::generic;
    case Op::LD_SHARED:
    case Op::LD_MATRIX:
    case Op::ST_SHARED:
    case Op::ATOM_SHARED:
    case Op::COND_ACC_SHARED:
      return Space::shared;
    case Op::LD_LOCAL:
    case Op::ST_LOCAL:
      return Space::local;
    case Op::LD_CONST:
      return Space::constant;
    case Op::LD_PARAM:
      return Space::param;
    default:
      return Space::global;
  }
}

unsigned elements_per_register(Factor factor) {
  switch (factor) {
    case Factor::f16:
    case Factor::bf16:
      return 2;
    case Factor::s8:
    case Factor::u8:
      return 4;
    case Factor::tf32:
    case Factor::f64:
      break;
  }
  return 1;
}

// Four lanes share a row of a, and a register holds neighbours in it; the second register is eight rows below, the
// third and fourth are further to the right.
MatrixShape matrix_shape(const Instruction& instruction) {
  const unsigned parts = instruction.matrix_parts();
  return {parts == 1 ? 8U : 16U, 4 * elements_per_register(instruction.factor_a()) * (parts == 4 ? 2 : 1)};
}

namespace {

unsigned factor_registers(const Instruction& instruction, unsigned parts) {
  return parts * (instruction.factor_a() == Factor::f64 ? 2 : 1);
}
// A lane has two neighbours of each eight rows.
unsigned sum_registers(const Instruction& instruction) {
  const unsigned elements = matrix_shape(instruction).rows / 4;
  return instruction.half_sum() ? elements / 2 : factor_registers(instruction, elements);
}

}  // namespace

unsigned destination_registers(const Instruction& instruction) {
  const OperandKind kind = info(instruction.op).dst;
  if (kind != OperandKind::x) return registers_of(kind);
  if (instruction.op == Op::CVT) return registers_of(instruction.cvt_to());
  if (is_atomic(instruction.op)) return registers_of(instruction.atomic_type());
  if (is_texture(instruction.op)) return instruction.texture_channels();
  if (instruction.op == Op::MMA) return sum_registers(instruction);
  return is_load(instruction.op) ? memory_registers(instruction) : 0;
}

unsigned a_registers(const Instruction& instruction) {
  if (instruction.op == Op::MMA) return factor_registers(instruction, instruction.matrix_parts());
  return registers_of(info(instruction.op).a);
}

unsigned b_registers(const Instruction& instruction) {
  const OperandKind kind = info(instruction.op).b;
  if (kind != OperandKind::x) return registers_of(kind);
  if (instruction.op == Op::MMA) return factor_registers(instruction, instruction.matrix_parts() == 4 ? 2 : 1);
  if (is_accumulate(instruction.op)) return instruction.element_bytes() == 8 ? 2 : 1;
  return registers_of(instruction.op == Op::CVT ? instruction.cvt_from() : instruction.atomic_type());
}

unsigned c_registers(const Instruction& instruction) {
  const OperandKind kind = info(instruction.op).c;
  if (kind != OperandKind::x) return registers_of(kind);
  if (instruction.op == Op::MMA) return sum_registers(instruction);
  return instruction.atomic_op() == AtomicOp::cas ? registers_of(instruction.atomic_type()) : 0;
}

unsigned d_registers(const Instruction& instruction) {
  return registers_of(info(instruction.op).d);
}

unsigned stored_registers(const Instruction& instruction) {
  if (is_bulk_copy(instruction.op)) return 4;
  if (is_copy(instruction.op)) return fills(instruction.op) ? 2 : 1;
  return is_store(instruction.op) ? memory_registers(instruction) : 0;
}

bool writes_predicate(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::ADDC:
    case Op::SUBC:
    case Op::ADDC64:
    case Op::SUBC64:
      return instruction.carry_out() != kPT;
    case Op::SHFL_UP:
    case Op::SHFL_DOWN:
    case Op::SHFL_BFLY:
    case Op::SHFL_IDX:
    case Op::MATCH_ALL:
    case Op::MATCH_ALL64:
    case Op::ELECT:
      return instruction.pred_out() != kPT;
    default:
      return info(instruction.op).dst == OperandKind::p && (instruction.pred_p() != kPT || instruction.pred_q() != kPT);
  }
}

}  // namespace heddle::isa
