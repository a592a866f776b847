// mov of every type, packing and unpacking of vectors (PTX ISA, section 9.7.9.3 and 9.7.9.4).
#include <gtest/gtest.h>

#include "tests/ptx_ops/program.hpp"

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

// Registers of 8 bits exist for moves and memory only.
TEST(PtxMove, VectorsOfBytes) {
  Program program;
  program.block = 1;
  program.input = {0x84c2e1f0U, 0x0a7b8c9dU};
  program.output_words = 5;
  program.body = R"(
  .reg .b8 %c<8>; .reg .b32 %v; .reg .b16 %h;
  ld.global.v4.b8 {%c0, %c1, %c2, %c3}, [%in];
  ld.global.s8 %c4, [%in+6];
  mov.b32 %v, {%c3, %c2, %c1, %c0};  st.global.b32 [%out], %v;
  mov.b32 {%c4, %c5, %c6, %c7}, %v;  st.global.v4.b8 [%out+4], {%c6, %c7, %c4, %c5};
  ld.global.b32 %v, [%in+4];
  mov.b32 {%c4, %c5, %c6, %c7}, %v;
  mov.b32 %v, {%c7, %c7, %c4, %c5};  st.global.b32 [%out+8], %v;
  mov.b16 %h, {%c6, %c5};            st.global.b16 [%out+12], %h;
  mov.b16 {%c0, %c1}, %h;            st.global.b8 [%out+16], %c1;
)";
  EXPECT_EQ(run(program), (std::vector<u32>{0xf0e1c284U, 0xc284f0e1U, 0x8c9d0a0aU, 0x8c7bU, 0x8cU}));
}

}  // namespace
}  // namespace heddle::ptx_ops
