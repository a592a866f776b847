// mov of every type, packing and unpacking of vectors (PTX ISA, section 9.7.9.3 and 9.7.9.4).
#include <gtest/gtest.h>

#include "tests/ptx_ops/operation_table.hpp"

namespace heddle::ptx_ops {
namespace {

template <class T>
void moves(OperationTable& table) {
  table.add("mov." + name_of<T>() + " $d, $a;", [](T a) { return a; });
  if constexpr (!std::is_same_v<T, Half>) {
    table.add("mov.b" + std::to_string(8 * sizeof(T)) + " $d, $a;", [](T a) { return a; });
  }
}

TEST(PtxMove, EveryType) {
  OperationTable table;
  moves<u16>(table);
  moves<s16>(table);
  moves<u32>(table);
  moves<s32>(table);
  moves<u64>(table);
  moves<s64>(table);
  moves<float>(table);
  moves<double>(table);
  // Bits between floats and integers.
  table.add("mov.b32 $d, $a;", [](float a) { return std::bit_cast<u32>(a); });
  table.add("mov.b32 $d, $a;", [](u32 a) { return std::bit_cast<float>(a); });
  table.add("mov.b64 $d, $a;", [](double a) { return std::bit_cast<u64>(a); });
  table.add("mov.b64 $d, $a;", [](u64 a) { return std::bit_cast<double>(a); });
  table.run();
}

TEST(PtxMove, VectorsPack) {
  OperationTable table;
  table.add("mov.b32 $d, {$a, $b};", [](u16 a, u16 b) { return u32{b} << 16U | a; });
  table.add("mov.b64 $d, {$a, $b};", [](u32 a, u32 b) { return u64{b} << 32U | a; });
  table.add("mov.b64 $d, {$a, $b};", [](float a, u32 b) { return u64{b} << 32U | std::bit_cast<u32>(a); });
  table.add("mov.b64 $d, {$a, $b, $c, $e};",
            [](u16 a, u16 b, u16 c, u16 e) { return u64{e} << 48U | u64{c} << 32U | u64{b} << 16U | a; });
  table.add("mov.b32 $d, {$a, $a};", [](s16 a) { return static_cast<u32>(static_cast<u16>(a)) * 0x10001U; });
  table.run();
}

TEST(PtxMove, VectorsUnpack) {
  OperationTable table;
  table.add("mov.b32 {$d, $q}, $a;", [](u32 a) { return std::pair(static_cast<u16>(a), static_cast<u16>(a >> 16U)); });
  table.add("mov.b64 {$d, $q}, $a;", [](u64 a) { return std::pair(static_cast<u32>(a), static_cast<u32>(a >> 32U)); });
  table.add("mov.b64 {$d, $q}, $a;", [](double a) {
    const u64 bits = std::bit_cast<u64>(a);
    return std::pair(std::bit_cast<float>(static_cast<u32>(bits)), static_cast<u32>(bits >> 32U));
  });
  table.add("mov.b64 {$d, _, _, $q}, $a;",
            [](u64 a) { return std::pair(static_cast<u16>(a), static_cast<u16>(a >> 48U)); });
  table.add("mov.b64 {_, $d, $q, _}, $a;",
            [](u64 a) { return std::pair(static_cast<u16>(a >> 16U), static_cast<u16>(a >> 32U)); });
  table.add("mov.b32 {_, $d}, $a;", [](u32 a) { return static_cast<u16>(a >> 16U); });
  // Both halves swapped at once.
  table.add("mov.b64 {$d, $q}, $a; mov.b64 $u, {$q, $d}; mov.b64 {$d, $q}, $u;",
            [](u64 a) { return std::pair(static_cast<u32>(a >> 32U), static_cast<u32>(a)); });
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
