// wmma: every size, element, order and space, beside sums of whole numbers on the host, which have no parts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ptx/compile.hpp"
#include "tb/device/arguments.hpp"
#include "tb/device/executor.hpp"

namespace heddle::warp_matrices {
namespace {

struct Size {
  unsigned m, n, k;
  [[nodiscard]] std::string name() const { return fmt::format("m{}n{}k{}", m, n, k); }
};
constexpr Size kSquare{16, 16, 16}, kTall{32, 8, 16}, kFlat{8, 32, 16};

// How many registers PTX has for the parts of a and b (PTX ISA, "Matrix Fragments for WMMA").
struct Kind {
  std::string factor, sum;
  unsigned bytes, sum_bytes;
  Size size;
  unsigned of_a, of_b, of_sum;
  std::string type;      // of registers of factors
  std::string before{};  // elements of c; empty: as those of d
  [[nodiscard]] const std::string& of_c() const { return before.empty() ? sum : before; }
};
const std::vector<Kind> kKinds = {
    {"f16", "f32", 2, 4, kSquare, 8, 8, 8, "b32"},      {"f16", "f32", 2, 4, kTall, 8, 8, 8, "b32"},
    {"f16", "f32", 2, 4, kFlat, 8, 8, 8, "b32"},        {"f16", "f16", 2, 2, kSquare, 8, 8, 4, "b32"},
    {"f16", "f16", 2, 2, kTall, 8, 8, 4, "b32"},        {"f16", "f16", 2, 2, kFlat, 8, 8, 4, "b32"},
    {"bf16", "f32", 2, 4, kSquare, 4, 4, 8, "b32"},     {"bf16", "f32", 2, 4, kTall, 8, 2, 8, "b32"},
    {"bf16", "f32", 2, 4, kFlat, 2, 8, 8, "b32"},       {"s8", "s32", 1, 4, kSquare, 2, 2, 8, "b32"},
    {"s8", "s32", 1, 4, kTall, 4, 1, 8, "b32"},         {"u8", "s32", 1, 4, kFlat, 1, 4, 8, "b32"},
    {"tf32", "f32", 4, 4, {16, 16, 8}, 4, 4, 8, "b32"}, {"f64", "f64", 8, 8, {8, 8, 4}, 1, 1, 2, "f64"},
    {"f16", "f32", 2, 4, kTall, 8, 8, 8, "b32", "f16"}, {"f16", "f16", 2, 2, kFlat, 8, 8, 4, "b32", "f32"}};

std::string list_of(const std::string& name, unsigned count, bool backwards = false) {
  std::string out = "{";
  for (unsigned i = 0; i != count; ++i) {
    out += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, backwards ? count - 1 - i : i);
  }
  return out + "}";
}

// A small whole number as an element has it.
std::vector<std::uint8_t> encoded(const std::string& element, int value) {
  const auto bytes_of = [](auto number) {
    std::vector<std::uint8_t> out(sizeof number);
    std::memcpy(out.data(), &number, sizeof number);
    return out;
  };
  if (element == "s8" || element == "u8") return {static_cast<std::uint8_t>(value)};
  if (element == "s32") return bytes_of(value);
  if (element == "f64") return bytes_of(static_cast<double>(value));
  const auto single = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof bits);
  if (element == "bf16") return bytes_of(static_cast<std::uint16_t>(bits >> 16U));
  if (element != "f16") return bytes_of(bits);
  if (value == 0) return {0, 0};
  return bytes_of(static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | ((bits >> 23U & 0xffU) - 112U) << 10U |
                                             (bits >> 13U & 0x3ffU)));
}

struct Stored {
  std::vector<int> values;
  unsigned line, lines;  // elements from one row (or column) in memory to the next, and how many
  bool rows;
  [[nodiscard]] unsigned at(unsigned row, unsigned column) const {
    return rows ? row * line + column : column * line + row;
  }
};
Stored stored(unsigned rows, unsigned columns, bool rows_first, unsigned further, int least, unsigned count,
              std::uint32_t& random) {
  Stored out{{}, (rows_first ? columns : rows) + further, rows_first ? rows : columns, rows_first};
  out.values.resize(std::size_t{out.line} * out.lines);
  for (int& value : out.values) {
    random = random * 1664525U + 1013904223U;
    value = least + static_cast<int>((random >> 16U) % count);
  }
  return out;
}

std::vector<std::uint8_t> bytes_of(const Stored& matrix, const std::string& element) {
  std::vector<std::uint8_t> out;
  for (const int value : matrix.values) {
    const std::vector<std::uint8_t> one = encoded(element, value);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

constexpr unsigned kRoom = 8192;  // bytes of a matrix in the buffer

// d = a b + c, of matrices at 0, kRoom and 2 kRoom of the buffer, or of the block's shared memory, which has a copy.
std::string product_text(const Kind& kind, const Stored& a, const Stored& b, const Stored& c, const std::string& space,
                         bool stride_in_register, bool backwards) {
  const auto order = [](const Stored& matrix) { return matrix.rows ? "row" : "col"; };
  const bool shared = space == ".shared";
  const std::string size = kind.size.name();
  std::string strides;
  const auto stride = [&](unsigned number, const Stored& matrix) {
    if (!stride_in_register) return std::to_string(matrix.line);
    strides += fmt::format("  ld.global.u32 %s{}, [%g0+{}];\n", number, 3 * kRoom + 4 * number);
    return fmt::format("%s{}", number);
  };
  const std::string of_a = stride(0, a), of_b = stride(1, b), of_c = stride(2, c);
  const auto register_type = [](const std::string& element) { return element == "f16" ? "b32" : element; };
  const bool mixed = !kind.before.empty();
  const unsigned of_c_count = !mixed ? kind.of_sum : kind.before == "f16" ? 4 : 8;
  std::string text = fmt::format(
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry product(.param .u64 buffer)\n{{\n"
      "  .reg .pred %p;\n  .reg .b32 %r<4>, %s<3>;\n  .reg .u64 %g<4>;\n  .reg .u32 %h<3>;\n"
      "  .reg .{} %a<8>, %b<8>;\n  .reg .{} %c<8>;\n  .reg .{} %d<8>;\n  .shared .align 32 .b8 tile[{}];\n"
      "  ld.param.u64 %g0, [buffer];\n  mov.u32 %r0, %tid.x;\n{}",
      kind.type, register_type(kind.of_c()), register_type(kind.sum), 3 * kRoom, strides);
  if (shared) {
    text += fmt::format(
        "  shl.b32 %r0, %r0, 2;\n  mov.u32 %r1, tile;\n"
        "COPY:\n  cvt.u64.u32 %g1, %r0;\n  add.u64 %g1, %g0, %g1;\n  ld.global.b32 %r2, [%g1];\n"
        "  add.u32 %r3, %r1, %r0;\n  st.shared.b32 [%r3], %r2;\n  add.u32 %r0, %r0, 128;\n"
        "  setp.lt.u32 %p, %r0, {};\n  @%p bra COPY;\n  bar.sync 0;\n",
        3 * kRoom);
  }
  const auto place = [&](unsigned number) {
    return shared ? fmt::format("[tile+{}]", number * kRoom) : fmt::format("[%g0+{}]", number * kRoom);
  };
  const auto aligned = [&](const std::string& what, const char* order, const std::string& element) {
    return fmt::format("  wmma.{}.sync.aligned.{}.{}{}.{} ", what, order, size, space, element);
  };
  text += aligned("load.a", order(a), kind.factor) + list_of("a", kind.of_a) + ", " + place(0) + ", " + of_a + ";\n";
  text += aligned("load.b", order(b), kind.factor) + list_of("b", kind.of_b) + ", " + place(1) + ", " + of_b + ";\n";
  text += aligned("load.c", order(c), kind.of_c()) + list_of("c", of_c_count) + ", " + place(2) + ", " + of_c + ";\n";
  const std::string types =
      kind.factor == "f16" ? kind.sum + "." + kind.of_c() : fmt::format("{0}.{1}.{1}.{0}", kind.sum, kind.factor);
  // In registers of c, for other elements, or in registers of their own.
  const std::string result = backwards && !mixed ? list_of("c", kind.of_sum, true) : list_of("d", kind.of_sum);
  text += fmt::format("  wmma.mma.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};\n", order(a), order(b), size, types, result,
                      list_of("a", kind.of_a), list_of("b", kind.of_b), list_of("c", of_c_count));
  text += fmt::format("  wmma.store.d.sync.aligned.{}.{}.{} [%g0+{}], {}, {};\n", order(c), size, kind.sum, 4 * kRoom,
                      result, of_c);
  return text + "  exit;\n}\n";
}

class WarpMatrix : public ::testing::TestWithParam<std::size_t> {};

TEST_P(WarpMatrix, IsMultipliedInEveryOrder) {
  const Kind& kind = kKinds[GetParam()];
  const Size& size = kind.size;
  std::uint32_t random = 99;
  for (unsigned orders = 0; orders != 8; ++orders) {
    for (const std::string& space : {std::string(), std::string(".global"), std::string(".shared")}) {
      const bool stride_in_register = (orders + space.size()) % 2 == 0;
      const int least = kind.factor == "u8" ? 0 : -4;
      const Stored a = stored(size.m, size.k, (orders & 1U) != 0, 16, least, 9, random);
      const Stored b = stored(size.k, size.n, (orders & 2U) != 0, 32, least, 8, random);
      const Stored c = stored(size.m, size.n, (orders & 4U) != 0, 16, -50, 101, random);
      const std::string text = product_text(kind, a, b, c, space, stride_in_register, (orders & 3U) == 1);
      SCOPED_TRACE(text);
      tb::ReferenceExecutor executor;
      executor.load(ptx::compile(text, "t.ptx"));
      const std::uint64_t buffer = executor.memory().allocate("buffer", 5 * kRoom);
      const auto put = [&](unsigned number, const std::vector<std::uint8_t>& bytes) {
        ASSERT_LE(bytes.size(), kRoom);
        executor.memory().write(buffer + std::uint64_t{number} * kRoom, std::as_bytes(std::span(bytes)));
      };
      put(0, bytes_of(a, kind.factor));
      put(1, bytes_of(b, kind.factor));
      put(2, bytes_of(c, kind.of_c()));
      const unsigned lines[] = {a.line, b.line, c.line};
      executor.memory().write(buffer + 3 * kRoom, std::as_bytes(std::span(lines)));
      Stored wanted = c;
      for (int& one : wanted.values) one = 0;
      for (unsigned row = 0; row != size.m; ++row) {
        for (unsigned column = 0; column != size.n; ++column) {
          int sum = c.values[c.at(row, column)];
          for (unsigned i = 0; i != size.k; ++i) sum += a.values[a.at(row, i)] * b.values[b.at(i, column)];
          wanted.values[wanted.at(row, column)] = sum;
        }
      }
      tb::Arguments arguments(executor.module(), "product");
      arguments.pointer(buffer);
      executor.launch({"product", {1}, {32}, 0, arguments.bytes()});
      std::vector<std::uint8_t> found(bytes_of(wanted, kind.sum).size());
      executor.memory().read(buffer + 4 * kRoom, std::as_writable_bytes(std::span(found)));
      ASSERT_EQ(found, bytes_of(wanted, kind.sum));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, WarpMatrix, ::testing::Range<std::size_t>(0, kKinds.size()), [](const auto& info) {
  const Kind& kind = kKinds[info.param];
  return fmt::format("{}_{}_{}_{}", kind.factor, kind.sum, kind.of_c(), kind.size.name());
});

// To nearest, away from 0 between two; what is not finite stays.
TEST(WarpMatrix, ElementsOfNineteenBitsAreRounded) {
  struct Case {
    std::uint32_t from, to;
  };
  const std::vector<Case> cases = {{0x3f800000, 0x3f800000}, {0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f802000},
                                   {0xbf801000, 0xbf802000}, {0xbf800fff, 0xbf800000}, {0x3f803fff, 0x3f804000},
                                   {0x3fffffff, 0x40000000}, {0x00000fff, 0x00000000}, {0x80001000, 0x80002000},
                                   {0x7f7fffff, 0x7f800000}, {0x7f800000, 0x7f800000}, {0xff800000, 0xff800000},
                                   {0x7fffffff, 0x7fffffff}, {0x7f800001, 0x7f800001}};
  tb::ReferenceExecutor executor;
  executor.load(ptx::compile(
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry rounds(.param .u64 buffer)\n{\n"
      "  .reg .u64 %g<3>; .reg .f32 %f; .reg .b32 %r<2>;\n  ld.param.u64 %g0, [buffer];\n  mov.u32 %r0, %tid.x;\n"
      "  mul.wide.u32 %g1, %r0, 4;\n  add.u64 %g1, %g0, %g1;\n  ld.global.f32 %f, [%g1];\n"
      "  cvt.rna.tf32.f32 %r1, %f;\n  st.global.b32 [%g1], %r1;\n  exit;\n}\n",
      "t.ptx"));
  const std::uint64_t buffer = executor.memory().allocate("buffer", 4 * cases.size());
  for (std::size_t i = 0; i != cases.size(); ++i) executor.memory().put(buffer + 4 * i, cases[i].from);
  tb::Arguments arguments(executor.module(), "rounds");
  arguments.pointer(buffer);
  executor.launch({"rounds", {1}, {static_cast<std::uint32_t>(cases.size())}, 0, arguments.bytes()});
  for (std::size_t i = 0; i != cases.size(); ++i) {
    EXPECT_EQ(executor.memory().get<std::uint32_t>(buffer + 4 * i), cases[i].to) << std::hex << cases[i].from;
  }
}

}  // namespace
}  // namespace heddle::warp_matrices
