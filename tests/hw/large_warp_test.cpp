// Large warps: the sub-warp formers alone, the relaxed issue discipline alone, and the decode stage that breaks a large
// warp into sub-warps, cycle by cycle (LWM report 3.1 and figure 7, thesis 4.2 and figure 4.5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <vector>

#include "hw/core/front/decode.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/subwarp/packing.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::hw {
namespace {

using isa::Op;
using test::Code;
using test::StubReceiver;
using test::StubSender;
using ::testing::ElementsAre;

constexpr int kNone = -1;

// The row in each of four lanes, kNone where the lane is empty.
using Rows = std::array<int, 4>;

// Figure 4.5: thirty-two threads in eight rows of four lanes, lane 0 in bit 0. The mask is the one that yields the
// figure's row IDs when each column is searched from row 0 down.
const std::vector<LaneMask> kFigure45 = {0b1001, 0b0101, 0b1110, 0b0010, 0b0110, 0b1100, 0b0001, 0b0011};
const std::vector<Rows> kFigure45SubWarps = {{0, 2, 1, 0}, {1, 3, 2, 2}, {6, 4, 4, 5}, {7, 7, 5, kNone}};

Rows rows_of(const SubWarpShape& shape) {
  Rows rows;
  for (unsigned lane = 0; lane < 4; ++lane) {
    const bool there = ((shape.lanes >> lane) & 1U) != 0;
    rows[lane] = !there ? kNone : shape.uniform ? shape.first_row : shape.row[lane];
  }
  return rows;
}

std::unique_ptr<SubWarpFormer> make(const char* name, unsigned width, std::size_t rows, bool by_rows = true) {
  CoreParameters core;
  core.policies.of<PackingParameters>().memory_by_rows = by_rows;
  return Registry<SubWarpFormer>::instance().make(name, {width, static_cast<unsigned>(rows), core});
}

isa::Instruction plain() {
  isa::Instruction instruction;
  instruction.op = Op::ADD;
  return instruction;
}

TEST(Packed, FormsTheSubWarpsOfFigure45) {
  const auto former = make("packed", 4, 8);
  EXPECT_TRUE(about<SubWarpFormer>("packed").traits.packs);
  std::vector<LaneMask> candidates = kFigure45;
  const std::vector<LaneMask> pending(8, 0);
  SubWarpShape shape;
  for (const Rows& expected : kFigure45SubWarps) {
    ASSERT_TRUE(former->form(plain(), candidates, pending, shape));
    EXPECT_EQ(rows_of(shape), expected);
    EXPECT_FALSE(shape.uniform);
    EXPECT_FALSE(shape.displaced);
  }
  EXPECT_EQ(candidates, std::vector<LaneMask>(8, 0));
  EXPECT_FALSE(former->form(plain(), candidates, pending, shape));
}

TEST(Packed, FullRowsStayTogether) {
  const auto former = make("packed", 32, 2);
  std::vector<LaneMask> candidates = {~LaneMask{0}, ~LaneMask{0}};
  const std::vector<LaneMask> pending(2, 0);
  SubWarpShape shape;
  for (unsigned row = 0; row < 2; ++row) {
    ASSERT_TRUE(former->form(plain(), candidates, pending, shape));
    EXPECT_TRUE(shape.uniform);
    EXPECT_EQ(shape.first_row, row);
    EXPECT_EQ(shape.lanes, ~LaneMask{0});
  }
}

TEST(Packed, GlobalMemoryGoesByRowsWhereThatIsAskedFor) {
  isa::Instruction load;
  load.op = Op::LD_GLOBAL;
  isa::Instruction scratchpad;
  scratchpad.op = Op::LD_SHARED;
  const std::vector<LaneMask> pending(2, 0);
  SubWarpShape shape;
  const auto lanes = [&](bool by_rows, const isa::Instruction& instruction) {
    std::vector<LaneMask> candidates = {0b0011, 0b1100};
    EXPECT_TRUE(make("packed", 4, 2, by_rows)->form(instruction, candidates, pending, shape));
    return shape.lanes;
  };
  EXPECT_EQ(lanes(true, load), 0b0011U);
  EXPECT_EQ(lanes(false, load), 0b1111U);
  EXPECT_EQ(lanes(true, scratchpad), 0b1111U);
}

TEST(PackedFreely, FillsEveryLaneFromAnyColumn) {
  const auto former = make("packed-freely", 4, 3);
  std::vector<LaneMask> candidates = {0b0001, 0b0001, 0b0111};
  const std::vector<LaneMask> pending(3, 0);
  SubWarpShape shape;
  ASSERT_TRUE(former->form(plain(), candidates, pending, shape));
  EXPECT_EQ(shape.lanes, 0b1111U);
  EXPECT_TRUE(shape.displaced);
  // Row 0's thread in its lane; row 1's column 0 is taken, so it goes to lane 1; row 2 keeps column 2 and puts column 0
  // into lane 3.
  EXPECT_EQ(rows_of(shape), (Rows{0, 1, 2, 2}));
  EXPECT_THAT(std::vector<unsigned>(shape.home.begin(), shape.home.begin() + 4), ElementsAre(0, 0, 2, 0));
  ASSERT_TRUE(former->form(plain(), candidates, pending, shape));
  EXPECT_EQ(shape.lanes, 0b0010U) << "row 2's column 1 was left";
  EXPECT_TRUE(shape.uniform);
  EXPECT_FALSE(former->form(plain(), candidates, pending, shape));
}

TEST(Relaxed, OneSubWarpIsEnoughExceptWhereTheOutcomeIsNotKnown) {
  Group group;
  const CoreParameters core;
  const auto release = [&](const char* name, const isa::Instruction& instruction) {
    return Registry<IssueDiscipline>::instance().make(name, {core})->release(group, instruction);
  };
  isa::Instruction jump;
  jump.op = Op::BRA;
  isa::Instruction branch = jump;
  branch.guard.reg = 0;
  isa::Instruction exit;
  exit.op = Op::EXIT;
  isa::Instruction barrier;
  barrier.op = Op::BAR_SYNC;
  isa::Instruction load;
  load.op = Op::LD_GLOBAL;
  group.flight() = {8, 0, 0, true, false};
  for (const char* name : {"strict", "relaxed", "relaxed-memory"}) {
    EXPECT_FALSE(release(name, plain())) << name;
  }
  group.flight() = {8, 1, 0, true, false};
  EXPECT_FALSE(release("strict", plain()));
  EXPECT_TRUE(release("relaxed", plain()));
  EXPECT_TRUE(release("relaxed", jump));
  EXPECT_FALSE(release("relaxed", load));
  EXPECT_TRUE(release("relaxed-memory", load));
  for (const char* name : {"relaxed", "relaxed-memory"}) {
    EXPECT_FALSE(release(name, branch)) << name;
    EXPECT_FALSE(release(name, exit)) << name;
    EXPECT_FALSE(release(name, barrier)) << name;
  }
  group.flight() = {8, 8, 0, true, false};
  for (const isa::Instruction& instruction : {branch, exit, barrier, load}) {
    EXPECT_TRUE(release("relaxed", instruction));
  }
}

// ---- the decode stage

class LargeWarp : public ::testing::Test {
 protected:
  void build(bool overlaps) {
    machine_.core.simd_width = 4;
    machine_.core.warp_size = 32;
    machine_.core.threads = 64;
    machine_.core.former = "packed";
    machine_.core.issue = overlaps ? "relaxed" : "strict";
    state_ = std::make_unique<CoreState>(machine_, 0, nullptr);
    registers_.resize(16, 16);
    fetch_ = std::make_unique<StubSender>("fetch");
    read_ = std::make_unique<StubReceiver>("read", *state_);
    decode_ = std::make_unique<DecodeStage>("decode", *state_, make("packed", 4, 8), nullptr, registers_);
    launch_.registers = 16;
    state_->launch = &launch_;
    fetch_->out.socket.bind(decode_->in);
    decode_->out.socket.bind(read_->socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  template <class Emit>
  bool offer(GroupId id, Cycle now, Emit emit) {
    Code code;
    emit(code);
    words_.push_back(code.module().kernels[0].words.back());
    launch_.code_words = 1;
    Group& group = state_->groups[id];
    group.first_row = static_cast<std::uint16_t>(id * 8);
    group.next_flight();
    link::SubWarp& sub_warp = state_->pool.take();
    sub_warp.group = id;
    sub_warp.pc = 0;
    sub_warp.flight = static_cast<std::uint8_t>(group.latest);
    sub_warp.word = words_.back();
    state_->now = now;
    return fetch_->out.offer(sub_warp);
  }
  void tick(Cycle now) {
    state_->now = now;
    decode_->tick(now);
  }
  // These threads' sub-warps have completed.
  void complete(Group& group, unsigned row, LaneMask lanes) {
    link::SubWarp done;
    done.first_row = static_cast<std::uint16_t>(group.first_row + row);
    done.lanes = lanes;
    state_->invariants.retired(done);
    group.busy[row] &= ~lanes;
  }
  // The rows of the sub-warp that was handed on in a cycle, relative to the warp's first row.
  [[nodiscard]] Rows handed_on(Cycle cycle, unsigned first_row = 0) const {
    Rows rows{kNone, kNone, kNone, kNone};
    for (const StubReceiver::Arrival& arrival : read_->taken) {
      if (arrival.cycle == cycle) {
        for (unsigned lane = 0; lane < 4; ++lane) {
          if (((arrival.sub_warp->lanes >> lane) & 1U) != 0) {
            rows[lane] = arrival.sub_warp->row_of(lane) - static_cast<int>(first_row);
          }
        }
      }
    }
    return rows;
  }

  Machine machine_;
  Launch launch_;
  RegisterArray registers_;
  std::unique_ptr<CoreState> state_;
  std::unique_ptr<StubSender> fetch_;
  std::unique_ptr<StubReceiver> read_;
  std::unique_ptr<DecodeStage> decode_;
  std::vector<isa::InstructionWord> words_;
};

void add(Code& code) {
  code.rrr(Op::ADD, 5, 2, 3);
}

// Figure 4.5, cycle X to X + 3: one sub-warp per cycle, fetch stalled as long as threads remain, and the warp's own
// active mask untouched.
TEST_F(LargeWarp, IsBrokenDownAsInFigure45) {
  build(false);
  Group& group = state_->groups[0];
  group.active = kFigure45;
  ASSERT_TRUE(offer(0, 9, add));
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_FALSE(offer(1, 9 + i, add)) << "the stall signal: threads remain in cycle X + " << i;
    tick(10 + i);
    EXPECT_EQ(handed_on(10 + i), kFigure45SubWarps[i]) << i;
    EXPECT_EQ(read_->taken.back().sub_warp->last, i == 3) << i;
    if (i != 3) {
      EXPECT_EQ(state_->block_cause, IdleCause::pipeline) << "what fetch waits for";
      state_->block_cause = IdleCause::memory_port;  // an earlier one
    }
  }
  state_->groups[1].active.assign(8, 0b1111);
  EXPECT_TRUE(offer(1, 13, add)) << "sub-warping is complete";
  EXPECT_EQ(group.active, kFigure45);
  EXPECT_EQ(group.flight().formed, 4U);
  EXPECT_TRUE(group.flight().all_formed);
}

// Threads whose guard is false are not packed (thesis 5.2.1).
TEST_F(LargeWarp, PacksOnTheGuardToo) {
  build(false);
  Group& group = state_->groups[0];
  group.active.assign(8, 0b1111);
  for (unsigned row = 0; row < 8; ++row) {
    registers_.predicate(row, 2) = kFigure45[row];
  }
  ASSERT_TRUE(offer(0, 0, [](Code& code) { code.when(2).rrr(Op::ADD, 5, 2, 3); }));
  for (unsigned i = 0; i < 4; ++i) {
    tick(1 + i);
    EXPECT_EQ(handed_on(1 + i), kFigure45SubWarps[i]) << i;
  }
  EXPECT_TRUE(group.flight().all_formed);
}

TEST_F(LargeWarp, AnUnconditionalBranchTakesOneSubWarp) {
  build(false);
  state_->groups[0].active = kFigure45;
  ASSERT_TRUE(offer(0, 0, [](Code& code) { code.bra(0); }));
  tick(1);
  ASSERT_EQ(read_->taken.size(), 1U);
  EXPECT_TRUE(read_->taken[0].sub_warp->last);
  EXPECT_TRUE(read_->taken[0].sub_warp->whole);
  EXPECT_TRUE(decode_->idle());
}

// The interlock: a thread in flight is left out until its sub-warp has completed (thesis 4.2.2).
TEST_F(LargeWarp, LeavesThreadsInFlightAlone) {
  build(true);
  Group& group = state_->groups[0];
  group.active = {0b1111, 0b1111, 0, 0, 0, 0, 0, 0};
  ASSERT_TRUE(offer(0, 0, add));
  tick(1);
  tick(2);
  EXPECT_EQ(group.busy[0], 0b1111U);
  EXPECT_EQ(group.busy[1], 0b1111U);
  complete(group, 0, 0b0101);
  ASSERT_TRUE(offer(0, 2, add));
  tick(3);
  EXPECT_EQ(handed_on(3), (Rows{0, kNone, 0, kNone}));
  tick(4);
  EXPECT_EQ(read_->taken.size(), 3U) << "everybody else is in flight";
  EXPECT_EQ(state_->statistics.interlock_stalls, 1U);
  complete(group, 1, 0b1111);
  complete(group, 0, 0b1010);
  EXPECT_EQ(group.busy[0], 0b0101U) << "of the new instruction";
  tick(5);
  EXPECT_EQ(handed_on(5), (Rows{1, 0, 1, 0}));
  EXPECT_FALSE(group.flight().all_formed);
  tick(6);
  EXPECT_EQ(handed_on(6), (Rows{kNone, 1, kNone, 1}));
  EXPECT_TRUE(group.flight().all_formed);
}

}  // namespace
}  // namespace heddle::hw
