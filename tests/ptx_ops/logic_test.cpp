// Bits: and or xor not cnot lop3 shl shr shf bfe bfi bfind brev clz popc prmt (PTX ISA, sections 9.7.1 and 9.7.8).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "tests/ptx_ops/operation_table.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("PtxLogic.Lop3WithEvery*")

namespace heddle::ptx_ops {
namespace {

template <class T>
std::string untyped() {
  return ".b" + std::to_string(8 * sizeof(T)) + " ";
}

template <class T>
void logic(OperationTable& table) {
  table.add("and" + untyped<T>() + "$d, $a, $b;", [](T a, T b) { return static_cast<T>(a & b); });
  table.add("or" + untyped<T>() + "$d, $a, $b;", [](T a, T b) { return static_cast<T>(a | b); });
  table.add("xor" + untyped<T>() + "$d, $a, $b;", [](T a, T b) { return static_cast<T>(a ^ b); });
  table.add("not" + untyped<T>() + "$d, $a;", [](T a) { return static_cast<T>(~a); });
  table.add("cnot" + untyped<T>() + "$d, $a;", [](T a) { return static_cast<T>(a == 0 ? 1 : 0); });
}

TEST(PtxLogic, EveryWidthAndPredicates) {
  OperationTable table;
  logic<u16>(table);
  logic<u32>(table);
  logic<u64>(table);
  table.add("and.pred $d, $a, $b;", [](bool a, bool b) { return a && b; });
  table.add("or.pred $d, $a, $b;", [](bool a, bool b) { return a || b; });
  table.add("xor.pred $d, $a, $b;", [](bool a, bool b) { return a != b; });
  table.add("not.pred $d, $a;", [](bool a) { return !a; });
  table.add("mov.pred $d, $a;", [](bool a) { return a; });
  table.run();
}

u32 by_table(u32 a, u32 b, u32 c, unsigned truth) {
  u32 result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const unsigned row = ((a >> bit) & 1U) << 2U | ((b >> bit) & 1U) << 1U | ((c >> bit) & 1U);
    result |= ((truth >> row) & 1U) << bit;
  }
  return result;
}

TEST(PtxLogic, Lop3WithEveryTable) {
  OperationTable table;
  for (unsigned truth = 0; truth < 256; ++truth) {
    table.add("lop3.b32 $d, $a, $b, $c, " + std::to_string(truth) + ";",
              [truth](u32 a, u32 b, u32 c) { return by_table(a, b, c, truth); });
  }
  for (const unsigned truth : {0x80U, 0xe8U, 0x01U}) {
    const std::string operands = ".b32 $d|$q, $a, $b, $c, " + std::to_string(truth) + ", $e;";
    table.add("lop3.or" + operands, [truth](u32 a, u32 b, u32 c, bool e) {
      const u32 result = by_table(a, b, c, truth);
      return std::pair(result, result != 0 || e);
    });
    table.add("lop3.and" + operands, [truth](u32 a, u32 b, u32 c, bool e) {
      const u32 result = by_table(a, b, c, truth);
      return std::pair(result, result != 0 && e);
    });
  }
  table.run();
}

// Shift counts are unsigned 32-bit numbers; counts of the width and above shift everything out.
template <class T>
void shifts(OperationTable& table) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 kWidth = 8 * sizeof(T);
  const auto right = [](T a, Count count) { return static_cast<T>(a >> std::min(count.value, kWidth - 1)); };
  if constexpr (std::is_signed_v<T>) {
    table.add("shr." + name_of<T>() + " $d, $a, $b;", right);
  } else {
    const auto logical = [](U a, Count count) {
      return count.value >= kWidth ? U{0} : static_cast<U>(a >> count.value);
    };
    table.add("shr." + name_of<T>() + " $d, $a, $b;", logical);
    table.add("shr" + untyped<T>() + "$d, $a, $b;", logical);
    table.add("shl" + untyped<T>() + "$d, $a, $b;",
              [](U a, Count count) { return count.value >= kWidth ? U{0} : static_cast<U>(a << count.value); });
  }
}

TEST(PtxLogic, Shifts) {
  OperationTable table;
  shifts<u16>(table);
  shifts<s16>(table);
  shifts<u32>(table);
  shifts<s32>(table);
  shifts<u64>(table);
  shifts<s64>(table);
  table.run();
}

TEST(PtxLogic, FunnelShifts) {
  OperationTable table;
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    const auto count = [wrap](Count c) { return wrap ? c.value & 31U : std::min(c.value, 32U); };
    table.add("shf.l." + mode + ".b32 $d, $a, $b, $c;", [count](u32 low, u32 high, Count c) {
      return static_cast<u32>((u64{high} << 32U | low) << count(c) >> 32U);
    });
    table.add("shf.r." + mode + ".b32 $d, $a, $b, $c;",
              [count](u32 low, u32 high, Count c) { return static_cast<u32>((u64{high} << 32U | low) >> count(c)); });
  }
  table.run();
}

// Position and length are the low 8 bits of their operands; bits beyond the width are copies of the sign bit, which is
// that of the field's last bit inside the width.
template <class T>
T field(T a, u32 position, u32 length) {
  constexpr u32 kWidth = 8 * sizeof(T);
  position &= 0xffU;
  length &= 0xffU;
  const auto bit = [a](u32 i) { return (static_cast<u64>(a) >> i & 1U) != 0; };
  const bool sign = std::is_signed_v<T> && length != 0 && bit(std::min(position + length - 1, kWidth - 1));
  u64 result = 0;
  for (u32 i = 0; i < kWidth; ++i) {
    const bool inside = i < length && position + i < kWidth;
    result |= u64{inside ? bit(position + i) : sign} << i;
  }
  return static_cast<T>(result);
}

template <class T>
T insert(T a, T into, u32 position, u32 length) {
  position &= 0xffU;
  length &= 0xffU;
  for (u32 i = 0; i < length && position + i < 8 * sizeof(T); ++i) {
    const T mask = static_cast<T>(T{1} << (position + i));
    into = static_cast<T>((into & ~mask) | ((a >> i & 1U) != 0 ? mask : T{0}));
  }
  return into;
}

template <class T>
void extractions(OperationTable& table) {
  table.add("bfe." + name_of<T>() + " $d, $a, $b, $c;",
            [](T a, Count position, Count length) { return field(a, position.value, length.value); });
}
template <class T>
void insertions(OperationTable& table) {
  table.add("bfi" + untyped<T>() + "$d, $a, $b, $c, $e;",
            [](T a, T b, Count position, Count length) { return insert(a, b, position.value, length.value); });
}

TEST(PtxLogic, BitFields) {
  OperationTable table;
  extractions<u32>(table);
  extractions<s32>(table);
  extractions<u64>(table);
  extractions<s64>(table);
  insertions<u32>(table);
  insertions<u64>(table);
  table.run();
}

// Position of the highest bit that differs from the sign; all ones when there is none.
template <class T>
void leading(OperationTable& table) {
  using U = std::make_unsigned_t<T>;
  const auto position = [](T a) {
    const U bits = static_cast<U>(a < T{0} ? ~a : a);
    return bits == 0 ? ~u32{0} : static_cast<u32>(std::bit_width(bits) - 1);
  };
  table.add("bfind." + name_of<T>() + " $d, $a;", position);
  table.add("bfind.shiftamt." + name_of<T>() + " $d, $a;", [position](T a) {
    const u32 found = position(a);
    return found == ~u32{0} ? found : static_cast<u32>(8 * sizeof(T) - 1 - found);
  });
}
template <class T>
void counts(OperationTable& table) {
  table.add("clz" + untyped<T>() + "$d, $a;", [](T a) { return static_cast<u32>(std::countl_zero(a)); });
  table.add("popc" + untyped<T>() + "$d, $a;", [](T a) { return static_cast<u32>(std::popcount(a)); });
  table.add("brev" + untyped<T>() + "$d, $a;", [](T a) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) result = static_cast<T>(result << 1U | (a >> i & 1U));
    return result;
  });
}

TEST(PtxLogic, CountsAndPositions) {
  OperationTable table;
  leading<u32>(table);
  leading<s32>(table);
  leading<u64>(table);
  leading<s64>(table);
  counts<u32>(table);
  counts<u64>(table);
  table.run();
}

u32 byte_of(u32 a, u32 b, u32 i) {
  return static_cast<u32>((u64{b} << 32U | a) >> (8 * (i & 7U))) & 0xffU;
}

// By the manual's words: ones from bit a on, b of them, as far as there is room; clamped or modulo 32.
TEST(PtxLogic, Masks) {
  OperationTable table;
  const auto mask = [](u64 from, u64 width) {
    u32 result = 0;
    for (u64 bit = 0; bit < 32; ++bit) result |= bit >= from && bit - from < width ? u32{1} << bit : 0;
    return result;
  };
  table.add("bmsk.clamp.b32 $d, $a, $b;", [mask](u32 a, u32 b) { return mask(a, b); });
  table.add("bmsk.clamp.b32 $d, $a, $b;", [mask](Count a, Count b) { return mask(a.value, b.value); });
  table.add("bmsk.wrap.b32 $d, $a, $b;", [mask](Count a, Count b) { return mask(a.value % 32, b.value % 32); });
  const auto low = [](u32 a, u32 bits, bool sign) {
    if (bits >= 32) return a;
    const u32 kept = a & ((u32{1} << bits) - 1);
    return sign && bits != 0 && (kept >> (bits - 1)) != 0 ? kept - (u32{1} << bits) : kept;
  };
  table.add("szext.clamp.u32 $d, $a, $b;", [low](u32 a, Count b) { return low(a, b.value, false); });
  table.add("szext.clamp.s32 $d, $a, $b;",
            [low](s32 a, Count b) { return static_cast<s32>(low(static_cast<u32>(a), b.value, true)); });
  table.add("szext.wrap.u32 $d, $a, $b;", [low](u32 a, u32 b) { return low(a, b % 32, false); });
  table.add("szext.wrap.s32 $d, $a, $b;",
            [low](s32 a, u32 b) { return static_cast<s32>(low(static_cast<u32>(a), b % 32, true)); });
  table.run();
}

TEST(PtxLogic, BytePermutation) {
  OperationTable table;
  table.add("prmt.b32 $d, $a, $b, $c;", [](u32 a, u32 b, u32 c) {
    u32 result = 0;
    for (u32 i = 0; i < 4; ++i) {
      const u32 selector = c >> (4 * i) & 15U;
      const u32 byte = byte_of(a, b, selector & 7U);
      const u32 chosen = (selector & 8U) == 0 ? byte : (byte & 0x80U) != 0 ? 0xffU : 0;
      result |= chosen << (8 * i);
    }
    return result;
  });
  // The modes' tables (PTX ISA, prmt): bytes 3 to 0 of the result for selectors 0 to 3.
  struct Mode {
    const char* name;
    std::array<u16, 4> bytes;
  };
  static constexpr Mode kModes[] = {
      {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
      {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
      {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (const Mode& mode : kModes) {
    table.add(std::string("prmt.b32.") + mode.name + " $d, $a, $b, $c;", [m = &mode](u32 a, u32 b, u32 c) {
      u32 result = 0;
      for (u32 i = 0; i < 4; ++i) result |= byte_of(a, b, u32{m->bytes[c & 3U]} >> (4 * i) & 7U) << (8 * i);
      return result;
    });
  }
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
