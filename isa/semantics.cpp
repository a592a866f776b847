// Looking up lane functions, immediates, and the element-wise parts of memory operations.
#include "isa/semantics.hpp"

#include <array>
#include <bit>

#include "isa/barrier_object.hpp"
#include "isa/global_atomics.hpp"
#include "isa/lane_float.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa {

namespace lanes {

// Operations whose effect is not a function of lane values.
#define HEDDLE_NO_LANES(name)                                      \
  LaneFunction select_##name(const Instruction& /*instruction*/) { \
    return nullptr;                                                \
  }
HEDDLE_NO_LANES(S2R)
HEDDLE_NO_LANES(WARP_SYNC)
HEDDLE_NO_LANES(S2R64)
HEDDLE_NO_LANES(LD_GLOBAL)
HEDDLE_NO_LANES(LD_GLOBAL_E)
HEDDLE_NO_LANES(LD_GENERIC)
HEDDLE_NO_LANES(LD_GENERIC_E)
HEDDLE_NO_LANES(LD_SHARED)
HEDDLE_NO_LANES(LD_MATRIX)
HEDDLE_NO_LANES(LD_LOCAL)
HEDDLE_NO_LANES(LD_CONST)
HEDDLE_NO_LANES(LD_PARAM)
HEDDLE_NO_LANES(LDV_GLOBAL)
HEDDLE_NO_LANES(LDV_GLOBAL_E)
HEDDLE_NO_LANES(LDV_GENERIC)
HEDDLE_NO_LANES(LDV_GENERIC_E)
HEDDLE_NO_LANES(ST_GLOBAL)
HEDDLE_NO_LANES(ST_GLOBAL_E)
HEDDLE_NO_LANES(ST_GENERIC)
HEDDLE_NO_LANES(ST_GENERIC_E)
HEDDLE_NO_LANES(ST_SHARED)
HEDDLE_NO_LANES(ST_LOCAL)
HEDDLE_NO_LANES(ATOM_GLOBAL)
HEDDLE_NO_LANES(ATOM_GLOBAL_E)
HEDDLE_NO_LANES(ATOM_GENERIC)
HEDDLE_NO_LANES(ATOM_GENERIC_E)
HEDDLE_NO_LANES(ATOM_SHARED)
HEDDLE_NO_LANES(COND_ACC_GLOBAL)
HEDDLE_NO_LANES(COND_ACC_GLOBAL_E)
HEDDLE_NO_LANES(COND_ACC_SHARED)
HEDDLE_NO_LANES(TEX_1D)
HEDDLE_NO_LANES(TEX_2D)
HEDDLE_NO_LANES(MEMBAR)
HEDDLE_NO_LANES(BRA)
HEDDLE_NO_LANES(EXIT)
HEDDLE_NO_LANES(TRAP)
HEDDLE_NO_LANES(NOP)
HEDDLE_NO_LANES(BSSY)
HEDDLE_NO_LANES(BSYNC)
HEDDLE_NO_LANES(CP_ASYNC)
HEDDLE_NO_LANES(CP_ASYNC_E)
HEDDLE_NO_LANES(CP_ASYNC_FILL)
HEDDLE_NO_LANES(CP_ASYNC_FILL_E)
HEDDLE_NO_LANES(BULK_COPY)
HEDDLE_NO_LANES(BULK_COPY_E)
HEDDLE_NO_LANES(ASYNC_COMMIT)
HEDDLE_NO_LANES(ASYNC_WAIT)
HEDDLE_NO_LANES(BAR_SYNC)
HEDDLE_NO_LANES(BAR_ARRIVE)
HEDDLE_NO_LANES(BAR_RED_POPC)
HEDDLE_NO_LANES(BAR_RED_AND)
HEDDLE_NO_LANES(BAR_RED_OR)
HEDDLE_NO_LANES(BAR_GRID)
HEDDLE_NO_LANES(PRINT)
HEDDLE_NO_LANES(PROGRESS)
HEDDLE_NO_LANES(HEAP_ALLOC)
HEDDLE_NO_LANES(HEAP_ALLOC_E)
HEDDLE_NO_LANES(HEAP_FREE)
HEDDLE_NO_LANES(HEAP_FREE_E)
#undef HEDDLE_NO_LANES

}  // namespace lanes

namespace {

using Selector = LaneFunction (*)(const Instruction&);
constexpr std::array<Selector, kOperations> kSelectors = {
#define HEDDLE_OPERATION(name, mnemonic, dst, a, b, c, d, unit) &lanes::select_##name,
#include "isa/operations.inc"
#undef HEDDLE_OPERATION
};

bool is_double_operation(Op op) {
  return (op >= Op::DADD && op <= Op::DRSQRT) || op == Op::SETP_F64;
}

template <typename U>
U integer_step(AtomicOp op, Type type, U old, U b, U c) {
  using S = std::make_signed_t<U>;
  const bool is_signed = type == Type::s32 || type == Type::s64;
  const bool less = is_signed ? static_cast<S>(b) < static_cast<S>(old) : b < old;
  switch (op) {
    case AtomicOp::add:
      return static_cast<U>(old + b);
    case AtomicOp::and_:
      return static_cast<U>(old & b);
    case AtomicOp::or_:
      return static_cast<U>(old | b);
    case AtomicOp::xor_:
      return static_cast<U>(old ^ b);
    case AtomicOp::min:
      return less ? b : old;
    case AtomicOp::max:
      return less ? old : b;
    case AtomicOp::inc:
      return old >= b ? U{0} : static_cast<U>(old + 1);
    case AtomicOp::dec:
      return old == 0 || old > b ? b : static_cast<U>(old - 1);
    case AtomicOp::exch:
      return b;
    case AtomicOp::cas:
      return old == b ? c : old;
    case AtomicOp::add_halves:
    case AtomicOp::barrier:
    case AtomicOp::after_copies:
      break;  // of no integers
  }
  return old;
}

}  // namespace

LaneFunction lane_function(const Instruction& instruction) {
  return kSelectors[static_cast<std::size_t>(instruction.op)](instruction);
}

void load_immediate(const Instruction& instruction, LaneValues& values) {
  const std::uint32_t imm = instruction.imm;
  const bool floating = is_double_operation(instruction.op);
  const std::uint32_t sign = (imm >> 31U) != 0 ? ~std::uint32_t{0} : 0;
  values.b[0].fill(floating ? 0 : imm);
  if (info(instruction.op).b == OperandKind::w) values.b[1].fill(floating ? imm : sign);
}

std::uint64_t atomic_step(AtomicOp op, Type type, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  if (op == AtomicOp::add_halves) {
    const auto x = static_cast<std::uint32_t>(old), y = static_cast<std::uint32_t>(b);
    return lanes::half_sum(x & 0xffffU, y & 0xffffU) | lanes::half_sum(x >> 16U, y >> 16U) << 16U;
  }
  if (is_of_barrier_object(op)) return barrier_object::after(old, b);
  if (type == Type::f32) {
    const float sum = lanes::f32(static_cast<std::uint32_t>(old)) + lanes::f32(static_cast<std::uint32_t>(b));
    return lanes::finished<false>(sum);
  }
  if (type == Type::f64) return lanes::finished(lanes::f64(old) + lanes::f64(b));
  if (type == Type::f16) return lanes::half_sum(static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(b));
  if (type == Type::b16) {
    return integer_step<std::uint16_t>(op, type, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(b),
                                       static_cast<std::uint16_t>(c));
  }
  if (size_of(type) == 8) return integer_step<std::uint64_t>(op, type, old, b, c);
  return integer_step<std::uint32_t>(op, type, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(b),
                                     static_cast<std::uint32_t>(c));
}

std::uint64_t global_atomic_step(AtomicOp op, Type type, std::uint64_t old, std::uint64_t b, std::uint64_t c) {
  if (type != Type::f32) return atomic_step(op, type, old, b, c);
  const auto operand = [](std::uint64_t x) { return lanes::f32(lanes::flushed<true>(static_cast<std::uint32_t>(x))); };
  return lanes::finished<true>(operand(old) + operand(b));
}

Accumulation accumulate(const Instruction& instruction, const LaneValues& values) {
  Accumulation out;
  out.writes = values.predicate_a & values.active;
  out.count = static_cast<std::uint32_t>(std::popcount(out.writes));
  const unsigned first = values.active == 0 ? 0 : static_cast<unsigned>(std::countr_zero(values.active));
  const std::uint32_t bytes = instruction.element_bytes();
  const bool wide = has_wide_address(instruction.op);
  out.base = values.a[0][first] | (wide ? std::uint64_t{values.a[1][first]} << 32U : 0);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const LaneMask before = out.writes & ((LaneMask{1} << lane) - 1);
    const std::uint64_t address = out.base + static_cast<std::uint32_t>(std::popcount(before)) * bytes;
    out.address[lane] = wide ? address : static_cast<std::uint32_t>(address);
  }
  return out;
}

std::uint64_t extend_loaded(Width width, std::uint64_t raw) {
  switch (width) {
    case Width::u8:
      return static_cast<std::uint8_t>(raw);
    case Width::s8:
      return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(raw)});
    case Width::u16:
      return static_cast<std::uint16_t>(raw);
    case Width::s16:
      return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int16_t>(raw)});
    case Width::b32:
      return static_cast<std::uint32_t>(raw);
    case Width::b64:
      return raw;
  }
  return raw;
}

unsigned bytes_of(Width width) {
  switch (width) {
    case Width::u8:
    case Width::s8:
      return 1;
    case Width::u16:
    case Width::s16:
      return 2;
    case Width::b32:
      return 4;
    case Width::b64:
      return 8;
  }
  return 4;
}

}  // namespace heddle::isa
