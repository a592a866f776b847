// A mechanism of the tests whose threads change their places all the time, as a test of everything that must not depend
// on where a thread is: to other register rows and lanes, for each other's, and to other cores.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>

#include "hw/divergence/divergence.hpp"
#include "hw/divergence/thread_moves.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::test {

// What all wandering mechanisms of the process have done.
struct Wanderings {
  std::atomic<std::uint64_t> moves = 0, exchanges = 0, merges = 0, departures = 0, returns = 0;
};
inline Wanderings wanderings;
// What a mechanism must not do, to be refused: moves a thread of a group that waits at a barrier.
inline bool wander_while_waiting = false;

// A machine of `cores` cores that uses it. Blocks of up to 64 threads leave room for guests.
[[nodiscard]] inline hw::Machine wandering_machine(unsigned cores) {
  hw::Machine machine;
  machine.name = "wandering";
  machine.core.registers_per_thread = 63;
  machine.core.divergence = "wandering";
  machine.core.blocks = 2;
  machine.gpu.cores = cores;
  machine.l1d.write_policy = "write-through";
  return machine;
}

// Groups split at branches and merge where they meet by chance, within a block. After an instruction, a group's threads
// go somewhere, as a generator of random numbers with a fixed seed says.
class Wandering final : public hw::Divergence {
 public:
  static constexpr Traits traits{.no_lockstep = "moves threads about", .warp_pool = true, .changes_cores = true};

  explicit Wandering(const Setup& setup) : groups_(setup.groups) {}

  [[nodiscard]] unsigned groups(unsigned threads) const override { return threads; }
  [[nodiscard]] bool dynamic() const override { return true; }
  void start(hw::Group& group) override { group.pc = 0; }

  bool complete(hw::Group& group, const hw::Outcome& outcome, hw::GroupMoves& moves) override {
    const hw::LaneMask left = group.active[0] & ~outcome.exited[0];
    const bool branch = outcome.instruction.op == isa::Op::BRA;
    const hw::LaneMask taken = branch ? outcome.taken[0] & left : 0;
    const std::uint32_t fall_through = group.pc + 1;
    group.active[0] = left;
    if (outcome.arrivals[0] != 0) {  // the kernels' barriers have no guards
      group.pc = fall_through;
      moves.wait(group);
      if (wander_while_waiting) {
        const auto to = moves.threads().vacant(0);
        moves.threads().move(group, any_lane(group), to.value_or(hw::Place{}));
      }
      return false;
    }
    const bool diverged = taken != 0 && taken != left;
    if (diverged) {
      hw::Group& other = moves.allocate(group);
      other.lane_row = group.lane_row;
      other.lane_home = group.lane_home;
      other.active[0] = taken;
      other.pc = outcome.instruction.target;
      group.active[0] = left & ~taken;
      go_on(other, moves);
    }
    group.pc = taken != 0 && !diverged ? outcome.instruction.target : fall_through;
    go_on(group, moves);
    return diverged;
  }

  void arrived(hw::Group& group, hw::GroupMoves& moves) override {
    ++wanderings.returns;
    moves.run(group);
  }
  [[nodiscard]] std::string inconsistency(const hw::Group&) const override { return {}; }
  [[nodiscard]] std::string describe(const hw::Group&) const override { return "wanders"; }

 private:
  unsigned random(unsigned below) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned>(state_ >> 33U) % below;
  }
  unsigned any_lane(const hw::Group& group) {
    hw::LaneMask left = group.active[0];
    for (unsigned skip = random(static_cast<unsigned>(std::popcount(left))); skip != 0; --skip) {
      left &= left - 1;
    }
    return static_cast<unsigned>(std::countr_zero(left));
  }

  void go_on(hw::Group& group, hw::GroupMoves& moves) {
    if (group.active[0] == 0) {
      moves.free(group);
      return;
    }
    group.look_at_lanes();
    hw::ThreadMoves& threads = moves.threads();
    switch (random(6)) {
      case 0:
        if (const auto to = threads.vacant(random(isa::kLanes))) {
          threads.move(group, any_lane(group), *to);
          ++wanderings.moves;
        }
        break;
      case 1:
        exchange(group, other_of_block(group), threads);
        break;
      case 2:
        if (hw::Group* const other = waiting_at(group)) {
          ++wanderings.merges;
          moves.merge(group, *other);
          return;
        }
        break;
      case 3:
        if (threads.cores() > 1 && random(4) == 0) {
          ++wanderings.departures;
          threads.depart(group, (threads.core() + 1 + random(threads.cores() - 1)) % threads.cores());
          return;
        }
        break;
      default:
        break;
    }
    moves.run(group);
  }

  void exchange(hw::Group& group, hw::Group* with, hw::ThreadMoves& threads) {
    hw::Group& other = with == nullptr ? group : *with;
    const unsigned lane = any_lane(group);
    const unsigned other_lane = any_lane(other);
    if (&other != &group || lane != other_lane) {
      threads.exchange(group, lane, other, other_lane);
      ++wanderings.exchanges;
    }
  }

  // A group of the same block that waits to be fetched.
  hw::Group* other_of_block(const hw::Group& group) {
    for (hw::GroupId id = 0; id < groups_.size(); ++id) {
      if (groups_[id].state == hw::GroupState::ready && groups_[id].block_slot == group.block_slot) {
        return &groups_[id];
      }
    }
    return nullptr;
  }
  // A group at the same PC, with no thread in this group's lanes.
  hw::Group* waiting_at(const hw::Group& group) {
    for (hw::GroupId id = 0; id < groups_.size(); ++id) {
      hw::Group& other = groups_[id];
      if (other.state == hw::GroupState::ready && other.block_slot == group.block_slot && other.pc == group.pc &&
          (other.active[0] & group.active[0]) == 0) {
        return &other;
      }
    }
    return nullptr;
  }

  hw::GroupTable& groups_;
  std::uint64_t state_ = 12345;
};

}  // namespace heddle::test
