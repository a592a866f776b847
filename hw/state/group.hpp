// A group: the threads that share a program counter and are fetched as one. In the baseline a group is a warp; other
// divergence mechanisms make dynamic warps, warp-splits or single threads of it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/instrument.hpp"
#include "hw/state/place.hpp"
#include "hw/state/ready_by_pc.hpp"
#include "isa/instruction.hpp"
#include "tlm/cycle.hpp"

namespace heddle::link {
struct DecodedInstruction;
}

namespace heddle::hw {

class CoreObserver;
struct CoreState;

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
  complex,    // waits for a complex operation; stalled where such count as long-latency (core.complex_long_latency)
  barrier,    // waits at a barrier
  parked,     // waits for other groups: block-wide branch, re-convergence
  throttled,  // its next instruction is a load, which the load limiter holds back
  queueing,   // its next instruction is an access, for which the memory queue has no place
};
inline constexpr std::size_t kGroupStates = 10;

// Where an instruction in flight stands.
struct InFlight {
  unsigned formed = 0;       // sub-warps handed on so far
  unsigned completed = 0;    // of `formed`: written back
  unsigned waiting = 0;      // of `formed`: put aside for memory
  bool all_formed = false;   // the former has handed on the last sub-warp
  bool released = false;     // the group has gone on to its next instruction
  bool whole = false;        // its one sub-warp stands for every active thread (SubWarp::whole)
  bool progressed = false;   // Group::progress counts it already
  unsigned resolved = 0;     // of a branch with a condition: sub-warps that have left the functional units
  bool conditional = false;  // of lanes that execute each an instruction of its own: some are conditional branches
  unsigned late = 0;         // sub-warps that wait for late hits alone
  std::uint64_t number = 0;  // of its group's instructions: what is fetched later has a higher one
  [[nodiscard]] bool done() const { return all_formed && completed == formed; }
};

// Threads are laid out in rows of SIMD-width lanes. Thread (row r, lane l) of a group keeps its registers in register
// file row first_row + r, lane l. A dynamic group has one row only, and a place of its own for the thread in each lane:
// register row lane_row[l], register lane lane_home[l] (l itself unless displaced).
struct Group {
  // Places for instructions in flight: at most, and where the issue discipline does not say how many it wants.
  static constexpr unsigned kFlights = 32;
  static constexpr unsigned kUsualFlights = 4;

  GroupId id = 0;
  GroupState state = GroupState::free;
  std::uint32_t pc = 0;
  unsigned block_slot = 0;  // of a dynamic group: its first thread's
  unsigned part = 0;        // of its block, where a mechanism treats parts of it as blocks (tbc.width)
  unsigned warp_in_block = 0;
  unsigned warp_here = 0;  // of a warp that begins: its number among its block's in this sub-core (core.sub_cores)
  std::uint16_t first_row = 0;
  std::uint64_t age = 0;         // order in which groups started; smaller is older
  std::vector<LaneMask> active;  // one mask per row
  bool dynamic = false;
  bool aligned = false;    // dynamic: every active thread is of register row first_row and in its register lane
  bool displaced = false;  // dynamic: some lane_home[l] is not l
  std::array<std::uint16_t, isa::kLanes> lane_row{};
  std::array<std::uint8_t, isa::kLanes> lane_home{};
  // With Divergence::Traits::steps_plainly: where the mechanism has something to do before the group goes on.
  std::uint32_t merge_pc = ~std::uint32_t{0};
  std::uint32_t merge_points = 0;  // re-convergence points passed (post-dominator priority)
  std::uint64_t instructions = 0;  // fetched of it since its block began (CoreStatistics::drift_instructions)
  // The progress register (thesis 9.2.2): instructions PROGRESS that some thread of the group has executed, each
  // counted once, however many sub-warps it took. A group that is made of others begins with the least of theirs.
  std::uint32_t progress = 0;
  std::uint32_t progress_before = 0;  // what it was at the latest release from a barrier; 0: there was none
  // Its loads must not be answered from the L1, which may have old copies (CoreState::moved_read_memory).
  bool reads_memory = false;
  // It may still access its block's scratchpad, which is this core's, in a launch whose blocks begin in the global
  // scheduler (Divergence::Traits::after_last_access).
  bool bound = false;
  std::vector<InFlight> flights = std::vector<InFlight>(kUsualFlights);
  unsigned latest = 0;  // flights[latest]: the instruction fetched last
  // The next instruction takes the first record whose instruction has completed. Otherwise records are taken in turn,
  // and one whose instruction has not completed keeps all others waiting.
  bool takes_any_record = false;
  std::uint32_t under_way = 0;  // bit f: a sub-warp of flights[f] is between the former and write-back
  const link::DecodedInstruction* decoded = nullptr;  // of the instruction fetched last; null before it is decoded
  // Its next instruction, which waits for one in flight to complete (IssueDiscipline::waits_for); null: it does not.
  const link::DecodedInstruction* held_back = nullptr;
  std::vector<LaneMask> busy;      // threads in a sub-warp that has not completed (per-thread interlock, thesis 4.2.2)
  std::vector<LaneMask> taken;     // of the branch in flight: lanes that take it
  std::vector<LaneMask> exited;    // of the exit in flight: lanes that leave
  std::vector<LaneMask> arrivals;  // of the barrier in flight: lanes that wait
  // Livelock watch: the innermost loop that the group is in, and the instructions retired since it entered it.
  std::uint32_t loop_first = 1, loop_last = 0;
  std::uint64_t loop_instructions = 0;
  std::uint32_t loop_rounds = 0;
  // Something in it that is looked at now and then.
  struct Watched {
    bool looked = false;
    std::uint64_t fingerprint = 0;
    std::uint64_t changed = 0;    // loop_instructions when a look saw another fingerprint than the look before
    std::uint64_t unchanged = 0;  // instructions from then to the latest look
    void look(std::uint64_t now, std::uint64_t instructions) {
      if (!looked || now != fingerprint) {
        looked = true;
        fingerprint = now;
        changed = instructions;
      }
      unchanged = instructions - changed;
    }
  };
  Watched loop_registers;
  Watched loop_exits;  // of the registers, those that decide whether the loop ends (WarpUnit::watch_exits)

  // Threads of another group join it: it has made as little progress as the one behind.
  void falls_back_to(const Group& other) {
    progress = std::min(progress, other.progress);
    progress_before = std::min(progress_before, other.progress_before);
  }
  [[nodiscard]] bool in_loop() const { return loop_first <= loop_last; }
  void leave_loop() {
    loop_first = 1;
    loop_last = 0;
    loop_instructions = 0;
    loop_rounds = 0;
    loop_registers = loop_exits = {};
  }
  // Goes round a loop from which it will not get out by itself, by the rule of WatchdogParameters.
  [[nodiscard]] bool spins(std::uint64_t limit) const {
    return in_loop() && (loop_registers.unchanged >= limit || loop_exits.unchanged / 100 >= limit);
  }

  [[nodiscard]] unsigned rows() const { return static_cast<unsigned>(active.size()); }
  [[nodiscard]] std::uint16_t row_of(unsigned row, unsigned lane) const {
    return dynamic ? lane_row[lane] : static_cast<std::uint16_t>(first_row + row);
  }
  [[nodiscard]] unsigned home_of(unsigned lane) const { return displaced ? lane_home[lane] : lane; }
  // Of a dynamic group's thread.
  [[nodiscard]] Place place_of(unsigned lane) const { return {lane_row[lane], lane_home[lane]}; }
  [[nodiscard]] InFlight& flight() { return flights[latest]; }
  [[nodiscard]] const InFlight& flight() const { return flights[latest]; }
  // The next instruction finds a record: the one that used it last has completed. All sub-warps of the latest
  // instruction have left the former.
  [[nodiscard]] bool has_free_flight() const {
    if (takes_any_record) {
      return first_free_record() < flights.size();
    }
    const InFlight& next = flights[following()];
    return next.formed == next.completed;
  }
  // No sub-warp of the group is between the former and write-back.
  [[nodiscard]] bool all_completed() const { return under_way == 0; }
  // A sub-warp of an instruction in flight has left the former; one has been written back.
  void sub_warp_formed(unsigned flight) {
    ++flights[flight].formed;
    under_way |= std::uint32_t{1} << flight;
  }
  void sub_warp_completed(unsigned flight) {
    InFlight& of = flights[flight];
    ++of.completed;
    if (of.completed == of.formed) {
      under_way &= ~(std::uint32_t{1} << flight);
    }
  }
  [[nodiscard]] unsigned following() const { return latest + 1 == flights.size() ? 0 : latest + 1; }
  [[nodiscard]] unsigned first_free_record() const { return static_cast<unsigned>(std::countr_one(under_way)); }
  void next_flight() {
    const std::uint64_t number = flight().number + 1;
    latest = takes_any_record ? first_free_record() : following();
    flights[latest] = {};
    flights[latest].number = number;
    under_way &= ~(std::uint32_t{1} << latest);
    decoded = nullptr;
  }
  // Of a dynamic group: brings aligned, displaced and first_row up to date with its lanes.
  void look_at_lanes();
  [[nodiscard]] bool any_active() const {
    return active[0] != 0 || std::any_of(active.begin() + 1, active.end(), [](LaneMask mask) { return mask != 0; });
  }
  [[nodiscard]] unsigned active_threads() const {
    unsigned threads = 0;
    for (const LaneMask mask : active) {
      threads += static_cast<unsigned>(std::popcount(mask));
    }
    return threads;
  }
};

// Told when a group starts to wait (on a long-latency operation, at a barrier, for other groups, for the load limiter),
// or has no threads any more.
class StallObserver {
 public:
  virtual ~StallObserver() = default;
  virtual void stalled(const Group& group) = 0;
  // An instruction of it has accessed memory beyond the core: the D-cache, whether it hits or misses.
  virtual void accessed(const Group& group) { (void)group; }
};

// The groups of one core, by id, with the sets that schedulers look at.
class GroupTable {
 public:
  // `complex_stalls`: a group that waits for a complex operation counts as stalled.
  GroupTable(unsigned groups, unsigned rows_per_group, bool complex_stalls = false);
  // Sets the number of groups; all of them free. Before the first use.
  void resize(unsigned groups, unsigned rows_per_group);
  void observe(StallObserver* observer) { observer_ = observer; }
  // Every change of state of the core's groups is shown to `watcher`; null: to none.
  void watch(CoreObserver* watcher, const CoreState& core) {
    watcher_ = watcher;
    core_ = &core;
    followed_ = by_pc_ != nullptr || watcher_ != nullptr;
  }

  // An access of the group to the D-cache begins.
  void accessed(const Group& group) const {
    if (observer_ != nullptr) {
      observer_->accessed(group);
    }
  }

  // Threads have joined a group, which waits to be fetched.
  void grown(const Group& group) const;

  [[nodiscard]] Group& operator[](GroupId id) { return groups_[id]; }
  [[nodiscard]] const Group& operator[](GroupId id) const { return groups_[id]; }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(groups_.size()); }
  [[nodiscard]] std::span<const Group> all() const { return groups_; }

  // Every change of state goes through here, so that the sets stay right. The usual ones, from fetch to the next fetch,
  // concern nothing else.
  void set_state(Group& group, GroupState state) {
    const GroupState before = group.state;
    group.state = state;
    --counts_[static_cast<unsigned>(before)];
    ++counts_[static_cast<unsigned>(state)];
    const unsigned sets = sets_of_[static_cast<unsigned>(state)];
    const unsigned changed = sets ^ sets_of_[static_cast<unsigned>(before)];
    if ((changed & kReady) != 0) {
      ready_[group.id / 64] ^= std::uint64_t{1} << (group.id % 64);
      if ((sets & kReady) != 0) {
        stands_[group.id] = {group.age, group.pc, group.block_slot, group.part};
      }
    }
    if ((((sets ^ kLive) | changed) & ~kReady) != 0 || followed_) {
      changed_state(group, before);
    }
  }

  [[nodiscard]] const GroupBits& ready() const { return ready_; }  // may be fetched
  // The groups that may be fetched, by PC. Kept from the first call on.
  [[nodiscard]] const ReadyByPc& ready_by_pc() const;
  // What schedulers compare, beside each other; of a group that is ready, for which none of it changes.
  struct Stands {
    std::uint64_t age = 0;
    std::uint32_t pc = 0;
    unsigned block_slot = 0;
    unsigned part = 0;
  };
  [[nodiscard]] const Stands& stands(GroupId id) const { return stands_[id]; }
  // wait on a long-latency operation, at a barrier, for other groups, or for the load limiter
  [[nodiscard]] const GroupBits& stalled() const { return stalled_; }
  [[nodiscard]] const GroupBits& live() const { return live_; }  // not free
  [[nodiscard]] unsigned count(GroupState state) const { return counts_[static_cast<unsigned>(state)]; }
  [[nodiscard]] bool any_ready() const { return count(GroupState::ready) != 0; }

  [[nodiscard]] std::uint64_t next_age() { return age_++; }
  // Groups that have begun so far, or rather ages that were given.
  [[nodiscard]] std::uint64_t ages() const { return age_; }
  // The free group with the lowest number; null when there is none. It stays free until its state is set.
  [[nodiscard]] Group* find_free(unsigned from = 0);

 private:
  // The sets that groups in a state are in.
  static constexpr unsigned kReady = 1, kStalled = 2, kLive = 4;
  // What is left of set_state() when the group stalls, goes on or ends, or somebody follows all changes.
  void changed_state(const Group& group, GroupState before);
  void note_by_pc(const Group& group) const;

  std::vector<Group> groups_;
  GroupBits ready_, stalled_, live_;
  std::vector<Stands> stands_;  // when the group last became ready
  std::array<std::uint8_t, kGroupStates> sets_of_{};
  std::array<unsigned, kGroupStates> counts_{};
  mutable std::unique_ptr<ReadyByPc> by_pc_;  // null: not asked for yet
  mutable bool followed_ = false;             // by_pc_ or watcher_ is there
  std::uint64_t age_ = 0;
  StallObserver* observer_ = nullptr;
  Instrument<CoreObserver> watcher_;
  const CoreState* core_ = nullptr;  // whose groups these are, with a watcher
};

}  // namespace heddle::hw
