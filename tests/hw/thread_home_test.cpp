// Homes and places without a model around them: what a thread keeps, whose threads a register row has, and what a block
// counts wherever its threads are.
#include "hw/state/thread_home.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "hw/state/core_state.hpp"
#include "tests/hw/begin_block.hpp"

namespace heddle::hw {
namespace {

constexpr LaneMask kEveryLane = ~LaneMask{0};

// Blocks of 80 threads: two warps of 64 on 32 lanes, so four rows, of which the third has 16 threads and the last none.
struct Blocks {
  Blocks() {
    launch.block = {16, 5, 1};
    launch.grid = {7, 2, 1};
    launch.local_bytes = 12;
    launch.shared_bytes = 100;
    launch.id = 9;
    hashes.resize(14 * 80);
    launch.hashes = hashes.data();
    state.launch = other.launch = &launch;
  }
  static Machine of_three_cores() {
    Machine out;
    out.gpu.cores = 3;
    out.core.warp_size = 64;
    return out;
  }

  Machine machine = of_three_cores();
  Launch launch;
  std::vector<std::uint32_t> hashes;
  CoreState state{machine, 1, nullptr};
  CoreState other{machine, 2, nullptr};
};

TEST(ThreadHome, ABlockGivesItsThreadsTheirHomes) {
  Blocks blocks;
  begin_block(blocks.state, 2, {3, 1, 0}, 10);
  const BlockHome& block = blocks.state.block(2);
  EXPECT_EQ(block.core, 1U);
  EXPECT_EQ(block.slot, 2U);
  EXPECT_EQ(block.live_threads, 80U);
  EXPECT_EQ(block.scratchpad_base, 200U);
  ASSERT_EQ(block.threads.size(), 4U);
  EXPECT_EQ(blocks.state.first_row(2), 8U);
  const unsigned threads[] = {32, 32, 16, 0};
  for (unsigned i = 0; i < 4; ++i) {
    const ThreadHome& home = block.threads[i];
    EXPECT_EQ(home.block, &block);
    EXPECT_EQ(home.first, i * 32);
    EXPECT_EQ(home.threads, threads[i]);
    EXPECT_EQ(home.hashes, blocks.hashes.data() + 10 * 80 + i * 32);
    EXPECT_EQ(blocks.state.rows[8 + i].whole(), &home);
    EXPECT_EQ(blocks.state.rows[8 + i].present(), threads[i] == 0 ? 0 : kEveryLane >> (32 - threads[i]));
  }
  const HomeThread thread = blocks.state.thread_at(10, 5);  // number 69
  EXPECT_EQ(thread.number(), 69U);
  const isa::Dim3 index = thread.index();
  EXPECT_EQ(index.x, 69U % 16);
  EXPECT_EQ(index.y, 69U / 16);
  EXPECT_EQ(&thread.hash(), blocks.hashes.data() + 10 * 80 + 69);
  const isa::ThreadContext& context = thread.home->context;
  EXPECT_EQ(context.lane[5], 5U);
  EXPECT_EQ(block.threads[1].context.lane[5], 37U) << "the second row of its warp";
  EXPECT_EQ(context.block_index.x, 3U);
  EXPECT_EQ(context.grid_id, 9U);
  EXPECT_EQ(context.total_shared, 100U);
}

TEST(ThreadHome, LocalMemoriesOfAllCoresAreDifferentAndTouchNowhere) {
  Blocks blocks;
  EXPECT_EQ(blocks.state.local_memories, 3U * blocks.machine.core.threads);
  std::set<std::uint64_t> words;
  for (CoreState* const core : {&blocks.state, &blocks.other}) {
    const LocalPlaces places = {4096, core->local_memories, 0};
    for (const unsigned slot : {0U, 7U}) {
      begin_block(*core, slot, {}, slot);
      for (const ThreadHome& home : core->block(slot).threads) {
        for (unsigned lane = 0; lane < home.threads; ++lane) {
          for (const std::uint64_t offset : {0U, 4U, 8U}) {
            const std::uint64_t at = places.address(home.first_local + lane, offset);
            EXPECT_EQ(at % 4, 0U);
            EXPECT_TRUE(words.insert(at).second);
            EXPECT_EQ(places.address(home.first_local + lane, offset + 3), at + 3);
          }
        }
      }
    }
  }
  EXPECT_EQ(words.size(), 2U * 2 * 80 * 3);
  EXPECT_EQ(*words.begin(), 4096 + 4U * blocks.machine.core.threads) << "those of core 0 come first";
  // Neighbours share lines.
  const ThreadHome& home = blocks.state.block(0).threads[0];
  const LocalPlaces three_cores = {0, 3072, 0};
  EXPECT_EQ(three_cores.address(home.first_local + 1, 8), three_cores.address(home.first_local, 8) + 4);
}

// A frame holds the thread's local memory, whatever its size.
TEST(ThreadHome, LocalMemoriesInFramesLieApart) {
  EXPECT_EQ(LocalPlaces::frame_of(0, 100), 0U);
  EXPECT_EQ(LocalPlaces::frame_of(8192, 100), 8192U);
  EXPECT_EQ(LocalPlaces::frame_of(64, 100), 128U);
  const LocalPlaces frames = {4096, 3072, 128};
  EXPECT_EQ(frames.address(0, 0), 4096U);
  EXPECT_EQ(frames.address(0, 127), 4096U + 127);
  EXPECT_EQ(frames.address(1, 0), 4096U + 128);
}

TEST(ThreadHome, WhatAThreadHasNotWrittenReadsAsZero) {
  LocalWritten written;
  written.start(4, 100);
  std::array<std::byte, 4> copy{};
  const auto read = [&](unsigned thread, std::uint64_t offset) {
    copy.fill(std::byte{0xee});
    written.blank(thread, offset, copy);
    std::uint32_t mask = 0;
    for (const std::byte byte : copy) {
      mask = mask * 16 + (byte == std::byte{0} ? 0 : 1);
    }
    return mask;
  };
  written.write(2, 65, 1);
  written.write(3, 96, 4);
  EXPECT_EQ(read(2, 64), 0x0100U);
  EXPECT_EQ(read(3, 64), 0U);
  EXPECT_EQ(read(3, 96), 0x1111U);
  EXPECT_EQ(read(1, 0), 0U);
  written.start(4, 100);
  EXPECT_EQ(read(3, 96), 0U) << "anew";
}

TEST(RowThreads, ARowOfOneHomeIsOnePointerUntilAThreadGoes) {
  Blocks blocks;
  begin_block(blocks.state, 0, {}, 0);
  ThreadHome& home = blocks.state.block(0).threads[0];
  RowThreads row;
  EXPECT_EQ(row.at(3).home, nullptr);
  EXPECT_EQ(row.present(), 0U);
  row.hold(home);
  EXPECT_EQ(row.whole(), &home);
  EXPECT_EQ(row.at(31), (HomeThread{&home, 31}));
  row.exited(0x0000'00f0);
  EXPECT_EQ(row.whole(), &home) << "who has exited is nowhere else";
  EXPECT_EQ(row.present(), 0xffff'ff0fU);
  row.take(9);
  EXPECT_EQ(row.whole(), nullptr);
  EXPECT_EQ(row.present(), 0xffff'fd0fU);
  EXPECT_EQ(row.at(8), (HomeThread{&home, 8}));
}

TEST(RowThreads, EachLaneHasAHomeOfItsOwn) {
  Blocks blocks;
  begin_block(blocks.state, 0, {}, 0);
  begin_block(blocks.other, 0, {1, 0, 0}, 1);
  ThreadHome& mine = blocks.state.block(0).threads[0];
  ThreadHome& short_one = blocks.state.block(0).threads[2];
  ThreadHome& foreign = blocks.other.block(0).threads[1];
  RowThreads row;
  row.put(4, {&foreign, 7});
  row.put(5, {&mine, 5});
  EXPECT_EQ(row.present(), 0x30U);
  EXPECT_EQ(row.whole(), nullptr);
  EXPECT_EQ(row.at(4), (HomeThread{&foreign, 7}));
  EXPECT_EQ(row.at(5), (HomeThread{&mine, 5}));
  row.take(4);
  row.take(5);
  // A home's threads come one by one, in any order: then it is whole, but not before, and not with one in another's
  // lane.
  for (unsigned lane = 16; lane-- > 1;) {
    row.put(lane, {&short_one, static_cast<std::uint8_t>(lane)});
    EXPECT_EQ(row.whole(), nullptr);
  }
  row.put(0, {&mine, 0});
  EXPECT_EQ(row.whole(), nullptr) << "a stranger";
  row.take(0);
  row.put(0, {&short_one, 0});
  EXPECT_EQ(row.whole(), &short_one);
  row.take(0);
  row.take(1);
  row.put(1, {&short_one, 0});
  row.put(0, {&short_one, 1});
  EXPECT_EQ(row.present(), 0xffffU);
  EXPECT_EQ(row.whole(), nullptr) << "two have changed places";
  EXPECT_EQ(row.at(0), (HomeThread{&short_one, 1}));
}

TEST(CoreState, ABlockBeginsInEmptyRowsOnly) {
  Blocks blocks;
  begin_block(blocks.state, 1, {}, 0);
  for (unsigned row = 4; row < 8; ++row) {
    blocks.state.rows[row].exited(row == 6 ? 0xfffe : kEveryLane);
  }
  EXPECT_THROW(begin_block(blocks.state, 1, {}, 1), InternalError);
  for (unsigned row = 4; row < 8; ++row) {
    blocks.state.rows[row].exited(kEveryLane);
  }
  EXPECT_NO_THROW(begin_block(blocks.state, 1, {}, 1));
  blocks.state.vacate();
  EXPECT_EQ(blocks.state.blocks[1].threads, 0U);
  EXPECT_FALSE(blocks.state.blocks[1].used);
  EXPECT_NO_THROW(begin_block(blocks.state, 1, {}, 2));
}

// ---- the block's home: the same counts and barriers wherever the threads are

BarrierArrival arrival(unsigned core, std::uint32_t threads, link::SubWarp* sub_warp, std::uint32_t barrier = 0) {
  BarrierArrival out;
  out.barrier = barrier;
  out.threads = threads;
  out.core = core;
  out.sub_warp = sub_warp;
  return out;
}

TEST(BlockHome, ABarrierCountsTheThreadsOfAllCores) {
  Blocks blocks;
  begin_block(blocks.state, 0, {}, 0);
  BlockHome& block = blocks.state.block(0);
  link::SubWarp sub_warps[4];
  BlockHome::Release release;
  EXPECT_EQ(block.arrive(arrival(1, 32, &sub_warps[0]), 7), "");
  EXPECT_EQ(block.arrive(arrival(2, 16, &sub_warps[1]), 7), "");
  EXPECT_EQ(block.arrive(arrival(0, 20, &sub_warps[2]), 7), "");
  EXPECT_FALSE(block.complete(release));
  EXPECT_FALSE(block.exit(8)) << "wherever they were";
  EXPECT_FALSE(block.complete(release));
  EXPECT_EQ(block.arrive(arrival(2, 4, &sub_warps[3]), 7), "");
  ASSERT_TRUE(block.complete(release));
  ASSERT_EQ(release.waiting.size(), 4U);
  const unsigned cores[] = {1, 2, 0, 2};
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(release.waiting[i].sub_warp, &sub_warps[i]) << "in the order of their arrival";
    EXPECT_EQ(release.waiting[i].core, cores[i]);
  }
  EXPECT_FALSE(block.anyone_waits());
  EXPECT_FALSE(block.complete(release));
  EXPECT_FALSE(block.exit(71));
  EXPECT_TRUE(block.exit(1)) << "the last one";
}

TEST(BlockHome, AReleaseIsOfOneBarrierAndItsReduction) {
  Blocks blocks;
  begin_block(blocks.state, 0, {}, 0);
  BlockHome& block = blocks.state.block(0);
  link::SubWarp sub_warps[3];
  BarrierArrival one = arrival(1, 30, &sub_warps[0], 3);
  one.op = isa::Op::BAR_RED_POPC;
  one.count = 40;
  one.true_threads = 11;
  BarrierArrival two = one;
  two.core = 2;
  two.threads = 10;
  two.true_threads = 6;
  two.sub_warp = &sub_warps[1];
  EXPECT_EQ(block.arrive(one, 7), "");
  EXPECT_EQ(block.arrive(arrival(0, 5, &sub_warps[2], 4), 7), "");
  EXPECT_EQ(block.arrive(two, 7), "");
  BlockHome::Release release;
  ASSERT_TRUE(block.complete(release));
  EXPECT_EQ(release.value, 17U);
  ASSERT_EQ(release.waiting.size(), 2U);
  EXPECT_EQ(release.waiting[1].sub_warp, &sub_warps[1]);
  EXPECT_TRUE(block.anyone_waits()) << "at another barrier";
  // bar.arrive does not wait and is in no release; an arrival too many is what the interpreter calls it.
  BarrierArrival passes = arrival(1, 20, nullptr, 5);
  passes.op = isa::Op::BAR_ARRIVE;
  passes.count = 32;
  EXPECT_EQ(block.arrive(passes, 7), "");
  BarrierArrival more = passes;
  more.core = 2;
  isa::reference::Barriers rules;
  ASSERT_EQ(rules.arrive(isa::Op::BAR_ARRIVE, 5, 32, 20, 0), "");
  const std::string wrong = rules.arrive(isa::Op::BAR_ARRIVE, 5, 32, 20, 0);
  EXPECT_NE(wrong, "");
  EXPECT_EQ(block.arrive(more, 7), wrong);
}

TEST(BlockHome, KnowsWhenTheFirstThreadsCameToEachBarrier) {
  Blocks blocks;
  begin_block(blocks.state, 0, {}, 0);
  BlockHome& block = blocks.state.block(0);
  link::SubWarp sub_warps[3];
  BarrierArrival one = arrival(0, 8, &sub_warps[0], 3);
  one.count = 16;
  BarrierArrival two = arrival(0, 8, &sub_warps[1], 5);
  two.count = 8;
  BlockHome::Release release;
  EXPECT_EQ(block.arrive(one, 10), "");
  EXPECT_EQ(block.arrive(two, 12), "");
  ASSERT_TRUE(block.complete(release));
  EXPECT_EQ(release.first_arrival, 12U);
  EXPECT_EQ(block.arrive(one, 30), "");
  ASSERT_TRUE(block.complete(release));
  EXPECT_EQ(release.first_arrival, 10U);
  EXPECT_EQ(block.arrive(one, 50), "") << "the barrier is as new";
  EXPECT_EQ(block.arrive(one, 60), "");
  ASSERT_TRUE(block.complete(release));
  EXPECT_EQ(release.first_arrival, 50U);
}

}  // namespace
}  // namespace heddle::hw
