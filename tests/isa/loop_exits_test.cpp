// What decides whether a loop ends, of loops by hand: a counter that nobody asks does not, one that is asked does.
#include "isa/loop_exits.hpp"

#include <gtest/gtest.h>

#include "tests/isa/kernel_builder.hpp"

namespace heddle::isa::test {
namespace {

struct Decides {
  bool known;
  std::uint64_t registers;
  unsigned predicates;
  friend bool operator==(const Decides&, const Decides&) = default;
};
void PrintTo(const Decides& one, std::ostream* out) {
  *out << (one.known ? "known " : "unknown ") << std::hex << one.registers << ' ' << one.predicates;
}

Decides exits_of(const Code& code, Code::Pc first, Code::Pc last) {
  const LoopExits exits = loop_exits(code.module().kernels.front().words, first, last);
  std::uint64_t registers = 0;
  exits.registers.each([&](unsigned reg) { registers |= std::uint64_t{1} << reg; });
  return {exits.known, registers, exits.predicates};
}

// while (cas(lock [r1], r2, r3) != 0) ++r5, with `more` in the loop.
template <class More>
Decides spin(More&& more) {
  Code code;
  const Code::Pc first = code.atomic(Op::ATOM_GLOBAL, AtomicOp::cas, Type::b32, 4, 1, 2, 3);
  code.rri(Op::ADD, 5, 5, 1);
  more(code);
  code.setp(0, Comparison::ne, 4, 0);
  const Code::Pc last = code.when(0).bra(first, 0);
  code.aim(last, first, code.here());
  code.exit();
  return exits_of(code, first, last);
}

constexpr std::uint64_t kOfTheSpin = 0b11110;  // r1 to r4

TEST(LoopExits, ACounterThatNobodyAsksIsNotAmongThem) {
  EXPECT_EQ(spin([](Code&) {}), (Decides{true, kOfTheSpin, 1}));
  EXPECT_EQ(spin([](Code& code) { code.store(Op::ST_GLOBAL, 6, 5); }), (Decides{true, kOfTheSpin, 1}));
}

TEST(LoopExits, ACounterThatIsAskedIsAmongThem) {
  const auto leave = [](Code& code) {
    code.setp(1, Comparison::gt, 5, 1000);
    code.when(1).exit();
  };
  EXPECT_EQ(spin(leave), (Decides{true, kOfTheSpin | 1U << 5U, 0b11}));
  const auto branch_out = [](Code& code) {
    code.setp(1, Comparison::gt, 5, 1000);
    code.when(1).bra(code.here() + 3, code.here() + 3);
  };
  EXPECT_EQ(spin(branch_out), (Decides{true, kOfTheSpin | 1U << 5U, 0b11}));
}

// A loop that waits: it ends by what others write, whatever else it does. `read` puts the value into r4.
template <class Read>
bool waits_for_others(Read read, bool asks = true) {
  Code code;
  const Code::Pc first = code.here();
  read(code);
  code.rri(Op::ADD, 5, 5, 4);
  code.setp(0, Comparison::ne, asks ? 4 : 5, 0);
  const Code::Pc last = code.when(0).bra(first, 0);
  code.aim(last, first, code.here());
  code.exit();
  return loop_exits(code.module().kernels.front().words, first, last).waits;
}

TEST(LoopExits, WaitForOthersByMemoryThatTheyMayWrite) {
  const auto lock = [](Code& code) { code.atomic(Op::ATOM_GLOBAL, AtomicOp::cas, Type::b32, 4, 1, 2, 3); };
  EXPECT_TRUE(waits_for_others(lock));
  EXPECT_FALSE(waits_for_others(lock, false)) << "it ends by a count";
  EXPECT_TRUE(waits_for_others([](Code& code) { code.load(Op::LDV_GLOBAL, 4, 5); })) << "volatile";
  EXPECT_TRUE(waits_for_others([](Code& code) { code.load(Op::LD_GLOBAL, 4, 1); })) << "always the same word";
  EXPECT_FALSE(waits_for_others([](Code& code) { code.load(Op::LD_GLOBAL, 4, 5); })) << "one word after the other";
  EXPECT_FALSE(waits_for_others([](Code& code) { code.load(Op::LD_GLOBAL, 4, 4); })) << "a chain";
  EXPECT_FALSE(waits_for_others([](Code& code) { code.load(Op::LD_CONST, 4, 1); }));
}

// A branch inside the loop says what is written to a register that the end is asked of.
TEST(LoopExits, WhatABranchWithinChoosesIsAmongThem) {
  const auto within = [](unsigned written) {
    return [written](Code& code) {
      code.setp(1, Comparison::ne, 5, 1000);
      const Code::Pc around = code.when(1).bra();
      code.mov(written, 0);
      code.aim(around, code.here(), code.here());
    };
  };
  EXPECT_EQ(spin(within(4)), (Decides{true, kOfTheSpin | 1U << 5U, 0b11}));
  EXPECT_EQ(spin(within(7)), (Decides{true, kOfTheSpin, 1}));
  const auto guarded = [](Code& code) {
    code.setp(1, Comparison::eq, 5, 1000);
    code.when(1).mov(4, 0);
  };
  EXPECT_EQ(spin(guarded), (Decides{true, kOfTheSpin | 1U << 5U, 0b11}));
}

// An inner loop that waits a while, and ends.
TEST(LoopExits, AnInnerLoopIsNotAmongThemUnlessItWritesOne) {
  const auto inner = [](unsigned written) {
    return [written](Code& code) {
      const Code::Pc top = code.rri(Op::ADD, written, written, 1);
      code.setp(1, Comparison::lt, 6, 100);
      const Code::Pc back = code.when(1).bra(top);
      code.aim(back, top, code.here());
    };
  };
  EXPECT_EQ(spin(inner(6)), (Decides{true, kOfTheSpin, 1}));
  EXPECT_EQ(spin(inner(4)), (Decides{true, kOfTheSpin | 1U << 6U, 0b11}));
}

TEST(LoopExits, AClockMakesThemUnknown) {
  const auto clock = [](unsigned to) { return [to](Code& code) { code.s2r(to, Special::clock); }; };
  EXPECT_FALSE(spin(clock(4)).known);
  EXPECT_TRUE(spin(clock(7)).known);
  EXPECT_TRUE(spin([](Code& code) { code.s2r(4, Special::tid_x); }).known);
}

// i is kept in memory: while (++*p < n), through a register that is written over before the loop's end.
TEST(LoopExits, MemoryThatTheLoopWritesMakesThemUnknown) {
  const auto loop = [](bool stores) {
    Code code;
    const Code::Pc first = code.load(Op::LD_GLOBAL, 4, 1);
    code.rri(Op::ADD, 4, 4, 1);
    if (stores) {
      code.store(Op::ST_GLOBAL, 1, 4);
    }
    code.setp(0, Comparison::lt, 4, 1000);
    code.mov(4, 0);
    const Code::Pc last = code.when(0).bra();
    code.aim(last, first, code.here());
    code.exit();
    return exits_of(code, first, last);
  };
  EXPECT_FALSE(loop(true).known);
  EXPECT_EQ(loop(false), (Decides{true, 0b10010, 1}));
}

TEST(LoopExits, WhatNothingLeavesDependsOnNothing) {
  Code code;
  code.rri(Op::ADD, 1, 1, 1);
  code.store(Op::ST_GLOBAL, 2, 1);
  code.bra(0);
  EXPECT_EQ(exits_of(code, 0, 2), (Decides{true, 0, 0}));
  EXPECT_FALSE(exits_of(code, 0, 3).known) << "the kernel ends before";
}

}  // namespace
}  // namespace heddle::isa::test
