// Random loops of several blocks compute what they do as they stand, unrolled and compiled as for today's GPUs.
#include <fmt/format.h>

#include <array>
#include <random>

#include "tests/ptx/unrolling.hpp"

namespace heddle::ptx::unrolling {
namespace {

class RandomLoop {
 public:
  explicit RandomLoop(unsigned seed) : random_(seed), seed_(seed), barriers_(seed % 3 == 0) {}

  std::string text() {
    std::string body;
    // %r10 to %r15, %rd10 to %rd13 have values before the loop, %r16 to %r19, %rd14 and %rd15 only in it.
    for (unsigned i = 10; i != 16; ++i) body += fmt::format("mad.lo.u32 %r{}, %r1, {}, {};\n", i, number(), number());
    for (unsigned i = 16; i != 20; ++i) body += fmt::format("mov.u32 %r{}, {};\n", i, number());
    for (unsigned i = 10; i != 16; ++i) body += fmt::format("mul.wide.u32 %rd{}, %r{}, {};\n", i, i, number());
    for (unsigned i = 2; i != 5; ++i) body += fmt::format("setp.lt.u32 %p{}, %r{}, {};\n", i, 10 + i, number());
    for (unsigned i = 1; i != 4; ++i) body += fmt::format("cvt.rn.f32.s32 %f{}, %r{};\n", i, 10 + i);
    const unsigned iterations = 1 + pick(5), step = 1 + pick(9);
    const std::uint32_t begin = pick(2) == 0 ? pick(5) : number() & 0xffffffU;
    const bool down = pick(3) == 0, wide = pick(4) == 0;
    const auto sign = static_cast<std::int64_t>(down ? -1 : 1) * step;
    const std::int64_t end = static_cast<std::int32_t>(begin) + sign * iterations;
    const char* const type = wide ? "64" : "32";
    const std::string counter = wide ? "%rd20" : "%r20";
    body += fmt::format("mov.b{} {}, {};\n", type, counter, static_cast<std::int32_t>(begin));
    if (!barriers_ && iterations > 1 && pick(8) == 0)
      body += fmt::format("@%p2 mov.b{} {}, {};\n", type, counter, static_cast<std::int32_t>(begin) + sign);
    if (wide) body += "cvt.u32.u64 %r20, %rd20;\n";
    body += "LOOP:\n";
    const unsigned statements = 1 + pick(5);
    for (unsigned i = 0; i != statements; ++i) body += statement(0);
    if (pick(4) != 0) body += region(1);
    body += fmt::format("add.s{} {}, {}, {};\n", type, counter, counter, sign);
    if (wide) body += "cvt.u32.u64 %r20, %rd20;\n";
    if (pick(3) == 0) body += statement(0);
    const bool in_arm = !barriers_ && pick(8) == 0;
    if (in_arm) body += fmt::format("@%p3 bra KEEP; add.s{} {}, {}, {};\nKEEP:\n", type, counter, counter, sign);
    const char* const goes_on = (step & (step - 1)) == 0 && !in_arm ? "ne" : down ? "gt" : "lt";
    body += fmt::format("setp.{}.s{} %p1, {}, {}; @%p1 bra LOOP;\nOUT:\n", goes_on, type, counter,
                        wide ? end : static_cast<std::int32_t>(end));
    body += "mov.u32 %r2, 1;\n";
    for (unsigned i = 10; i != 21; ++i) body += fmt::format("mad.lo.u32 %r2, %r2, 31, %r{};\n", i);
    // In every other program of the lower words alone.
    const char* const upper = seed_ % 2 == 0 ? "shr.u64 %rd30, %rd{0}, 32; xor.b64 %rd30, %rd30, %rd{0};\n" : "";
    for (unsigned i = 10; i != 16; ++i) {
      body += fmt::format(fmt::runtime(upper), i);
      body += fmt::format("cvt.u32.u64 %r3, %rd{}; mad.lo.u32 %r2, %r2, 33, %r3;\n", *upper != 0 ? 30 : i);
    }
    for (unsigned i = 1; i != 4; ++i) body += fmt::format("mov.b32 %r3, %f{}; mad.lo.u32 %r2, %r2, 35, %r3;\n", i);
    for (unsigned i = 2; i != 5; ++i)
      body += fmt::format("selp.u32 %r3, 5, 9, %p{}; mad.lo.u32 %r2, %r2, 7, %r3;\n", i);
    return kernel_of(body + "st.global.u32 [%rd2+8192], %r2;");
  }

 private:
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  std::uint32_t number() {
    static constexpr std::array<std::uint32_t, 10> kEdges{0, 1, 2, 3, 4, 16, 31, 64, 255, 0x7fffffff};
    return pick(3) == 0 ? static_cast<std::uint32_t>(random_()) & 0x7fffffffU : kEdges[pick(kEdges.size())];
  }
  std::string reg() { return fmt::format("%r{}", pick(4) == 0 ? 20 : pick(5) == 0 ? 1 : 10 + pick(10)); }
  std::string to() { return fmt::format("%r{}", 10 + pick(10)); }
  std::string source() { return pick(3) == 0 ? fmt::format("{}", number()) : reg(); }
  std::string wide() { return fmt::format("%rd{}", 10 + pick(6)); }
  std::string real() { return fmt::format("%f{}", 1 + pick(3)); }
  std::string predicate() { return fmt::format("%p{}", 2 + pick(3)); }

  std::string compute() {
    static constexpr std::array<const char*, 17> kTwo{
        "add.u32", "sub.u32", "mul.lo.u32", "and.b32", "or.b32",  "xor.b32", "shl.b32", "shr.u32",   "shr.s32",
        "min.s32", "max.u32", "mul.hi.u32", "min.u32", "max.s32", "sub.s32", "rem.u32", "mul.hi.s32"};
    static constexpr std::array<const char*, 7> kOne{"popc.b32", "clz.b32", "brev.b32", "not.b32",
                                                     "abs.s32",  "neg.s32", "cnot.b32"};
    static constexpr std::array<const char*, 6> kWide{"add.u64", "sub.u64", "mul.lo.u64",
                                                      "and.b64", "or.b64",  "xor.b64"};
    static constexpr std::array<const char*, 4> kReal{"add.f32", "mul.f32", "min.f32", "sub.f32"};
    static constexpr std::array<const char*, 3> kComparison{"lt.u32", "ge.s32", "eq.u32"};
    switch (pick(30)) {
      case 0:
        return fmt::format("mad.lo.u32 {}, {}, {}, {};", to(), reg(), source(), reg());
      case 1:
        return fmt::format("bfe.u32 {}, {}, {}, {};", to(), reg(), pick(32), pick(33));
      case 2:
        return fmt::format("bfi.b32 {}, {}, {}, {}, {};", to(), reg(), reg(), pick(32), pick(33));
      case 3:
        return fmt::format("prmt.b32 {}, {}, {}, {};", to(), reg(), reg(), pick(65536));
      case 4:
        return fmt::format("selp.u32 {}, {}, {}, {};", to(), reg(), source(), predicate());
      case 5:
        return fmt::format("{} {}, {};", kOne[pick(kOne.size())], to(), reg());
      case 6:
        return fmt::format("setp.{} {}, {}, {};", kComparison[pick(3)], predicate(), reg(), source());
      case 7:
        return fmt::format("setp.{}.and.u32 {}, {}, {}, {};", pick(2) == 0 ? "lt" : "ne", predicate(), reg(), source(),
                           predicate());
      case 8:
        return fmt::format("xor.pred {}, {}, {};", predicate(), predicate(), predicate());
      case 9:
        return fmt::format("{} {}, {}, {};", kWide[pick(kWide.size())], wide(), wide(), wide());
      case 10:
        return fmt::format("mad.wide.{} {}, {}, {}, {};", pick(2) == 0 ? "u32" : "s32", wide(), reg(), source(),
                           wide());
      case 11:
        return fmt::format("shl.b64 {}, {}, {};", wide(), wide(), pick(70));
      case 12:
        return fmt::format("cvt.{} {}, {};", pick(2) == 0 ? "u64.u32" : "s64.s32", wide(), reg());
      case 13:
        return fmt::format("cvt.u32.u64 {}, {};", to(), wide());
      case 14:
        return fmt::format("cvt.{} {}, {};", pick(2) == 0 ? "rn.f32.u32" : "rp.f32.s32", real(), reg());
      case 15:
        return fmt::format("cvt.rzi.s32.f32 {}, {};", to(), real());
      case 16:
        return fmt::format("{} {}, {}, {};", kReal[pick(kReal.size())], real(), real(), real());
      case 17:
        return fmt::format("{} {}, {};", pick(2) == 0 ? "ex2.approx.ftz.f32" : "sin.approx.f32", real(), real());
      default:
        return fmt::format("{} {}, {}, {};", kTwo[pick(kTwo.size())], to(), reg(), source());
    }
  }

  // Words of the buffer below 1024 words are read, words of the scratchpad by their thread alone.
  std::string access() {
    const std::string shared = "mov.u64 %rd31, s; add.u64 %rd31, %rd31, %rd32;";
    switch (pick(4)) {
      case 0:
        return fmt::format(
            "and.b32 %r30, {}, 1023; mul.wide.u32 %rd30, %r30, 4; add.u64 %rd30, %rd1, %rd30;\n"
            "ld.global.u32 {}, [%rd30+{}];",
            reg(), to(), 4 * pick(64));
      case 1:
        return fmt::format(
            "and.b32 %r30, {}, 7; shl.b32 %r30, %r30, 6; add.u32 %r30, %r30, %r1;\n"
            "cvt.u64.u32 %rd32, %r30; shl.b64 %rd32, %rd32, 2; {} st.shared.u32 [%rd31], {};",
            reg(), shared, reg());
      case 2:
        return fmt::format(
            "and.b32 %r30, {}, 7; mad.lo.u32 %r30, %r30, 64, %r1; mul.wide.u32 %rd32, %r30, 4; {}\n"
            "ld.shared.u32 {}, [%rd31];",
            reg(), shared, to());
      default:
        return fmt::format(
            "add.u32 %r31, %r1, {}; and.b32 %r31, %r31, 63; shl.b32 %r31, %r31, 2;\n"
            "cvt.u64.u32 %rd33, %r31; add.u64 %rd33, %rd1, %rd33; st.global.u32 [%rd33+12288], %r1;",
            64 * pick(4));
    }
  }

  std::string statement(unsigned depth) {
    if (depth < 2 && pick(5) == 0) return region(depth);
    if (depth == 0 && barriers_ && pick(6) == 0) return "bar.sync 0;\n";
    if (pick(4) == 0) return access() + "\n";
    const std::string guard = pick(5) == 0 ? fmt::format("@{}{} ", pick(2) == 0 ? "!" : "", predicate()) : "";
    return guard + compute() + "\n";
  }

  std::string region(unsigned depth) {
    const unsigned label = labels_++;
    std::string out = fmt::format("@{}{} bra ELSE{};\n", pick(2) == 0 ? "!" : "", predicate(), label);
    for (unsigned i = 0, many = 1 + pick(3); i != many; ++i) out += statement(depth + 1);
    if (!barriers_ && pick(6) == 0) {
      out += "bra OUT;\n";
    } else if (pick(2) == 0) {
      out += fmt::format("bra NEXT{};\n", label);
    }
    out += fmt::format("ELSE{}:\n", label);
    for (unsigned i = 0, many = pick(3); i != many; ++i) out += statement(depth + 1);
    return out + fmt::format("NEXT{}:\n", label);
  }

  std::mt19937 random_;
  unsigned seed_;
  bool barriers_;
  unsigned labels_ = 0;
};

TEST(UnrollBlocks, RandomLoopsComputeWhatTheyDoAsTheyStand) {
  unsigned loops = 0, gone = 0;
  for (unsigned seed = 1; seed <= 400 && !testing::Test::HasFailure(); ++seed) {
    const std::string text = RandomLoop(seed).text();
    SCOPED_TRACE(text);
    const isa::Module plain = compiled(text, {});
    const std::vector<std::uint32_t> reference = words_of(plain);
    for (const bool today : {false, true}) {
      CompileOptions options = unrolling();
      options.if_conversion = today || seed % 2 == 0 ? 6 : 0;
      options.predicated_loads = !today;
      options.peephole = today;
      options.software_division = today;
      options.schedule_within = today ? 48 : 0;
      options.max_registers = seed % 5 == 0 ? 20 : isa::kNarrowRegisters;
      const isa::Module module = compiled(text, options);
      EXPECT_EQ(words_of(module), reference) << "today: " << today << ", seed " << seed;
      loops += branches_back(plain) != 0 ? 1U : 0U;
      gone += branches_back(plain) != 0 && branches_back(module) == 0 ? 1U : 0U;
    }
  }
  EXPECT_GT(gone, loops / 2) << "of " << loops;
}

}  // namespace
}  // namespace heddle::ptx::unrolling
