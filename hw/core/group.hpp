// A group: the threads that share a program counter and are fetched as one. In the baseline a group is a warp; other
// divergence mechanisms make dynamic warps, warp-splits or single threads of it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/instruction.hpp"
#include "tlm/clock.hpp"

namespace heddle::hw {

using GroupId = std::uint32_t;
using isa::LaneMask;
using link::Cycle;

// Words of a bit set over groups, bit i of word i/64.
using GroupBits = std::vector<std::uint64_t>;

enum class GroupState : std::uint8_t {
  free,       // no threads
  ready,      // may be fetched
  fetching,   // waits for its instruction cache line
  in_flight,  // an instruction of it is in the pipeline
  memory,     // waits for lines from memory (a long-latency operation)
  barrier,    // waits at a barrier
};

// Where a group's instruction in flight stands.
struct InFlight {
  unsigned formed = 0;      // sub-warps handed on so far
  unsigned completed = 0;   // of those, written back
  unsigned waiting = 0;     // of those, put aside for memory
  bool all_formed = false;  // the former has handed on the last one
  [[nodiscard]] bool done() const { return all_formed && completed == formed; }
};

// Threads are laid out in rows of SIMD-width lanes. Thread (row r, lane l) of a group keeps its registers in register
// file row first_row + r, lane l, unless lane_rows says otherwise (dynamic warps: one row number per lane).
struct Group {
  GroupId id = 0;
  GroupState state = GroupState::free;
  std::uint32_t pc = 0;
  unsigned block_slot = 0;
  unsigned warp_in_block = 0;
  std::uint16_t first_row = 0;
  std::uint64_t age = 0;                              // order in which groups started; smaller is older
  std::vector<LaneMask> active;                       // one mask per row
  std::vector<std::vector<std::uint16_t>> lane_rows;  // empty: identity
  InFlight flight;
  std::vector<LaneMask> taken;   // of the instruction in flight: lanes that take the branch
  std::vector<LaneMask> exited;  // of the instruction in flight: lanes that exit
  // Livelock watch: the innermost loop that the group is in, the instructions retired since it entered it, and since
  // its registers were last seen to change there.
  std::uint32_t loop_first = 1, loop_last = 0;
  std::uint64_t loop_instructions = 0;
  std::uint64_t loop_changed = 0;  // loop_instructions at the latest change
  std::uint64_t loop_fingerprint = 0;
  std::uint32_t loop_rounds = 0;

  [[nodiscard]] bool in_loop() const { return loop_first <= loop_last; }
  void leave_loop() {
    loop_first = 1;
    loop_last = 0;
    loop_instructions = loop_changed = loop_fingerprint = 0;
    loop_rounds = 0;
  }
  // Goes round a loop from which it will not get out by itself, by the rule of WatchdogParameters.
  [[nodiscard]] bool spins(std::uint64_t limit) const {
    return in_loop() && (loop_instructions - loop_changed >= limit || loop_instructions / 100 >= limit);
  }

  [[nodiscard]] unsigned rows() const { return static_cast<unsigned>(active.size()); }
  [[nodiscard]] std::uint16_t row_of(unsigned row, unsigned lane) const {
    return lane_rows.empty() ? static_cast<std::uint16_t>(first_row + row) : lane_rows[row][lane];
  }
  [[nodiscard]] unsigned active_threads() const {
    unsigned threads = 0;
    for (const LaneMask mask : active) {
      threads += static_cast<unsigned>(std::popcount(mask));
    }
    return threads;
  }
};

// The groups of one core, by id, with the sets that schedulers look at.
class GroupTable {
 public:
  GroupTable(unsigned groups, unsigned rows_per_group);

  [[nodiscard]] Group& operator[](GroupId id) { return groups_[id]; }
  [[nodiscard]] const Group& operator[](GroupId id) const { return groups_[id]; }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(groups_.size()); }
  [[nodiscard]] std::span<const Group> all() const { return groups_; }

  // Every change of state goes through here, so that the sets stay right.
  void set_state(Group& group, GroupState state);

  [[nodiscard]] const GroupBits& ready() const { return ready_; }      // may be fetched
  [[nodiscard]] const GroupBits& stalled() const { return stalled_; }  // wait on a long-latency operation or a barrier
  [[nodiscard]] const GroupBits& live() const { return live_; }        // not free
  [[nodiscard]] unsigned count(GroupState state) const { return counts_[static_cast<unsigned>(state)]; }
  [[nodiscard]] bool any_ready() const { return count(GroupState::ready) != 0; }

  [[nodiscard]] std::uint64_t next_age() { return age_++; }

 private:
  std::vector<Group> groups_;
  GroupBits ready_, stalled_, live_;
  unsigned counts_[6] = {};
  std::uint64_t age_ = 0;
};

// First set bit at or after `from`, wrapping around; -1 when none.
[[nodiscard]] int next_set(const GroupBits& bits, unsigned size, unsigned from);

}  // namespace heddle::hw
