// Bit fields and bit counts, 32 and 64 bits wide (PTX ISA: bfe, bfi, bfind, brev, clz, popc).
#include <bit>
#include <limits>
#include <type_traits>

#include "isa/lane_loops.hpp"
#include "isa/lane_selectors.hpp"

namespace heddle::isa::lanes {

namespace {

template <typename U>
inline constexpr u32 kBits = std::numeric_limits<U>::digits;

// Position and length of a field are the low eight bits of their operands.
template <typename U>
constexpr U low_ones(u32 count) {
  return count >= kBits<U> ? ~U{0} : (U{1} << (count & (kBits<U> - 1))) - 1;
}

template <typename U>
constexpr U extract_unsigned(U a, u32 b, u32 c) {
  const u32 position = b & 255U;
  const U shifted = position >= kBits<U> ? U{0} : a >> (position & (kBits<U> - 1));
  return shifted & low_ones<U>(c & 255U);
}

// Bits beyond the field, and beyond the value's top, repeat the sign: bit min(position + length - 1, top).
template <typename U>
constexpr U extract_signed(U a, u32 b, u32 c) {
  using S = std::make_signed_t<U>;
  const u32 position = b & 255U;
  const u32 length = c & 255U;
  const S shifted = static_cast<S>(a) >> (position >= kBits<U> ? kBits<U> - 1 : position);
  const u32 unused = length >= kBits<U> || length == 0 ? 0 : kBits<U> - length;
  const S field = static_cast<S>(static_cast<U>(shifted) << unused) >> unused;
  return length == 0 ? U{0} : static_cast<U>(field);
}

template <typename U>
constexpr U insert(U a, U b, u32 c, u32 d) {
  const u32 position = c & 255U;
  const u32 shift = position & (kBits<U> - 1);
  const U mask = position >= kBits<U> ? U{0} : low_ones<U>(d & 255U) << shift;
  return (b & ~mask) | ((a << shift) & mask);
}

// Position of the most significant one, counted from the bottom; all ones when there is none.
template <typename U, bool ShiftAmount>
constexpr u32 find(U b) {
  const u32 from_top = static_cast<u32>(std::countl_zero(b));
  if (b == 0) return ~u32{0};
  return ShiftAmount ? from_top : kBits<U> - 1 - from_top;
}
template <typename U>
constexpr U significant(U b) {
  return static_cast<std::make_signed_t<U>>(b) < 0 ? ~b : b;
}

constexpr u32 reverse(u32 b) {
  b = (b >> 1U & 0x55555555U) | (b & 0x55555555U) << 1U;
  b = (b >> 2U & 0x33333333U) | (b & 0x33333333U) << 2U;
  b = (b >> 4U & 0x0F0F0F0FU) | (b & 0x0F0F0F0FU) << 4U;
  b = (b >> 8U & 0x00FF00FFU) | (b & 0x00FF00FFU) << 8U;
  return b >> 16U | b << 16U;
}

constexpr u32 count_ones(u32 b) {
  b -= b >> 1U & 0x55555555U;
  b = (b & 0x33333333U) + (b >> 2U & 0x33333333U);
  b = (b + (b >> 4U)) & 0x0F0F0F0FU;
  return (b * 0x01010101U) >> 24U;
}

template <typename U, bool Signed>
LaneFunction select_find(const Instruction& instruction) {
  if (instruction.bfind_shift_amount()) {
    return each([](U b) { return find<U, true>(Signed ? significant(b) : b); });
  }
  return each([](U b) { return find<U, false>(Signed ? significant(b) : b); });
}

}  // namespace

HEDDLE_LANES(BFE_S) {
  return each([](u32 a, u32 b, u32 c) { return extract_signed(a, b, c); });
}
HEDDLE_LANES(BFE_U) {
  return each([](u32 a, u32 b, u32 c) { return extract_unsigned(a, b, c); });
}
HEDDLE_LANES(BFI) {
  return each([](u32 a, u32 b, u32 c, u32 d) { return insert(a, b, c, d); });
}
HEDDLE_LANES(BFIND_S) {
  return select_find<u32, true>(instruction);
}
HEDDLE_LANES(BFIND_U) {
  return select_find<u32, false>(instruction);
}
HEDDLE_LANES(BREV) {
  return each([](u32 b) { return reverse(b); });
}
HEDDLE_LANES(CLZ) {
  return each([](u32 b) { return static_cast<u32>(std::countl_zero(b)); });
}
HEDDLE_LANES(POPC) {
  return each([](u32 b) { return count_ones(b); });
}

HEDDLE_LANES(BFE_S64) {
  return each([](u64 a, u32 b, u32 c) { return extract_signed(a, b, c); });
}
HEDDLE_LANES(BFE_U64) {
  return each([](u64 a, u32 b, u32 c) { return extract_unsigned(a, b, c); });
}
HEDDLE_LANES(BFI64) {
  return each([](u64 a, u64 b, u32 c, u32 d) { return insert(a, b, c, d); });
}
HEDDLE_LANES(BFIND_S64) {
  return select_find<u64, true>(instruction);
}
HEDDLE_LANES(BFIND_U64) {
  return select_find<u64, false>(instruction);
}
HEDDLE_LANES(BREV64) {
  return each([](u64 b) { return u64{reverse(static_cast<u32>(b))} << 32U | reverse(static_cast<u32>(b >> 32U)); });
}
HEDDLE_LANES(CLZ64) {
  return each([](u64 b) { return static_cast<u32>(std::countl_zero(b)); });
}
HEDDLE_LANES(POPC64) {
  return each([](u64 b) { return count_ones(static_cast<u32>(b)) + count_ones(static_cast<u32>(b >> 32U)); });
}

}  // namespace heddle::isa::lanes
