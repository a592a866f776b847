// Threads that change their places, between two cores' states and register arrays: what goes with them, what stays.
#include "hw/core/warps/places.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/hw/begin_block.hpp"

namespace heddle::hw {
namespace {

// Two cores of a GPU with blocks of 40 threads, two register rows each; a core has eight rows and begins two blocks.
struct TwoCores {
  static constexpr unsigned kRegisters = 5;

  TwoCores() {
    launch.block = {40, 1, 1};
    launch.registers = kRegisters;
    for (unsigned i = 0; i < 2; ++i) {
      cores[i].launch = &launch;
      registers[i].resize(static_cast<unsigned>(cores[i].rows.size()), kRegisters);
      for (unsigned slot = 0; slot < 2; ++slot) {
        begin_block(cores[i], slot, {i, slot, 0}, i * 2 + slot);
      }
      for (unsigned row = 0; row < cores[i].rows.size(); ++row) {
        for (unsigned reg = 0; reg < kRegisters; ++reg) {
          for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
            registers[i].word(row, reg)[lane] = value(i, row, reg, lane);
          }
        }
        registers[i].predicate(row, 3) = 0x5555'5555;
      }
    }
  }
  static std::uint32_t value(unsigned core, unsigned row, unsigned reg, unsigned lane) {
    return ((core * 10 + row) * 10 + reg) * 100 + lane;
  }
  // The registers in a place are the ones that were in another place at first.
  void expect_registers(unsigned core, const Place& place, unsigned from_core, const Place& from) {
    for (unsigned reg = 0; reg < kRegisters; ++reg) {
      EXPECT_EQ(registers[core].word(place.row, reg)[place.lane], value(from_core, from.row, reg, from.lane));
    }
    EXPECT_EQ((registers[core].predicate(place.row, 3) >> place.lane) & 1U, from.lane % 2 == 0 ? 1U : 0U);
    EXPECT_EQ((registers[core].predicate(place.row, 2) >> place.lane) & 1U, 0U);
  }

  static Machine small_machine() {
    Machine out;
    out.gpu.cores = 2;
    out.core.threads = 256;
    out.core.blocks = 2;
    return out;
  }

  Machine machine = small_machine();
  Launch launch;
  CoreState cores[2] = {{machine, 0, nullptr}, {machine, 1, nullptr}};
  RegisterArray registers[2];
  Places places[2] = {{cores[0], registers[0]}, {cores[1], registers[1]}};
};

TEST(Places, AThreadTakesItsRegistersAlongAndKeepsItsHome) {
  TwoCores two;
  const HomeThread thread = two.cores[0].thread_at(2, 7);
  const Place from{2, 7};
  const Place to{6, 20};
  two.places[0].move(from, to);
  two.expect_registers(0, to, 0, from);
  EXPECT_EQ(two.cores[0].thread_at(6, 20), thread);
  EXPECT_EQ(thread.home->block, &two.cores[0].homes[1]);
  EXPECT_EQ(two.cores[0].rows[6].present(), 1U << 20U);
  EXPECT_EQ(two.cores[0].rows[2].present(), ~(1U << 7U));
  EXPECT_EQ(two.cores[0].blocks[1].threads, 40U) << "it is still here";
  // Neighbours are left alone.
  two.expect_registers(0, {6, 21}, 0, {6, 21});
  two.expect_registers(0, {2, 8}, 0, {2, 8});
  two.places[0].move(to, from);
  EXPECT_EQ(two.cores[0].rows[2].whole(), thread.home);
  two.expect_registers(0, from, 0, from);
}

TEST(Places, TwoThreadsGoToEachOthers) {
  TwoCores two;
  const HomeThread one = two.cores[1].thread_at(0, 4);
  const HomeThread other = two.cores[1].thread_at(1, 3);  // of the same block
  two.places[1].exchange({0, 4}, {1, 3});
  EXPECT_EQ(two.cores[1].thread_at(0, 4), other);
  EXPECT_EQ(two.cores[1].thread_at(1, 3), one);
  two.expect_registers(1, {0, 4}, 1, {1, 3});
  two.expect_registers(1, {1, 3}, 1, {0, 4});
  EXPECT_EQ(two.cores[1].rows[0].present(), ~LaneMask{0});
  EXPECT_EQ(two.cores[1].rows[0].whole(), nullptr);
}

TEST(Places, AGuestHasASlotOfItsBlockWhileThreadsOfItAreThere) {
  TwoCores two;
  BlockHome& block = two.cores[0].homes[1];
  const HomeThread thread = two.cores[0].thread_at(3, 6);  // number 38
  const Traveller traveller = two.places[0].leave({3, 6}, 9);
  EXPECT_EQ(two.cores[0].blocks[1].threads, 39U);
  EXPECT_TRUE(two.cores[0].blocks[1].used) << "its own core keeps the slot";
  const Place place = two.places[1].find(traveller);
  EXPECT_EQ(place, (Place{4, 9})) << "the lane of its group; blocks begin in rows 0 to 3";
  two.places[1].enter(place, traveller);
  EXPECT_EQ(two.cores[1].thread_at(4, 9), thread);
  EXPECT_EQ(thread.number(), 38U);
  EXPECT_EQ(thread.local(), 40U + 24 + 38) << "the local memory that it has in core 0: warps of 32, so 64 per block";
  two.expect_registers(1, place, 0, {3, 6});
  ASSERT_EQ(two.cores[1].blocks.size(), 3U);
  EXPECT_EQ(two.cores[1].slot_of(block), 2U);
  EXPECT_EQ(&two.cores[1].block(2), &block);
  EXPECT_EQ(two.cores[1].blocks[2].threads, 1U);
  EXPECT_EQ(two.cores[1].blocks[1].threads, 40U);
  // Another one of the same block, then one of another; the slot goes with the last thread, and is used again.
  const Traveller second = two.places[0].leave({3, 7}, 9);
  two.places[1].enter(two.places[1].find(second), second);
  EXPECT_EQ(two.cores[1].rows[5].present(), 1U << 9U) << "lane 9 of row 4 is taken";
  EXPECT_EQ(two.cores[1].blocks[2].threads, 2U);
  two.cores[1].leaves(block, 2);
  EXPECT_FALSE(two.cores[1].blocks[2].used);
  EXPECT_THROW(static_cast<void>(two.cores[1].slot_of(block)), InternalError);
  const Traveller next = two.places[0].leave({0, 0}, 0);
  two.places[1].enter(two.places[1].find(next), next);
  EXPECT_EQ(two.cores[1].slot_of(two.cores[0].homes[0]), 2U);
}

TEST(Places, WhoComesBackGoesWhereTheBlockHasPutIt) {
  TwoCores two;
  const Traveller out = two.places[0].leave({1, 5}, 5);
  EXPECT_EQ(two.places[0].find(out), (Place{1, 5}));
  Traveller other_lane = out;
  other_lane.lane = 6;
  EXPECT_EQ(two.places[0].find(other_lane), (Place{4, 6})) << "not in its group's lane";
  two.places[0].enter({1, 5}, out);
  EXPECT_EQ(two.cores[0].rows[1].whole(), out.thread.home);
}

TEST(Places, WhatIsNotAPlaceIsRefused) {
  TwoCores two;
  EXPECT_THROW(two.places[0].move({1, 8}, {4, 0}), InternalError) << "nobody is there: 40 threads";
  EXPECT_THROW(two.places[0].move({6, 0}, {7, 0}), InternalError) << "nobody ever was";
  EXPECT_THROW(two.places[0].move({0, 0}, {0, 1}), InternalError) << "taken";
  EXPECT_THROW(two.places[0].move({0, 0}, {3, 20}), InternalError) << "another block begins there";
  EXPECT_NO_THROW(two.places[0].move({0, 0}, {1, 20}));
  EXPECT_THROW(two.places[0].exchange({0, 3}, {2, 3}), InternalError) << "of two blocks";
  EXPECT_EQ(two.cores[0].rows[0].present(), ~LaneMask{1}) << "nothing has changed";
  EXPECT_NO_THROW(two.places[0].move({2, 3}, {7, 3}));
  EXPECT_THROW(two.places[0].exchange({0, 3}, {7, 3}), InternalError);
  const Traveller away = two.places[1].leave({0, 3}, 3);
  EXPECT_THROW(two.places[0].enter({0, 0}, away), InternalError) << "of another core's block";
  // No room.
  for (unsigned row = 4; row < 7; ++row) {
    const Traveller one =
        two.places[1].leave({static_cast<std::uint16_t>(row == 4 ? 2 : 0), static_cast<std::uint8_t>(row + 10)}, 3);
    two.places[0].enter(two.places[0].find(one), one);
  }
  EXPECT_FALSE(two.places[0].vacant(3).has_value());
  EXPECT_EQ(two.places[0].vacant(4), (Place{4, 4}));
  EXPECT_THROW(static_cast<void>(two.places[0].find(away)), InternalError);
}

}  // namespace
}  // namespace heddle::hw
