// Control bits: what the compiler writes for short pieces of code, and that random code keeps its dependences on all
// ways through it (control_bits_paths.hpp).
#include "ptx/control_bits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/ptx/control_bits_paths.hpp"

namespace heddle::ptx {
namespace {

using isa::ControlBits;
using isa::Op;

// Simple operations 4 cycles, halves 7; memory, barriers and complex operations have no fixed time.
isa::ResultTime usual_times(const isa::Instruction& in) {
  switch (isa::info(in.op).unit) {
    case isa::Unit::half:
      return {7};
    case isa::Unit::alu:
    case isa::Unit::warp:
    case isa::Unit::control:
      return {4};
    default:
      return {};
  }
}

std::vector<isa::Instruction> with_bits(const std::vector<std::string>& texts,
                                        const isa::ResultTimes& times = usual_times) {
  std::vector<isa::Instruction> code;
  for (const std::string& text : texts) code.push_back(isa::assemble(text));
  const std::vector<ControlBits> bits = control_bits(code, times);
  for (std::size_t pc = 0; pc != code.size(); ++pc) code[pc].control = bits[pc];
  return code;
}
std::vector<unsigned> stalls(const std::vector<isa::Instruction>& code) {
  std::vector<unsigned> out;
  for (const isa::Instruction& in : code) out.push_back(in.control.stall);
  return out;
}
using Stalls = std::vector<unsigned>;

TEST(ControlBits, StallCountsKeepWhatHasAFixedTime) {
  EXPECT_EQ(stalls(with_bits({"add r1, r2, r3", "add r4, r1, r1", "exit"})), (Stalls{4, 1, 1}));
  EXPECT_EQ(stalls(with_bits({"add r1, r2, r3", "add r5, r2, r3", "add r4, r1, r1", "exit"})), (Stalls{1, 3, 1, 1}));
  EXPECT_EQ(stalls(with_bits({"add r1, r2, r3", "add r2, r3, r3", "exit"})), (Stalls{1, 1, 1})) << "write after read";
  EXPECT_EQ(stalls(with_bits({"add r1, r2, r3", "add r1, r3, r3", "exit"})), (Stalls{4, 1, 1})) << "write after write";
  EXPECT_EQ(stalls(with_bits({"setp.lt.s32 p1, r2, r3", "@p1 add r1, r3, r3", "exit"})), (Stalls{4, 1, 1}));
  EXPECT_EQ(stalls(with_bits({"hadd.bf16.x2 r1, r2, r3", "add r4, r1, r1", "exit"})), (Stalls{7, 1, 1}))
      << "halves take longer";
}

TEST(ControlBits, CountersKeepWhatHasNone) {
  const auto code =
      with_bits({"ld.global.b32 r1, [r2]", "ld.global.b32 r3, [r2+4]", "add r4, r3, r3", "add r5, r1, r1", "exit"});
  EXPECT_EQ(stalls(code), (Stalls{1, 1, 1, 1, 1}));
  const unsigned first = code[0].control.write, second = code[1].control.write;
  ASSERT_LT(first, ControlBits::kCounters);
  ASSERT_LT(second, ControlBits::kCounters);
  EXPECT_NE(first, second);
  EXPECT_EQ(code[2].control.wait, 1U << second);
  EXPECT_EQ(code[3].control.wait, 1U << first);
  EXPECT_EQ(code[4].control.wait, 0U);
}

TEST(ControlBits, OperandsOfWhatIsOutstandingAreNotWritten) {
  const auto code = with_bits({"st.global.b32 [r2], r1", "add r3, r1, r1", "add r1, r3, r3", "exit"});
  EXPECT_EQ(code[0].control.write, ControlBits::kNoCounter) << "a store has no results";
  ASSERT_LT(code[0].control.read, ControlBits::kCounters);
  EXPECT_EQ(code[1].control.wait, 0U);
  EXPECT_EQ(code[2].control.wait, 1U << code[0].control.read);
  const auto load = with_bits({"ld.global.b32 r1, [r2]", "add r2, r2, 0x4", "add r3, r1, r1", "exit"});
  EXPECT_EQ(load[1].control.wait, 1U << load[0].control.read) << "not for the load itself";
  EXPECT_EQ(load[2].control.wait, 1U << load[0].control.write);
}

TEST(ControlBits, WhatIsLeftAtTheEndOfABlockIsKeptBehindIt) {
  // Round the loop the load's result is needed, and the sum's, by the first instruction.
  const auto loop =
      with_bits({"add r1, r1, r2", "ld.global.b32 r2, [r3]", "add r1, r1, r4", "@p0 bra 0, reconverge 4", "exit"});
  EXPECT_EQ(loop[0].control.wait, 1U << loop[1].control.write);
  EXPECT_EQ(stalls(loop), (Stalls{1, 3, 1, 3, 1}));
  // A load on one way only, and a longer time on the other.
  const auto join = with_bits({"@p0 bra 3, reconverge 4", "ld.global.b32 r1, [r3]", "bra 4", "hadd.bf16.x2 r1, r3, r3",
                               "add r5, r1, r1", "exit"});
  EXPECT_EQ(join[4].control.wait, 1U << join[1].control.write);
  EXPECT_EQ(stalls(join), (Stalls{1, 1, 1, 7, 1, 1}));
}

TEST(ControlBits, MoreLoadsThanCountersShareTheLastOne) {
  std::vector<std::string> texts;
  for (unsigned i = 0; i != 9; ++i) texts.push_back(fmt::format("ld.global.b32 r{}, [r20+{}]", i, 4 * i));
  texts.emplace_back("add r30, r0, r0");
  texts.emplace_back("exit");
  const auto code = with_bits(texts);
  EXPECT_EQ(code[9].control.wait, 1U << code[0].control.write);
  for (unsigned i = 1; i != 9; ++i) EXPECT_NE(code[i].control.write, code[0].control.write) << i;
}

// ---- random code

class RandomCode {
 public:
  explicit RandomCode(std::uint32_t seed) : random_(seed) {}
  std::vector<isa::Instruction> make() {
    const unsigned count = 10 + below(60);
    std::vector<isa::Instruction> code;
    while (code.size() != count) code.push_back(one(count));
    code.push_back(isa::assemble("exit"));
    return code;
  }

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  unsigned reg() { return below(12); }
  isa::Instruction one(unsigned count) {
    const std::string guard = below(5) == 0 ? fmt::format("@{}p{} ", below(2) == 0 ? "!" : "", below(3)) : "";
    const auto text = [&] {
      switch (below(11)) {
        case 0:
          return fmt::format("ld.global.b32 r{}, [r{}]", reg(), reg());
        case 1:
          return fmt::format("ld.global.v2.b32 r{}, [r{}]", 2 * below(6), reg());
        case 2:
          return fmt::format("st.global.b32 [r{}], r{}", reg(), reg());
        case 3:
          return fmt::format("setp.lt.s32 p{}, r{}, r{}", below(3), reg(), reg());
        case 4:
          return fmt::format("div.u32 r{}, r{}, r{}", reg(), reg(), reg());
        case 5:
          return fmt::format("hadd.bf16.x2 r{}, r{}, r{}", reg(), reg(), reg());
        case 6:
          return fmt::format("add.b64 r{}, r{}, r{}", 2 * below(6), 2 * below(6), 2 * below(6));
        case 7:
          return fmt::format("bra {}", below(count));
        default:
          return fmt::format("add r{}, r{}, r{}", reg(), reg(), reg());
      }
    }();
    // A jump always taken cuts off what is behind it: few of them.
    const bool jump = text.starts_with("bra") && guard.empty() && below(8) != 0;
    return isa::assemble((jump ? fmt::format("@p{} ", below(3)) : guard) + text);
  }
  std::mt19937 random_;
};

std::vector<isa::Instruction> with_bits(std::vector<isa::Instruction> code, const isa::ResultTimes& times) {
  const std::vector<ControlBits> bits = control_bits(code, times);
  for (std::size_t pc = 0; pc != code.size(); ++pc) code[pc].control = bits[pc];
  return code;
}

TEST(ControlBits, KeepEveryDependenceOnAllWays) {
  const isa::ResultTimes longest = [](const isa::Instruction& in) {
    const isa::ResultTime usual = usual_times(in);
    return usual.counted() ? usual : isa::ResultTime{usual.fixed == 4 ? 15U : 1U};
  };
  for (std::uint32_t seed = 1; seed <= 300 && !::testing::Test::HasFailure(); ++seed) {
    const isa::ResultTimes& times = seed % 4 == 0 ? longest : isa::ResultTimes(usual_times);
    const auto code = with_bits(RandomCode(seed).make(), times);
    for (const isa::Instruction& in : code) ASSERT_EQ(isa::why_malformed(in), "");
    EXPECT_EQ(heddle::test::ControlBitsPaths(code, times).walk(seed, 40, 400), "") << "seed " << seed;
  }
}

// The oracle can find something: of stall counts that are one less, and of wait masks without one of their counters,
// it finds most. (The others are of ways that it does not go, or more than one way needs.)
TEST(ControlBits, LessIsNotEnough) {
  unsigned changed = 0, found = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    const auto code = with_bits(RandomCode(seed).make(), usual_times);
    for (std::size_t pc = 0; pc != code.size(); ++pc) {
      auto less = code;
      ControlBits& control = less[pc].control;
      if (control.wait != 0) {
        control.wait = static_cast<std::uint8_t>(control.wait & (control.wait - 1));
      } else if (control.stall > 1) {
        --control.stall;
      } else {
        continue;
      }
      ++changed;
      found += heddle::test::ControlBitsPaths(less, usual_times).walk(seed, 100, 300).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(changed, 300U);
  EXPECT_GT(found * 4, changed * 3) << found << " of " << changed;
}

}  // namespace
}  // namespace heddle::ptx
