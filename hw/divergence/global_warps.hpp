// The cores' part of ODGS, global warp re-formation (ODGS paper 3.5): a warp that diverges leaves its core for the
// global pool, where full warps are formed anew of all threads of the grid that stand at one PC
// (hw/gpu/global_scheduler.hpp). Plain C++.
//
//   branch    threads part: both paths leave for the pool (ThreadMoves::recall). Not at a branch that is left to the
//             core (odgs.short_branch, odgs.moves_per_1024), nor at one within such a branch: a stack in the warp
//             has threads re-converge at the immediate post-dominator, as in the machine without ODGS (stack.hpp)
//             With odgs.rank_after, threads of branches that have lost little under the stack so far stay, too
//             (branch_ranking.hpp). With odgs.local_paths, paths wait in the core for a while, to fill warps there
//             with threads in other lanes; what has not become full by then leaves
//   barrier   the threads that arrive leave, and wait in the pool; paths that wait on the warp's stack go there too, so
//             that no thread waits for threads that wait
//   exit      the place is given back with the last thread
//
// Kernels that use the scratchpad (ODGS paper 3.5 and 3.8): with odgs.scratchpad = "off" their blocks begin in the
// cores, every branch is the stack's, and threads wait at barriers where they are. With "after-last-access" a warp does
// so as long as it is bound (Group::bound); it is set free at a branch or barrier from which no access to the
// scratchpad can be reached (isa::Instruction::past_scratchpad) and at which it is whole, its stack empty. From then on
// its branches and barriers are as above. A warp leaves as a whole or not at all: as long as some of its threads can
// come to an access none has left, so that its register row, which they need, is never kept by a few that wait for
// threads that have gone and look for a place.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "hw/divergence/branch_ranking.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/divergence/odgs.hpp"

namespace heddle::hw {

// Divergence::Traits::longest_travel: all of a core's warps one after the other, there and back.
[[nodiscard]] std::uint64_t longest_travel_of_warps(const CoreParameters& core);

class GlobalWarps final : public Divergence {
 public:
  using Parameters = OdgsParameters;
  static constexpr Traits traits{
      .no_lockstep = "forms warps of threads of the whole grid, so that its lanes are not those that the program means",
      .warp_pool = true,
      .global_pool = [](const CoreParameters& core) { return core.policies.of<Parameters>().pool; },
      .after_last_access =
          [](const CoreParameters& core) { return core.policies.of<Parameters>().after_last_access(); },
      .longest_travel = longest_travel_of_warps};
  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found);
  static void cost(const CostShape& shape, CostLines& lines);

  explicit GlobalWarps(const Setup& setup);

  [[nodiscard]] unsigned groups(unsigned threads) const override;
  [[nodiscard]] unsigned scheduled(unsigned threads) const override { return threads / width_; }
  [[nodiscard]] bool dynamic() const override { return true; }
  [[nodiscard]] bool displaces() const override { return false; }
  void begin_launch(bool global) override;
  void start(Group& group) override;
  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override;
  void arrived(Group& group, GroupMoves& moves) override;
  [[nodiscard]] bool waits_in_core(const Group& group, const isa::Instruction& barrier) const override;
  [[nodiscard]] std::string inconsistency(const Group& group) const override;
  [[nodiscard]] std::string describe(const Group& group) const override;

 private:
  struct Entry {
    std::uint32_t reconvergence_pc;
    std::uint32_t execute_pc;
    LaneMask active;
  };
  using Stack = std::vector<Entry>;
  // A branch that the stack has resolved and whose threads have not met yet.
  struct Parted {
    std::uint32_t pc;          // the branch's
    std::size_t level;         // the stack's entry with all its threads
    std::uint64_t waited = 0;  // threads that instructions since have left out, added up
  };
  // A path that waits in the core for threads at its PC.
  struct Local {
    GroupId group;
    Cycle since;
  };

  [[nodiscard]] bool past_scratchpad(const Group& group, const isa::Instruction& at) const {
    return at.past_scratchpad && stacks_[group.id].empty();
  }
  [[nodiscard]] bool leaves_core(const Group& group, const isa::Instruction& branch, GroupMoves& moves);
  void push(Group& group, const Outcome& outcome);
  void pop_reached(Group& group);
  void step(Group& group, const Outcome& outcome, GroupMoves& moves, bool& diverged);
  void count_those_who_wait(const Group& group);
  [[nodiscard]] Group& part_of(Group& group, LaneMask lanes, std::uint32_t pc, GroupMoves& moves);
  void leave(Group& group, bool waits, GroupMoves& moves);
  void wait(Group& group, LaneMask waiting, GroupMoves& moves);
  void exit(Group& group, LaneMask exited);
  [[nodiscard]] unsigned emptied_rows(const Group& group, LaneMask lanes);
  // ---- local re-formation (global_warps_local.cpp)
  void leave_or_wait(Group& path, GroupMoves& moves);
  void bound_waiting(GroupMoves& moves);

  GroupTable& groups_;
  CoreStatistics* const statistics_;
  const OdgsParameters parameters_;
  const unsigned width_;
  bool global_ = false;
  std::vector<Stack> stacks_;                // by group
  std::vector<std::vector<Parted>> parted_;  // by group, with rank_after
  BranchRanking ranking_;
  std::deque<Cycle> left_;         // when warps left at branches, of the last 1024 cycles, with moves_per_1024
  std::vector<unsigned> threads_;  // by register row that is a place of the global scheduler: threads that are here
  std::vector<Local> local_;       // in the order in which they came
};

}  // namespace heddle::hw
