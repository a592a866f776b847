// The rows and lanes of a sub-warp (hw/effects/form.hpp).
#include "hw/effects/form.hpp"

#include <gtest/gtest.h>

#include "tests/hw/effects_bench.hpp"

namespace heddle::hw::test {
namespace {

using isa::Op;
using isa::test::Code;

struct FormBench : EffectsBench {
  using EffectsBench::EffectsBench;

  // A group of one row whose lane l has the thread of row rows[l % 4], in lane l or another one.
  Group& dynamic(std::array<std::uint16_t, 4> rows, LaneMask active, bool displaced = false, GroupId id = 1) {
    Group& group = state.groups[id];
    group.dynamic = true;
    group.active = {active};
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      group.lane_row[lane] = rows[lane % 4];
      group.lane_home[lane] = static_cast<std::uint8_t>(displaced ? isa::kLanes - 1 - lane : lane);
    }
    group.look_at_lanes();
    return group;
  }
  // As a payload comes back from whatever it was before.
  static link::SubWarp used(const link::DecodedInstruction& decoded) {
    link::SubWarp out;
    out.decoded = &decoded;
    out.uniform = false;
    out.displaced = out.whole = out.scalar = out.forwarded = out.resolved = true;
    out.last = false;
    out.row_count = 3;
    out.warp = 0xdead;
    return out;
  }
  static void expect_fresh(const link::SubWarp& formed) {
    EXPECT_FALSE(formed.scalar);
    EXPECT_FALSE(formed.forwarded);
    EXPECT_FALSE(formed.resolved);
  }

  Formation formation{state, registers};
};

const auto add_if = [](bool negated) { return [negated](Code& code) { code.when(2, negated).rrr(Op::ADD, 5, 2, 3); }; };

TEST(Form, AWholeRowIsItsActiveThreads) {
  FormBench bench;
  Group& group = bench.state.groups[0];
  group.first_row = 3;
  group.active = {0x0ff0'a55aU};
  for (const bool negated : {false, true}) {
    link::DecodedInstruction decoded = bench.decoded(add_if(negated));
    const LaneMask guard = negated ? ~bench.registers.predicate(3, 2) : bench.registers.predicate(3, 2);
    for (const bool by_guard : {false, true}) {
      decoded.by_guard = by_guard;
      decoded.forms_one = by_guard;
      link::SubWarp formed = FormBench::used(decoded);
      bench.formation.whole_row(formed, group);
      FormBench::expect_fresh(formed);
      EXPECT_EQ(formed.lanes, by_guard ? group.active[0] & guard : group.active[0]);
      EXPECT_TRUE(formed.uniform);
      EXPECT_FALSE(formed.displaced);
      EXPECT_TRUE(formed.last);
      EXPECT_EQ(formed.whole, by_guard);
      EXPECT_EQ(formed.first_row, 3U);
      EXPECT_EQ(formed.row_count, 0U);
      const Formation::Row row = Formation::of_row(bench.state, bench.registers, decoded, group);
      EXPECT_EQ(row.lanes, formed.lanes);
      EXPECT_EQ(row.executing, group.active[0] & guard);
    }
  }
  EXPECT_TRUE(group.busy.empty() || group.busy[0] == 0) << "strict issue";
}

TEST(Form, OfDynamicGroupsTellsItsRows) {
  FormBench bench;
  const link::DecodedInstruction& decoded = bench.decoded(add_if(false));
  link::SubWarp formed = FormBench::used(decoded);
  Group& group = bench.dynamic({6, 2, 6, 4}, 0xff0f);
  bench.formation.whole_row(formed, group);
  EXPECT_FALSE(formed.uniform);
  EXPECT_FALSE(formed.displaced);
  EXPECT_EQ(formed.row, group.lane_row);
  ASSERT_EQ(formed.row_count, 3U);
  EXPECT_EQ(formed.rows[0].row, 6U);
  EXPECT_EQ(formed.rows[0].lanes, 0x5505U);
  EXPECT_EQ(formed.rows[1].row, 2U);
  EXPECT_EQ(formed.rows[1].lanes, 0x2202U);
  EXPECT_EQ(formed.rows[2].row, 4U);
  EXPECT_EQ(formed.rows[2].lanes, 0x8808U);
  // Fewer lanes of what is known, other rows, and threads that were not there.
  group.active = {0x000f};
  bench.formation.whole_row(formed, group);
  EXPECT_EQ(formed.lanes, 0x000fU);
  EXPECT_EQ(formed.rows[0].lanes & formed.lanes, 0x0005U);
  bench.dynamic({1, 1, 1, 2}, 0x00ff);
  bench.formation.whole_row(formed, group);
  ASSERT_EQ(formed.row_count, 2U);
  EXPECT_EQ(formed.rows[0].lanes, 0x0077U);
  bench.dynamic({1, 1, 1, 2}, 0xffff);
  bench.formation.whole_row(formed, group);
  EXPECT_EQ(formed.rows[0].lanes, 0x7777U);
  // In one row after all.
  bench.dynamic({5, 5, 5, 5}, 0x00ff);
  bench.formation.whole_row(formed, group);
  EXPECT_TRUE(formed.uniform);
  EXPECT_EQ(formed.first_row, 5U);
  EXPECT_EQ(formed.row_count, 0U);
  // In other lanes than their own.
  bench.dynamic({5, 5, 5, 5}, 0x00ff, true);
  bench.formation.whole_row(formed, group);
  EXPECT_FALSE(formed.uniform);
  EXPECT_TRUE(formed.displaced);
  EXPECT_EQ(formed.home, group.lane_home);
  EXPECT_EQ(formed.row_count, 0U);
}

TEST(Form, TellsNoRowsWhereThereAreTooMany) {
  FormBench bench;
  link::SubWarp formed = FormBench::used(bench.decoded(add_if(false)));
  Group& group = bench.dynamic({0, 0, 0, 0}, ~LaneMask{0});
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    group.lane_row[lane] = static_cast<std::uint16_t>(lane % (link::SubWarp::kMostRows + 1));
  }
  group.look_at_lanes();
  bench.formation.whole_row(formed, group);
  EXPECT_EQ(formed.row_count, 0U);
  EXPECT_EQ(formed.row, group.lane_row);
}

// From rows and columns of a warp's mask to register rows.
TEST(Form, AShapeOfALargeWarpIsPlaced) {
  Machine relaxed;
  relaxed.core.warp_size = 128;
  relaxed.core.simd_width = 4;
  relaxed.core.threads = 256;
  relaxed.core.issue = "relaxed";
  FormBench bench(relaxed);
  Group& group = bench.state.groups[1];
  group.first_row = 32;
  group.active.assign(32, 0b1111);
  group.busy.assign(32, 0);
  link::DecodedInstruction decoded = bench.decoded(add_if(false));
  SubWarpShape shape;
  shape.uniform = false;
  shape.lanes = 0b1011;
  shape.row = {7, 3, 0, 7};
  shape.add_row(7, 0b1001);
  shape.add_row(3, 0b0010);
  shape.end_rows();
  link::SubWarp formed = FormBench::used(decoded);
  bench.formation.shaped(formed, shape, group, false);
  FormBench::expect_fresh(formed);
  EXPECT_FALSE(formed.uniform);
  EXPECT_FALSE(formed.whole);
  EXPECT_EQ(formed.lanes, 0b1011U);
  EXPECT_EQ(formed.row_of(0), 39U);
  EXPECT_EQ(formed.row_of(1), 35U);
  EXPECT_EQ(formed.row_of(3), 39U);
  ASSERT_EQ(formed.row_count, 2U);
  EXPECT_EQ(formed.rows[0].row, 39U);
  EXPECT_EQ(formed.rows[1].lanes, 0b0010U);
  EXPECT_EQ(formed.warp, 0U);
  EXPECT_EQ(group.busy[7], 0b1001U) << "in flight";
  EXPECT_EQ(group.busy[3], 0b0010U);
  // Displaced: no row is told, and the threads in flight are those of the columns.
  shape.row_count = 0;
  shape.displaced = true;
  shape.home = {3, 2, 1, 0};
  shape.row = {9, 9, 9, 8};
  bench.formation.shaped(formed, shape, group, false);
  EXPECT_TRUE(formed.displaced);
  EXPECT_EQ(formed.home_of(3), 0U);
  EXPECT_EQ(group.busy[9], 0b1100U);
  EXPECT_EQ(group.busy[8], 0b0001U);
  // One row, for all of the warp.
  SubWarpShape row;
  row.first_row = 5;
  row.lanes = 0b0100;
  bench.formation.shaped(formed, row, group, true);
  EXPECT_TRUE(formed.scalar);
  EXPECT_TRUE(formed.whole);
  EXPECT_TRUE(formed.uniform);
  EXPECT_EQ(formed.first_row, 37U);
  EXPECT_EQ(group.busy[5], 0b0100U);
}

TEST(Form, OfAnExchangeKnowsTheWholeWarp) {
  Machine narrow;
  narrow.core.simd_width = 8;
  FormBench bench(narrow);
  Group& group = bench.state.groups[0];
  group.active = {0x81, 0x00, 0xff, 0x7f};
  link::DecodedInstruction decoded = bench.decoded(add_if(false));
  decoded.exchanges = true;
  link::SubWarp formed = FormBench::used(decoded);
  SubWarpShape shape;
  shape.lanes = 0x81;
  bench.formation.shaped(formed, shape, group, false);
  EXPECT_EQ(formed.warp, 0x7fff'0081U);
}

TEST(Form, OfLanesByThemselvesIsInTheirRow) {
  FormBench bench;
  link::SubWarp lane = FormBench::used(bench.decoded(add_if(false)));
  lane.lanes = 0b100;
  lane.first_row = 6;
  Group& thread = bench.state.groups[0];
  Formation::by_lane(lane, thread);
  FormBench::expect_fresh(lane);
  EXPECT_TRUE(lane.uniform);
  EXPECT_FALSE(lane.whole);
  EXPECT_EQ(lane.row_of(2), 6U);
  EXPECT_EQ(lane.lanes, 0b100U);
  // A thread in another lane than its own.
  thread.displaced = true;
  thread.lane_row[2] = 5;
  thread.lane_home[2] = 9;
  Formation::by_lane(lane, thread);
  EXPECT_FALSE(lane.uniform);
  EXPECT_TRUE(lane.displaced);
  EXPECT_EQ(lane.row_of(2), 5U);
  EXPECT_EQ(lane.home_of(2), 9U);
}

// Who is left out has evaluated the guard all the same.
TEST(Form, TakesTheRecordedGuardOfThreadsLeftOut) {
  FormBench bench;
  ReplayRows replay(FormBench::kRows, isa::kLanes);
  const std::uint64_t taken = 0b001;
  const std::uint64_t left = 0b110;
  std::vector<ThreadRecord> threads(isa::kLanes);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    threads[lane] = {lane < 4 ? &taken : &left, 3, nullptr, 0};
  }
  replay.start_row(3, threads);
  bench.state.replay = &replay;
  Group& group = bench.state.groups[0];
  group.first_row = 3;
  group.active = {0xff};
  link::DecodedInstruction decoded = bench.decoded(add_if(false));
  decoded.by_guard = true;
  link::SubWarp formed = FormBench::used(decoded);
  bench.formation.whole_row(formed, group);
  EXPECT_EQ(formed.lanes, 0x0fU);
  EXPECT_TRUE(replay.peek_bit(3, 0)) << "still the first: register read takes it";
  EXPECT_TRUE(replay.peek_bit(3, 7)) << "the second";
  EXPECT_EQ(replay.thread(3, 7).bit, 1U);
}

}  // namespace
}  // namespace heddle::hw::test
