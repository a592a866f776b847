// The cores' part of ODGS, global warp re-formation (ODGS paper 3.5): a warp that diverges leaves its core for the
// global pool, where full warps are formed anew of all threads of the grid that stand at one PC
// (hw/gpu/global_scheduler.hpp). Plain C++.
//
//   branch    threads part: both paths' leave for the pool (ThreadMoves::recall). Not those of a branch that is left to
//             the core (odgs.short_branch, odgs.moves_per_1024), nor of one within such a branch: a stack in the warp
//             has them re-converge at the immediate post-dominator, as in the machine without ODGS (stack.hpp)
//   barrier   the threads that arrive leave, and wait in the pool; paths that wait on the warp's stack go there too, so
//             that nobody waits for threads that wait
//   exit      the place is given back with the last thread
//
// In launches whose blocks begin in the cores (kernels that use the scratchpad: ODGS paper 3.5 and 3.8) every branch is
// the stack's, and threads wait at barriers where they are.
#pragma once

#include <deque>
#include <string>
#include <vector>

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
      .longest_travel = longest_travel_of_warps};
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
  [[nodiscard]] std::string inconsistency(const Group& group) const override;
  [[nodiscard]] std::string describe(const Group& group) const override;

 private:
  struct Entry {
    std::uint32_t reconvergence_pc;
    std::uint32_t execute_pc;
    LaneMask active;
  };
  using Stack = std::vector<Entry>;

  [[nodiscard]] bool leaves_core(const Group& group, const isa::Instruction& branch, GroupMoves& moves);
  void push(Group& group, const Outcome& outcome);
  void pop_reached(Group& group);
  void leave_for_paths(Group& group, LaneMask lanes, std::uint32_t pc, bool waits, GroupMoves& moves);
  void wait(Group& group, LaneMask waiting, GroupMoves& moves);

  const OdgsParameters parameters_;
  const unsigned width_;
  bool global_ = false;
  std::vector<Stack> stacks_;  // by group
  std::deque<Cycle> left_;     // when warps left at branches, of the last 1024 cycles, with moves_per_1024
};

}  // namespace heddle::hw
