// Products of matrices on GPUs with tensor cores: results beside those of whole matrices, time, and who has none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tb/measure/profile/profile.hpp"
#include "tests/model/child.hpp"
#include "tests/model/words_left.hpp"

namespace heddle::matrices {
namespace {

// Each warp w adds five times a (16 x 16, by rows) times b (16 x 8, by rows) to w in all places of its sum (16 x 8).
// The parameter's words: a, then b, as binary16, then the sums of all warps. Warps come to their products by different
// ways.
constexpr const char* kProduct = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry product(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<40>;
  .reg .f32 %f<12>;
  .reg .u64 %a<8>;
  .shared .align 16 .b8 tile[6144];
  ld.param.u64 %a0, [out];
  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 31;
  shr.u32 %r2, %r0, 5;
  mul.lo.u32 %r3, %r2, 768;
  mov.u32 %r4, tile;
  add.u32 %r4, %r4, %r3;
  // 768 bytes of a and b into the warp's part of the tile, 24 for each lane
  mul.lo.u32 %r5, %r1, 24;
  mul.wide.u32 %a1, %r1, 24;
  add.u64 %a1, %a0, %a1;
  add.u32 %r6, %r4, %r5;
  ld.global.v2.u32 {%r10, %r11}, [%a1];
  ld.global.v2.u32 {%r12, %r13}, [%a1+8];
  ld.global.v2.u32 {%r14, %r15}, [%a1+16];
  st.shared.v2.u32 [%r6], {%r10, %r11};
  st.shared.v2.u32 [%r6+8], {%r12, %r13};
  st.shared.v2.u32 [%r6+16], {%r14, %r15};
  cvt.rn.f32.u32 %f0, %r2;
  mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  // lanes part, for longer the more their number says, and meet
  and.b32 %r7, %r1, 3;
AGAIN:
  sub.u32 %r7, %r7, 1;
  setp.gt.s32 %p1, %r7, 0;
  @%p1 bra AGAIN;
  bar.warp.sync 0xffffffff;
  and.b32 %r8, %r1, 15;
  shr.u32 %r9, %r1, 4;
  shl.b32 %r16, %r8, 5;
  shl.b32 %r17, %r9, 4;
  add.u32 %r16, %r16, %r17;
  add.u32 %r16, %r16, %r4;   // row r of a, its half
  shl.b32 %r18, %r8, 4;
  add.u32 %r18, %r18, %r4;   // row r of b
  mov.u32 %r20, 5;
PASS:
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r21, %r22, %r23, %r24}, [%r16];
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r25, %r26}, [%r18+512];
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
    {%f0,%f1,%f2,%f3}, {%r21,%r22,%r23,%r24}, {%r25,%r26}, {%f0,%f1,%f2,%f3};
  sub.u32 %r20, %r20, 1;
  setp.ne.u32 %p2, %r20, 0;
  @%p2 bra PASS;
  mul.wide.u32 %a2, %r2, 512;
  add.u64 %a2, %a0, %a2;
  shr.u32 %r27, %r1, 2;
  and.b32 %r28, %r1, 3;
  shl.b32 %r27, %r27, 5;
  shl.b32 %r28, %r28, 3;
  add.u32 %r27, %r27, %r28;
  cvt.u64.u32 %a3, %r27;
  add.u64 %a2, %a2, %a3;
  st.global.v2.f32 [%a2+768], {%f0, %f1};
  st.global.v2.f32 [%a2+1024], {%f2, %f3};
  ret;
}
)";

constexpr unsigned kWarps = 8;

int element_of_a(unsigned row, unsigned column) {
  return static_cast<int>((row * 3 + column * 5) % 7) - 3;
}
int element_of_b(unsigned row, unsigned column) {
  return static_cast<int>((row * 2 + column * 3) % 5) - 2;
}
std::uint32_t half(int value) {
  constexpr std::uint32_t kHalves[] = {0x0000, 0x3c00, 0x4000, 0x4200};  // 0 to 3
  return kHalves[value < 0 ? -value : value] | (value < 0 ? 0x8000U : 0U);
}

std::vector<std::uint32_t> factors() {
  std::vector<std::uint32_t> words(192 + kWarps * 128);
  for (unsigned i = 0; i < 256; ++i) words[i / 2] |= half(element_of_a(i / 16, i % 16)) << 16 * (i % 2);
  for (unsigned i = 0; i < 128; ++i) words[128 + i / 2] |= half(element_of_b(i / 8, i % 8)) << 16 * (i % 2);
  return words;
}

// "right", or where a machine's sums differ from those of whole matrices.
std::string judged(const std::string& machine, const std::vector<std::string>& settings) {
  return test::in_child([&] {
    const std::vector<std::uint32_t> words = test::words_left_by(
        machine, settings, kProduct, {"product", {1, 1, 1}, {32 * kWarps, 1, 1}, 0, {}, 0, false}, factors(), true);
    for (unsigned i = 0; i < kWarps * 128; ++i) {
      const unsigned row = i % 128 / 8, column = i % 8;
      int sum = 0;
      for (unsigned k = 0; k < 16; ++k) sum += element_of_a(row, k) * element_of_b(k, column);
      const float expected = static_cast<float>(i / 128) + 5 * static_cast<float>(sum);
      float got = 0;
      std::memcpy(&got, &words[192 + i], 4);
      if (got != expected) {
        return fmt::format("warp {}, row {}, column {}: {} instead of {}", i / 128, row, column, got, expected);
      }
    }
    return std::string("right");
  });
}

TEST(GpuMatrix, SumsAreThoseOfWholeMatrices) {
  for (const char* const machine : {"h100-8sm", "a100-8sm", "v100-8sm", "rtx3070-8sm"}) {
    EXPECT_EQ(judged(machine, {}), "right") << machine;
  }
  for (const std::vector<std::string>& settings :
       std::vector<std::vector<std::string>>{{"core.issue=scoreboard"},
                                             {"core.issue=scoreboard", "scoreboard.stall=on-access"},
                                             {"core.issue=scoreboard", "scoreboard.forwarding=false"},
                                             {"core.issue=strict"},
                                             {"core.divergence=stack", "core.issue=relaxed"},
                                             {"core.tensor_rate=1", "core.tensor_latency=200"},
                                             {"core.tensor_rate=65536", "core.tensor_latency=1"},
                                             {"core.divergence=stack"}}) {
    EXPECT_EQ(judged("h100-8sm", settings), "right") << settings[0];
  }
  // A core of the papers, given a tensor core.
  EXPECT_EQ(judged("baseline", {"core.tensor_rate=64"}), "right");
}

// Five products of 16 x 8 x 16 for each warp: of the run, and of the instructions of its profile that are products.
TEST(GpuMatrix, MultiplyAddsAreCountedByRunAndInstruction) {
  const auto counted = [] {
    tb::Profile profile(tb::read_machine("h100-8sm"));
    tb::DeviceOptions options;
    options.observers = {&profile};
    hw::Totals totals;
    static_cast<void>(test::words_left_by("h100-8sm", {}, kProduct,
                                          {"product", {1, 1, 1}, {32 * kWarps, 1, 1}, 0, {}, 0, false}, factors(), true,
                                          options, &totals));
    std::uint64_t by_instruction = 0, products = 0;
    for (const tb::InstructionCounters& counters : profile.kernels().at(0).counters) {
      by_instruction += counters.tensor_multiply_adds;
      products += counters.tensor_multiply_adds != 0 ? counters.instructions : 0;
    }
    return fmt::format("{}, {} by {}", totals.core.tensor_multiply_adds, by_instruction, products);
  };
  EXPECT_EQ(test::in_child(counted), "81920, 81920 by 40");
}

// Registers of a matrix that get other values between products: of four by a vector of two, a pair taken apart, one by
// one. The words are those of a in all lanes, of b, then zeros.
TEST(GpuMatrix, AMatrixIsWhatItsRegistersHold) {
  const std::string product =
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
      "{%f0,%f1,%f2,%f3};\n";
  const std::string text = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry now(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .u64 %a<3>;
  ld.param.u64 %a0, [out];
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  ld.global.v4.u32 {%r0,%r1,%r2,%r3}, [%a0];
  ld.global.v2.u32 {%r4,%r5}, [%a0+16];
)" + product + "ld.global.v2.u32 {%r0,%r1}, [%a0+24];\n" +
                           product + "ld.global.u64 %a1, [%a0+24]; mov.b64 {%r2,%r6}, %a1;\n" + product +
                           "ld.global.u32 %r3, [%a0+24];\n" + product + R"(
  mov.u32 %r7, %tid.x;
  mul.wide.u32 %a2, %r7, 16;
  add.u64 %a2, %a0, %a2;
  st.global.v4.f32 [%a2+32], {%f0,%f1,%f2,%f3};
  ret;
}
)";
  const std::string found = test::in_child([&] {
    std::vector<std::uint32_t> words(8 + 128);
    for (unsigned i = 0; i != 6; ++i) words[i] = 0x3c003c00;  // 1, twice
    words = test::words_left_by("h100-8sm", {}, text, {"now", {1, 1, 1}, {32, 1, 1}, 0, {}, 0, false}, words, true);
    std::vector<float> sums(4);
    std::memcpy(sums.data(), &words[8 + 4 * 7], 16);
    return fmt::format("{} {} {} {}", sums[0], sums[1], sums[2], sums[3]);
  });
  // Of 16 columns all, then the right half, then none of the upper rows, then none.
  EXPECT_EQ(found, "24 24 32 32");
}

std::string why_refused(const std::string& machine, const std::vector<std::string>& settings) {
  return test::in_child([&]() -> std::string {
    try {
      static_cast<void>(test::words_left_by(
          machine, settings, kProduct, {"product", {1, 1, 1}, {32 * kWarps, 1, 1}, 0, {}, 0, false}, factors(), true));
    } catch (const InputError& error) {
      return error.what();
    }
    return "runs";
  });
}

TEST(GpuMatrix, MachinesWithoutTensorCoresRefuseThem) {
  EXPECT_EQ(why_refused("baseline", {}),
            "kernel.ptx:49: an operation on matrices (mma, ldmatrix): the machine has no tensor cores "
            "(core.tensor_rate = 0); run it on a machine with tensor cores, as h100 or a100");
  EXPECT_NE(why_refused("baseline", {"core.tensor_rate=64", "core.simd_width=16"}).find("core.simd_width is 16"),
            std::string::npos);
}

// A warp's cycles for so many products, each of the sum of the one before it or of one of eight sums.
double cycles_of_products(const std::vector<std::string>& settings, const std::string& form, unsigned count,
                          bool dependent) {
  const std::string counted = test::in_child([&] {
    std::string body;
    for (unsigned i = 0; i != count; ++i) {
      const unsigned first = dependent ? 0 : i % 8 * 4;
      const std::string sum = fmt::format("{{%f{}, %f{}, %f{}, %f{}}}", first, first + 1, first + 2, first + 3);
      body += fmt::format("  mma.sync.aligned.{} {}, {};\n", form.substr(0, form.find('|')), sum,
                          form.substr(form.find('|') + 1) + ", " + sum);
    }
    std::string sums = "add.f32 %f32, %f0, %f1;";
    for (unsigned i = 2; i != 32; ++i) sums += fmt::format(" add.f32 %f32, %f32, %f{};", i);
    const std::string text = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry chain(.param .u64 out)
{
  .reg .pred %p0;
  .reg .b32 %r<12>;
  .reg .f32 %f<34>;
  .reg .u64 %a0;
  .reg .u64 %t<3>;
  ld.param.u64 %a0, [out];
  mov.u32 %r10, 16;
PASS:
  mov.u64 %t0, %clock64;
)" + body + R"(
  mov.u64 %t1, %clock64;
  sub.u32 %r10, %r10, 1;
  setp.ne.u32 %p0, %r10, 0;
  @%p0 bra PASS;
  sub.u64 %t2, %t1, %t0;
  st.global.u64 [%a0], %t2;
  )" + sums + R"(
  st.global.f32 [%a0+8], %f32;
  ret;
}
)";
    return std::to_string(test::words_left_by("a100-8sm", settings, text,
                                              {"chain", {1, 1, 1}, {32, 1, 1}, 0, {}, 0, false}, {0, 0, 0}, true)[0]);
  });
  return std::stod(counted);
}

constexpr const char* kLarge = "m16n8k16.row.col.f32.f16.f16.f32|{%r1,%r2,%r3,%r4}, {%r5,%r6}";
constexpr const char* kSmall = "m16n8k8.row.col.f32.f16.f16.f32|{%r1,%r2}, {%r5}";

// Cycles that one more product takes.
double of_one(const std::vector<std::string>& settings, const std::string& form, bool dependent) {
  return (cycles_of_products(settings, form, 40, dependent) - cycles_of_products(settings, form, 8, dependent)) / 32;
}

TEST(GpuMatrix, TimeIsThatOfTheTensorCore) {
  // 2,048 and 1,024 multiply-adds, 256 in a cycle.
  EXPECT_EQ(of_one({}, kLarge, false), 8);
  EXPECT_NEAR(of_one({}, kSmall, false), 4, 0.5);  // six dependence counters for eight sums
  EXPECT_EQ(of_one({"core.tensor_rate=128"}, kLarge, false), 16);
  EXPECT_EQ(of_one({}, "m16n8k8.row.col.f32.tf32.tf32.f32|{%r1,%r2,%r3,%r4}, {%r5,%r6}", false), 8);
  // A sum that the next product wants comes after the products' cycles and tensor_latency, and as long as results of
  // units with a dependence counter take.
  const double large = of_one({}, kLarge, true), small = of_one({}, kSmall, true);
  EXPECT_EQ(large - small, 4);
  EXPECT_GE(small, 14);
  EXPECT_LE(small, 20);
  EXPECT_EQ(of_one({"core.tensor_latency=30"}, kLarge, true) - large, 20);
}

}  // namespace
}  // namespace heddle::matrices
