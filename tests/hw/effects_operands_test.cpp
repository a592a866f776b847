// What an instruction reads (hw/effects/operands.hpp), against each thread's own registers.
#include "hw/effects/operands.hpp"

#include <gtest/gtest.h>

#include "hw/effects/warp_exchange.hpp"
#include "tests/hw/effects_bench.hpp"

namespace heddle::hw::test {
namespace {

using isa::Op;
using isa::test::Code;

struct Reads {
  void (*emit)(Code&);
  std::vector<unsigned> a, b, c, d, stored;  // registers, word by word
};

const std::vector<Reads>& all_reads() {
  constexpr unsigned kZero = isa::kRZ;
  static const std::vector<Reads> all = {
      {[](Code& code) { code.rrr(Op::ADD, 5, 2, 3); }, {2}, {3}, {}, {}, {}},
      {[](Code& code) { code.rrr(Op::ADD, 5, kZero, 11); }, {kZero}, {11}, {}, {}, {}},
      {[](Code& code) { code.rrr(Op::ADD64, 4, 2, 6); }, {2, 3}, {6, 7}, {}, {}, {}},
      {[](Code& code) { code.rrr(Op::ADD64, 4, 2, kZero); }, {2, 3}, {kZero, kZero}, {}, {}, {}},
      {[](Code& code) {
         isa::Instruction mad;
         mad.op = Op::MAD_WIDE_U;
         mad.dst = 8;
         mad.a = 1;
         mad.b = 2;
         mad.c = 4;
         code.when(2).add(mad);
       },
       {1},
       {2},
       {4, 5},
       {},
       {}},
      {[](Code& code) { code.when(3, true).store(Op::ST_GLOBAL_E, 2, 4, 16, isa::Width::b32, 4); },
       {2, 3},
       {},
       {},
       {},
       {4, 5, 6, 7}},
      {[](Code& code) { code.when(isa::kPT, true).rrr(Op::ADD, 5, 2, 3); }, {2}, {3}, {}, {}, {}},
  };
  return all;
}

TEST(Operands, AreThoseOfEachThread) {
  EffectsBench bench;
  for (const Reads& reads : all_reads()) {
    const link::DecodedInstruction& decoded = bench.decoded(reads.emit);
    for (const Shape shape : kShapes) {
      for (const LaneMask lanes : kSomeLanes) {
        link::SubWarp read = bench.sub_warp(shape, lanes, decoded);
        read.executing = 0xdead;
        read.values.fault = ~LaneMask{0};
        read_operands(bench.registers, read);
        const isa::LaneValues& values = read.values;
        EXPECT_EQ(values.active, read.executing);
        EXPECT_EQ(values.fault, 0U);
        EXPECT_EQ(read.executing & ~lanes, 0U);
        for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
          if (!has(lanes, lane)) {
            continue;
          }
          const auto expect_words = [&](const std::vector<unsigned>& registers, const isa::LaneWord* words) {
            for (std::size_t word = 0; word < registers.size(); ++word) {
              EXPECT_EQ(words[word][lane], bench.word(read, lane, registers[word])) << where(read, lane);
            }
          };
          expect_words(reads.a, values.a.data());
          expect_words(reads.b, values.b.data());
          expect_words(reads.c, values.c.data());
          expect_words(reads.d, &values.d);
          expect_words(reads.stored, values.result.data());
          EXPECT_EQ(has(read.executing, lane), bench.predicate(read, lane, decoded.instruction.guard))
              << where(read, lane);
        }
      }
    }
  }
}

TEST(Operands, ArePredicatesWithTheirNegation) {
  EffectsBench bench;
  const auto sel = [](bool negated) {
    return [negated](Code& code) {
      isa::Instruction out;
      out.op = Op::SEL;
      out.dst = 5;
      out.a = 2;
      out.b = 3;
      out.c = static_cast<std::uint8_t>(isa::Pred{4, negated}.bits());
      code.add(out);
    };
  };
  for (const bool negated : {false, true}) {
    const link::DecodedInstruction& decoded = bench.decoded(sel(negated));
    ASSERT_EQ(decoded.sources.a, (isa::Pred{4, negated}));
    for (const Shape shape : kShapes) {
      link::SubWarp read = bench.sub_warp(shape, 0x0ff0'a55aU, decoded);
      read_operands(bench.registers, read);
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        if (has(read.lanes, lane)) {
          EXPECT_EQ(has(read.values.predicate_a, lane), bench.predicate(read, lane, {4, negated})) << where(read, lane);
        }
      }
    }
  }
}

TEST(Operands, OfAnImmediateAreEveryLanes) {
  EffectsBench bench;
  link::SubWarp read = bench.sub_warp(Shape::displaced, 0b101,
                                      bench.decoded([](Code& code) { code.rri(Op::ADD64, 4, 2, 0xffff'fffeU); }));
  read_operands(bench.registers, read);
  EXPECT_EQ(read.values.b[0][2], 0xffff'fffeU);
  EXPECT_EQ(read.values.b[1][2], 0xffff'ffffU) << "sign-extended";
}

// Before there is a sub-warp.
TEST(Guard, IsThatOfAGroupsThreads) {
  EffectsBench bench;
  Group warp;
  warp.first_row = 2;
  warp.active.assign(2, ~LaneMask{0});
  for (const bool negated : {false, true}) {
    for (const std::uint8_t reg : {std::uint8_t{1}, std::uint8_t{isa::kPT}}) {
      const isa::Pred guard{reg, negated};
      const LaneMask one = guarded(bench.state, bench.registers, guard, warp, 1, 0xffff);
      Group dynamic;
      dynamic.dynamic = dynamic.displaced = true;
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        dynamic.lane_row[lane] = static_cast<std::uint16_t>(lane % 7);
        dynamic.lane_home[lane] = static_cast<std::uint8_t>(isa::kLanes - 1 - lane);
      }
      const LaneMask other = guarded(bench.state, bench.registers, guard, dynamic, 0, 0xffff'0000U);
      const auto value = [&](unsigned row, unsigned lane) {
        return (reg == isa::kPT || has(bench.registers.predicate(row, reg), lane)) != negated;
      };
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        EXPECT_EQ(has(one, lane), lane < 16 && value(3, lane)) << lane;
        EXPECT_EQ(has(other, lane), lane >= 16 && value(lane % 7, isa::kLanes - 1 - lane)) << lane;
      }
    }
  }
}

TEST(Guard, IsReplayedThreadByThread) {
  EffectsBench bench;
  ReplayRows replay(EffectsBench::kRows, isa::kLanes);
  const std::uint64_t first_true = 0b01;
  const std::uint64_t second_true = 0b10;
  for (unsigned row = 0; row < EffectsBench::kRows; ++row) {
    std::vector<ThreadRecord> threads(isa::kLanes);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      threads[lane] = {(row + lane) % 3 == 0 ? &first_true : &second_true, 2, nullptr, 0};
    }
    replay.start_row(row, threads);
  }
  const link::DecodedInstruction& decoded = bench.decoded([](Code& code) { code.when(1).rrr(Op::ADD, 5, 2, 3); });
  link::SubWarp read = bench.sub_warp(Shape::displaced, 0x0ff0'a55aU, decoded);
  bench.state.replay = &replay;
  Group group;
  group.dynamic = group.displaced = true;
  group.lane_row = read.row;
  group.lane_home = read.home;
  const LaneMask before = guarded(bench.state, bench.registers, decoded.instruction.guard, group, 0, read.lanes);
  replay_guard(replay, read);
  EXPECT_EQ(read.executing, before) << "looking at a guard leaves it the next one";
  EXPECT_EQ(read.values.active, read.executing);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    const bool first = (bench.row(read, lane) + bench.home(read, lane)) % 3 == 0;
    EXPECT_EQ(has(read.executing, lane), has(read.lanes, lane) && first) << lane;
  }
  replay_guard(replay, read);
  EXPECT_EQ(read.executing, read.lanes & ~before) << "the second bit of each";
}

// A vote of a warp of four rows of eight lanes: all of it is read by the first sub-warp.
TEST(Exchange, IsOfAllRowsOfTheWarp) {
  EffectsBench bench;
  isa::Instruction ballot;
  ballot.op = Op::BALLOT;
  ballot.dst = 5;
  ballot.b = 4;  // each thread's mask of members
  ballot.c = static_cast<std::uint8_t>(isa::Pred{2, true}.bits());
  const link::DecodedInstruction& decoded = bench.decoded([&](Code& code) { code.when(3).add(ballot); });
  constexpr LaneMask kWarp = 0x7fff'00ffU;  // the second row has no active thread
  LaneMask expected = 0;
  for (unsigned id = 0; id < isa::kLanes; ++id) {
    const unsigned row = 1 + id / 8;
    const bool votes =
        has(bench.registers.predicate(row, 3), id % 8) && !has(bench.registers.predicate(row, 2), id % 8);
    expected |= LaneMask{votes && has(kWarp, id)} << id;
  }
  WarpExchange exchange;
  for (const unsigned row : {0U, 2U, 3U}) {
    link::SubWarp part = bench.sub_warp(Shape::own_row, (kWarp >> (8 * row)) & 0xff, decoded);
    part.first_row = static_cast<std::uint16_t>(1 + row);
    part.warp = kWarp;
    part.last = row == 3;
    read_operands(bench.registers, part);
    exchange.take_part(part, 1, 8, bench.registers);
    bench.registers.predicate(1 + row, 3) = ~bench.registers.predicate(1 + row, 3);  // as if it had been written
    for (unsigned lane = 0; lane < 8; ++lane) {
      if (has(part.executing, lane)) {
        EXPECT_EQ(part.values.result[0][lane], expected & bench.registers.word(1 + row, 4)[lane]) << row << ' ' << lane;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::hw::test
