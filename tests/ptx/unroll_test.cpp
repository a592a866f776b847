// Unrolling: which loops go through several iterations at a time, what their code is, and that every form of counter,
// test and bound computes what C++ on the host does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/ptx/unrolling.hpp"

namespace heddle::ptx::unroll_test {
namespace {

using unrolling::compiled;
using unrolling::count;
using unrolling::kWords;
using unrolling::Ran;

constexpr unsigned kThreads = 32;

CompileOptions options_of(unsigned unroll, unsigned registers = isa::kRegisters, unsigned schedule_within = 0) {
  CompileOptions options;
  options.unroll = unroll;
  options.max_registers = registers;
  options.schedule_within = schedule_within;
  return options;
}

Ran ran(const isa::Module& module) {
  return unrolling::ran(module, kThreads, [](unsigned i) { return 1000 + 7 * i; });
}

// %r1: thread. %rd1: buffer, %rd2: the thread's word. The body is between.
std::string kernel_text(const std::string& body) {
  return ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 buffer) {\n"
         ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>; .shared .b32 s[64];\n"
         "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [buffer]; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd1, %rd3;\n" +
         body + "\nexit; }\n";
}

// ---- every form, against the host

struct Form {
  bool wide = false, is_signed = false;
  std::string comparison;  // "lt"
  std::int64_t start = 0, start_by_thread = 0, bound = 0, bound_by_thread = 0, step = 1;
  bool constant_start = false, constant_bound = false;
  bool counts_first = true;  // the counter changes before the test
  bool swapped = false;      // bound against counter
  bool inverted = false;     // leaves when the opposite holds
  bool keeps_copy = false;   // the counter goes round by a second register, as compilers' phi moves have it
  bool low = false;          // of a wide counter the lower word is compared
};

std::int64_t wrapped(const Form& form, std::int64_t value) {
  if (form.wide) return value;
  return form.is_signed ? std::int64_t{static_cast<std::int32_t>(value)}
                        : std::int64_t{static_cast<std::uint32_t>(value)};
}
// What is compared of a counter or a bound.
std::int64_t compared(const Form& form, std::int64_t value) {
  Form narrow = form;
  narrow.wide = form.wide && !form.low;
  return wrapped(narrow, value);
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

bool holds(const Form& form, const std::string& comparison, std::int64_t a, std::int64_t b) {
  const auto less = [&](std::int64_t x, std::int64_t y) {
    return form.is_signed ? x < y : static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(y);
  };
  if (comparison == "eq") return a == b;
  if (comparison == "ne") return a != b;
  if (comparison == "lt") return less(a, b);
  if (comparison == "le") return !less(b, a);
  if (comparison == "gt") return less(b, a);
  return !less(a, b);
}

constexpr std::uint64_t kMostIterations = 60;

struct Expected {
  std::uint32_t word = 0;
  std::int64_t counter = 0;
};
// Nothing: the thread goes round too often.
std::optional<Expected> on_host(const Form& form, unsigned thread) {
  std::int64_t counter = wrapped(form, sum(form.start, form.start_by_thread * thread));
  const std::int64_t bound = wrapped(form, sum(form.bound, form.bound_by_thread * thread));
  std::uint32_t word = thread, at = thread;
  for (std::uint64_t round = 0;; ++round) {
    if (round == kMostIterations) return std::nullopt;
    word = word * 31 + (1000 + 7 * (at % kWords)) + static_cast<std::uint32_t>(counter);
    at += 32;
    const std::int64_t before = counter;
    counter = wrapped(form, sum(counter, form.step));
    const std::int64_t tested = compared(form, form.counts_first ? counter : before);
    if (!holds(form, form.comparison, tested, compared(form, bound))) break;
  }
  return Expected{word, counter};
}

std::string opposite(const std::string& comparison) {
  if (comparison == "eq") return "ne";
  if (comparison == "ne") return "eq";
  if (comparison == "lt") return "ge";
  if (comparison == "le") return "gt";
  if (comparison == "gt") return "le";
  return "lt";
}
std::string mirrored(const std::string& comparison) {
  if (comparison == "lt") return "gt";
  if (comparison == "le") return "ge";
  if (comparison == "gt") return "lt";
  if (comparison == "ge") return "le";
  return comparison;
}

// Each iteration reads the word 32 further, and adds it and the counter to 31 times the thread's sum.
std::string text_of(const Form& form) {
  const std::string type = std::string(form.is_signed ? "s" : "u") + (form.wide ? "64" : "32");
  const std::string test_type = std::string(form.is_signed ? "s" : "u") + (form.wide && !form.low ? "64" : "32");
  const std::string bits = form.wide ? "b64" : "b32";
  const std::string counter = form.wide ? "%rd10" : "%r10", second = form.wide ? "%rd13" : "%r13";
  const std::string bound_register = form.wide ? "%rd11" : "%r11", scaled = form.wide ? "%rd12" : "%r12";
  const auto start = [&](const std::string& to, std::int64_t base, std::int64_t by_thread, bool constant) {
    if (constant) return fmt::format("mov.{} {}, {};\n", bits, to, base);
    std::string text = form.wide ? fmt::format("cvt.u64.u32 {0}, %r1; mul.lo.s64 {0}, {0}, {1};", scaled, by_thread)
                                 : fmt::format("mul.lo.s32 {}, %r1, {};", scaled, by_thread);
    return text + fmt::format(" mov.{0} {1}, {2}; add.{3} {1}, {1}, {4};\n", bits, to, base, type, scaled);
  };
  std::string text = start(counter, form.start, form.start_by_thread, form.constant_start);
  std::string bound = bound_register;
  if (form.constant_bound) {
    bound = fmt::format("{}", form.bound);
    if (form.swapped) text += fmt::format("mov.{} {}, {};\n", bits, bound_register, form.bound), bound = bound_register;
    if (form.low && !form.swapped) bound = fmt::format("{}", compared(form, form.bound));
  } else {
    text += start(bound_register, form.bound, form.bound_by_thread, false);
  }
  if (form.low && bound == bound_register) text += "cvt.u32.u64 %r11, %rd11;\n", bound = "%r11";
  text += "mov.u32 %r2, %r1; mov.u64 %rd4, %rd2;\nLOOP:\n ld.global.u32 %r3, [%rd4]; mad.lo.u32 %r2, %r2, 31, %r3;\n";
  text += form.wide ? fmt::format(" cvt.u32.u64 %r4, {}; add.u32 %r2, %r2, %r4;\n", counter)
                    : fmt::format(" add.u32 %r2, %r2, {};\n", counter);
  text += " add.u64 %rd4, %rd4, 128;\n";
  const std::string comparison = form.inverted ? opposite(form.comparison) : form.comparison;
  const std::string whole = form.keeps_copy && form.counts_first ? second : counter;
  const std::string tested = form.low ? "%r14" : whole;
  const std::string lower = form.low ? fmt::format(" cvt.u32.u64 %r14, {};\n", whole) : "";
  const std::string test =
      lower + (form.swapped ? fmt::format(" setp.{}.{} %p1, {}, {};\n", mirrored(comparison), test_type, bound, tested)
                            : fmt::format(" setp.{}.{} %p1, {}, {};\n", comparison, test_type, tested, bound));
  const std::string change = form.keeps_copy ? fmt::format(" add.{} {}, {}, {};\n", type, second, counter, form.step)
                                             : fmt::format(" add.{0} {1}, {1}, {2};\n", type, counter, form.step);
  text += form.counts_first ? change + test : test + change;
  if (form.keeps_copy) text += fmt::format(" mov.{} {}, {};\n", bits, counter, second);
  text += form.inverted ? " @%p1 bra DONE; bra.uni LOOP;\nDONE:\n" : " @%p1 bra LOOP;\n";
  text += "st.global.u32 [%rd2], %r2;\n";
  if (!form.wide) return kernel_text(text + fmt::format("st.global.u32 [%rd2+8192], {};", counter));
  // Twice the room for counters of 64 bits.
  return kernel_text(text + fmt::format("add.u64 %rd5, %rd2, %rd3; st.global.u64 [%rd5+8192], {};", counter));
}

std::string describe(const Form& form) {
  return fmt::format("{}{} {} start {}+{}t bound {}+{}t step {}{}{}{}{}{}", form.is_signed ? "s" : "u",
                     form.wide ? 64 : 32, form.comparison, form.start, form.start_by_thread, form.bound,
                     form.bound_by_thread, form.step, form.counts_first ? "" : " tests first",
                     form.swapped ? " swapped" : "", form.inverted ? " inverted" : "", form.keeps_copy ? " copied" : "",
                     form.low ? " low" : "");
}

// A form of which every thread goes round at most kMostIterations times.
std::optional<Form> random_form(std::mt19937& random) {
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
  };
  Form form;
  form.wide = below(2) == 1;
  form.is_signed = below(2) == 1;
  static const char* const kComparisons[] = {"ne", "lt", "le", "gt", "ge", "eq"};
  form.comparison = kComparisons[below(5 + (below(20) == 0 ? 1 : 0))];
  form.step = std::int64_t{1} << below(5);
  if (form.comparison != "ne" && below(3) == 0) form.step = 1 + below(9);
  if (form.comparison == "gt" || form.comparison == "ge" || (form.comparison == "ne" && below(2) == 0)) {
    form.step = -form.step;
  }
  const std::int64_t iterations = below(44), spread = below(3) == 0 ? below(3) : 0;
  switch (below(4)) {
    case 0:
      form.start = below(100) - 50;
      break;
    case 1:  // near an end of the numbers
      form.start = form.is_signed ? (form.wide ? std::numeric_limits<std::int64_t>::max()
                                               : std::int64_t{std::numeric_limits<std::int32_t>::max()})
                                  : (form.wide ? -1 : std::int64_t{std::numeric_limits<std::uint32_t>::max()});
      form.start = sum(form.start, -below(60) * (form.step < 0 ? 0 : form.step));
      break;
    case 2:
      form.start = form.is_signed ? (form.wide ? std::numeric_limits<std::int64_t>::min()
                                               : std::int64_t{std::numeric_limits<std::int32_t>::min()})
                                  : 0;
      form.start = sum(form.start, below(60) * (form.step > 0 ? 0 : -form.step));
      break;
    default:
      form.start = 0;
  }
  form.start = wrapped(form, form.start);
  form.bound = wrapped(form, sum(form.start, iterations * form.step));
  if (form.comparison != "ne" && below(4) == 0) form.bound = wrapped(form, sum(form.bound, below(9) - 4));
  form.bound_by_thread = form.comparison == "ne" ? spread * form.step : below(2) * spread * form.step;
  if (below(5) == 0) form.start_by_thread = form.bound_by_thread;
  form.constant_start = form.start_by_thread == 0 && below(2) == 0;
  form.constant_bound = form.bound_by_thread == 0 && below(2) == 0;
  form.counts_first = below(4) != 0;
  form.swapped = below(4) == 0;
  form.inverted = below(4) == 0;
  form.keeps_copy = below(3) == 0;
  form.low = form.wide && below(3) == 0;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    if (!on_host(form, thread)) return std::nullopt;
  }
  return form;
}

TEST(Unroll, EveryFormComputesWhatTheHostDoes) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same forms every time
  unsigned forms = 0, changed = 0, with_rest = 0, in_full = 0;
  while (forms < 600) {
    const std::optional<Form> form = random_form(random);
    if (!form) continue;
    ++forms;
    SCOPED_TRACE(describe(*form));
    const std::string text = text_of(*form);
    const isa::Module plain = compiled(text, options_of(0));
    static const unsigned kTimes[] = {2, 3, 4, 8, 16};
    for (const unsigned times : {kTimes[forms % 5], 4U}) {
      const isa::Module module =
          compiled(text, options_of(times, forms % 3 == 0 ? 16 : isa::kRegisters, forms % 2 == 0 ? 32 : 0));
      changed += module.kernels.front().words.size() != plain.kernels.front().words.size() ? 1U : 0U;
      with_rest += count(module, isa::Op::BRA) > count(plain, isa::Op::BRA) ? 1U : 0U;
      in_full += count(module, isa::Op::BRA) == 0 ? 1U : 0U;
      const Ran values = ran(module);
      for (unsigned thread = 0; thread < kThreads; ++thread) {
        const Expected expected = *on_host(*form, thread);
        ASSERT_EQ(values.words[thread], expected.word) << "thread " << thread << ", " << times << " at a time\n"
                                                       << text;
        const unsigned at = 2048 + (form->wide ? 2 * thread : thread);
        ASSERT_EQ(values.words[at], static_cast<std::uint32_t>(expected.counter)) << "thread " << thread << "\n"
                                                                                  << text;
        if (form->wide) {
          ASSERT_EQ(values.words[at + 1], static_cast<std::uint32_t>(expected.counter >> 32U)) << "thread " << thread;
        }
      }
    }
  }
  EXPECT_GT(changed, 900U) << "most forms are unrolled";
  EXPECT_GT(with_rest, 400U);
  EXPECT_GT(in_full, 100U);
}

// ---- which loops, and what becomes of them

// Adds `count` words 128 bytes apart; `count` is a number or %r5, which is the thread's.
std::string sum_text(const std::string& count, const std::string& more = {}, const std::string& pragma = {}) {
  return kernel_text(
      "and.b32 %r5, %r1, 15; add.u32 %r5, %r5, 20; mov.u32 %r2, 0; mov.u32 %r4, 0; mov.u64 %rd4, %rd2;\n"
      "LOOP: " +
      pragma + "\n ld.global.u32 %r3, [%rd4]; add.u32 %r2, %r2, %r3;\n" + more +
      " add.u64 %rd4, %rd4, 128; add.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, " + count +
      "; @%p1 bra LOOP;\nst.global.u32 [%rd2], %r2;");
}

// Instructions without and with unrolling by 4.
struct Sizes {
  std::size_t plain = 0, unrolled = 0;
  std::uint64_t ran_plain = 0, ran_unrolled = 0;
};
Sizes sizes(const std::string& text, unsigned times = 4) {
  const isa::Module plain = compiled(text, options_of(0)), unrolled = compiled(text, options_of(times));
  const Ran one = ran(plain), other = ran(unrolled);
  EXPECT_EQ(one.words, other.words);
  return {plain.kernels.front().words.size(), unrolled.kernels.front().words.size(), one.warp_instructions,
          other.warp_instructions};
}

TEST(Unroll, ALoopOfAKnownCountIsItsCopiesWithOffsetsInTheLoads) {
  const std::string text = sum_text("10");
  const isa::Module module = compiled(text, options_of(4));
  EXPECT_EQ(count(module, isa::Op::BRA), 0U);
  EXPECT_EQ(count(module, isa::Op::LD_GLOBAL_E), 10U);
  EXPECT_EQ(count(module, isa::Op::ADD64), 0U) << "offsets stand in the loads";
  const Sizes all = sizes(text);
  EXPECT_EQ(all.ran_plain - all.ran_unrolled, 10 * 4 + 2U)
      << "of six instructions an iteration two are left, and nothing of counter and address in front of the loop";
}

TEST(Unroll, AKnownCountThatIsTooLongIsDivided) {
  const isa::Module module = compiled(sum_text("1000"), options_of(4));
  EXPECT_EQ(count(module, isa::Op::BRA), 1U) << "no rest";
  EXPECT_EQ(count(module, isa::Op::LD_GLOBAL_E), 25U) << "the largest divisor up to 32";
  const isa::Module prime = compiled(sum_text("1009"), options_of(4));
  EXPECT_EQ(count(prime, isa::Op::LD_GLOBAL_E), 5U) << "four at a time, and a rest";
}

TEST(Unroll, AnUnknownCountGoesByFourAndHasARest) {
  const isa::Module module = compiled(sum_text("%r5"), options_of(4));
  EXPECT_EQ(count(module, isa::Op::LD_GLOBAL_E), 5U);
  const Sizes all = sizes(sum_text("%r5"));
  EXPECT_LT(all.ran_unrolled, all.ran_plain * 7 / 10);
  EXPECT_EQ(sizes(sum_text("%r5"), 1).plain, sizes(sum_text("%r5"), 1).unrolled);
}

TEST(Unroll, WhatThePragmaKeepsStays) {
  const std::string pragma = ".pragma \"nounroll\";";
  EXPECT_EQ(sizes(sum_text("10", "", pragma)).unrolled, sizes(sum_text("10")).plain);
  EXPECT_EQ(sizes(sum_text("%r5", "", pragma)).unrolled, sizes(sum_text("%r5")).plain);
  std::string whole = sum_text("10");
  whole.insert(whole.find(" {"), "\n" + pragma + "\n");
  EXPECT_EQ(sizes(whole).unrolled, sizes(whole).plain) << "at the kernel's begin it means all loops";
  std::string late = sum_text("10");
  late.insert(late.find("add.u32 %r2, %r2, %r3"), pragma + "\n");
  EXPECT_LT(sizes(late).ran_unrolled, sizes(late).ran_plain) << "behind the first instruction it means nothing";
}

TEST(Unroll, ThreadsThatMeetInEachIterationStayTogether) {
  for (const std::string together :
       {"bar.sync 0;", "shfl.sync.bfly.b32 %r3, %r3, 1, 31, -1; add.u32 %r2, %r2, %r3;", "@%p2 exit;"}) {
    const std::string set = "setp.gt.u32 %p2, %r2, 4000000;\n" + together;
    const Sizes known = sizes(sum_text("100", set));
    EXPECT_LT(known.ran_unrolled, known.ran_plain) << together;
    const isa::Module module = compiled(sum_text("%r5", set), options_of(4));
    EXPECT_EQ(count(module, isa::Op::LD_GLOBAL_E), 1U) << together;
  }
}

// cond_acc counts the lanes that come to it together; without independent threads a bar.warp.sync is no operation, but
// what it promises stays.
TEST(Unroll, LanesThatGoTogetherStayTogether) {
  const auto text = [](const std::string& body) {
    return kernel_text(
        "mov.u32 %r2, 0; mov.u32 %r4, 0; mov.u32 %r5, -1; mov.u32 %r9, s; mad.lo.u32 %r9, %r1, 4, %r9;\n"
        "setp.ge.u32 %p2, %r1, 0;\nLOOP: " +
        body + " add.u32 %r4, %r4, 1; setp.le.u32 %p1, %r4, %r1; @%p1 bra LOOP;\nst.global.u32 [%rd2], %r2;");
  };
  for (const std::string together :
       {"cond_acc.global.b32 %r3, [%rd1+8192], %p2, %r1; add.u32 %r2, %r2, %r3;",
        "st.shared.u32 [%r9], %r2; bar.warp.sync %r5; ld.shared.u32 %r3, [%r9+4]; add.u32 %r2, %r2, %r3;\n"
        "bar.warp.sync %r5; shl.b32 %r5, %r5, 1;"}) {
    const Sizes all = sizes(text(together));
    EXPECT_EQ(all.plain, all.unrolled) << together;
  }
}

TEST(Unroll, ALoopBeforeTheThreadsEndIsOne) {
  const std::string text = kernel_text(
      "mov.u32 %r4, 0; mov.u64 %rd4, %rd2;\nLOOP: st.global.u32 [%rd4], %r4; add.u64 %rd4, %rd4, 128;\n"
      "add.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 8; @%p1 bra LOOP;");
  EXPECT_EQ(count(compiled(text, options_of(4)), isa::Op::ST_GLOBAL_E), 8U);
  EXPECT_LT(sizes(text).ran_unrolled, sizes(text).ran_plain);
}

TEST(Unroll, LoopsMayDecideByOnePredicate) {
  const std::string loop =
      " ld.global.u32 %r3, [%rd4]; add.u32 %r2, %r2, %r3; add.u64 %rd4, %rd4, 128; add.u32 %r4, %r4, 1;\n"
      " setp.ne.u32 %p1, %r4, %r5; @%p1 bra ";
  const std::string text = kernel_text(
      "and.b32 %r5, %r1, 15; add.u32 %r5, %r5, 20; mov.u32 %r2, 0; mov.u32 %r4, 0; mov.u64 %rd4, %rd2;\nONE: " + loop +
      "ONE;\nmov.u32 %r4, 0; mov.u64 %rd4, %rd2;\nTWO: " + loop + "TWO;\nst.global.u32 [%rd2], %r2;");
  EXPECT_EQ(count(compiled(text, options_of(4)), isa::Op::LD_GLOBAL_E), 10U);
  EXPECT_LT(sizes(text).ran_unrolled, sizes(text).ran_plain);
}

// Moves that hand values on may stay, so that they count, too.
TEST(Unroll, MovesHaveABoundAsWell) {
  std::string moves, text = "mov.u32 %r2, 0; mov.u32 %r4, 0;\n";
  for (unsigned i = 0; i < 40; ++i) {
    text += fmt::format("add.u32 %q{}, %r1, {};", i, i * i);
    moves += fmt::format(" mov.u32 %q{}, %q{};", i, (i + 1) % 40);
  }
  text += "\nLOOP: add.u32 %r2, %r2, %q7;" + moves +
          " add.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 170; @%p1 bra LOOP;\nst.global.u32 [%rd2], %r2;";
  std::string whole = kernel_text(text);
  whole.insert(whole.find(".reg"), ".reg .b32 %q<40>; ");
  const Sizes all = sizes(whole);
  EXPECT_LT(all.unrolled, 1200U) << all.plain;
}

// An inlined function's pragma means the function.
TEST(Unroll, APragmaOfAFunctionIsForItsLoops) {
  const std::string loop =
      "mov.u32 %r4, 0; mov.u32 %r2, 0; mov.u64 %rd4, %rd2;\n"
      "LOOP: ld.global.u32 %r3, [%rd4]; add.u32 %r2, %r2, %r3; add.u64 %rd4, %rd4, 128;\n"
      "add.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 10; @%p1 bra LOOP;\n";
  std::string text = kernel_text("call.uni f, (%rd2);\n" + loop + "st.global.u32 [%rd2], %r2;");
  text.insert(text.find(".visible"),
              ".func f(.reg .b64 %rd2) .pragma \"nounroll\"; {\n.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd4;\n" +
                  loop + "st.global.u32 [%rd2+4096], %r2; ret; }\n");
  EXPECT_EQ(count(compiled(text, options_of(4)), isa::Op::LD_GLOBAL_E), 11U);
}

// What repeats and orders code needs more registers; where these do not suffice, code is left as it stands.
TEST(Unroll, FewRegistersRefuseNoKernel) {
  const std::string text = kernel_text(
      "mov.u32 %r9, s; mov.u32 %r2, 0; mov.u32 %r3, 1; mov.u32 %r4, 1;\n"
      "LOOP: st.shared.v2.u32 [%r9], {%r2, %r3}; ld.global.u32 %r3, [%rd2+256];\n"
      "add.s32 %r4, %r4, -2; setp.ne.s32 %p1, %r4, -15; @%p1 bra LOOP;\nst.global.u32 [%rd2], %r3;");
  for (const unsigned registers : {8U, 12U}) {  // the stores' vectors do not fit side by side
    const isa::Module plain = compiled(text, options_of(0, registers));
    const isa::Module unrolled = compiled(text, options_of(4, registers, 32));
    EXPECT_EQ(unrolled.kernels.front().words, plain.kernels.front().words) << registers;
  }
  EXPECT_EQ(count(compiled(text, options_of(4, 40, 32)), isa::Op::LD_GLOBAL_E), 8U);
}

TEST(Unroll, LongLoopsOfAnUnknownCountStay) {
  const auto loads = [](unsigned adds) {
    std::string more;
    for (unsigned i = 0; i < adds; ++i) more += " mad.lo.u32 %r2, %r2, %r2, %r3;\n";
    return count(compiled(sum_text("%r5", more), options_of(4)), isa::Op::LD_GLOBAL_E);
  };
  EXPECT_EQ(loads(34), 5U);
  EXPECT_EQ(loads(35), 1U) << "more than 40 instructions";
}

TEST(Unroll, OuterLoopsFollowInnerOnesThatAreGone) {
  const std::string text = kernel_text(
      "mov.u32 %r2, 0; mov.u32 %r6, 0; mov.u64 %rd4, %rd2;\n"
      "OUTER: mov.u32 %r4, 0;\n"
      "INNER: ld.global.u32 %r3, [%rd4]; add.u32 %r2, %r2, %r3; add.u64 %rd4, %rd4, 128; add.u32 %r4, %r4, 1;\n"
      "setp.lt.s32 %p1, %r4, 3; @%p1 bra INNER;\n"
      "add.u32 %r6, %r6, 2; setp.lt.s32 %p2, %r6, 7; @%p2 bra OUTER; st.global.u32 [%rd2], %r2;");
  const isa::Module module = compiled(text, options_of(4));
  EXPECT_EQ(count(module, isa::Op::BRA), 0U);
  EXPECT_EQ(count(module, isa::Op::LD_GLOBAL_E), 12U);
  (void)sizes(text);
}

// Stores, vectors, values that are needed behind the loop, and one that an iteration hands to the next.
TEST(Unroll, WhatIterationsLeaveIsThere) {
  for (const std::string count : {"%r5", "24", "25", "4"}) {
    const std::string body =
        "and.b32 %r5, %r1, 15; add.u32 %r5, %r5, 2; mov.u32 %r2, 0; mov.u32 %r4, 0; mov.u64 %rd4, %rd2;\n"
        "mov.u32 %r7, 5; mov.u32 %r8, 0;\n"
        "LOOP: ld.global.u32 %r3, [%rd4+4096]; add.u32 %r9, %r3, %r7; st.global.u32 [%rd4+8192], %r9;\n"
        "mov.u32 %r7, %r8; mov.u32 %r8, %r4; add.u32 %r10, %r4, 3; st.global.u32 [%rd4+4096], %r10;\n"
        "add.u64 %rd4, %rd4, 128; add.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, " +
        count +
        "; @%p1 bra LOOP;\nadd.u32 %r9, %r9, %r7; add.u32 %r9, %r9, %r8; add.u32 %r9, %r9, %r10;\n"
        "add.u32 %r9, %r9, %r4; st.global.u32 [%rd2], %r9; ld.global.u32 %r11, [%rd4]; st.global.u32 [%rd2+128], %r11;";
    const Sizes all = sizes(kernel_text(body));
    EXPECT_NE(all.unrolled, all.plain) << count;
  }
}

}  // namespace
}  // namespace heddle::ptx::unroll_test
