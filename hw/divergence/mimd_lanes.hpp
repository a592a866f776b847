// MIMD lanes: which threads execute what (hw/divergence/mimd.cpp). Plain C++.
#pragma once

#include <array>
#include <vector>

#include "hw/divergence/divergence.hpp"
#include "hw/divergence/mimd.hpp"

namespace heddle::hw {

class MimdLanes final : public Divergence {
 public:
  using Parameters = MimdParameters;
  static constexpr Traits traits{.large_warps = true,
                                 .no_lockstep =
                                     "lets each thread execute an instruction of its own, so that an "
                                     "operation between lanes does not find the others",
                                 .mimd_lanes = true};
  static void check(const Machine& machine, std::vector<Contradiction>& found);
  static void cost(const CostShape& shape, CostLines& lines);

  explicit MimdLanes(const Setup& setup);

  [[nodiscard]] unsigned groups(unsigned threads) const override;
  [[nodiscard]] bool dynamic() const override { return !step_; }
  [[nodiscard]] bool displaces() const override { return any_lane_; }
  [[nodiscard]] bool lanes_of_several_groups() const override { return !step_; }
  [[nodiscard]] std::uint32_t lane_pc(const Group& group, unsigned row, unsigned lane) const override;
  void executed(const Group& group, unsigned row, LaneMask lanes, const isa::Instruction& instruction,
                LaneMask taken) override;
  void start(Group& group) override;
  void started(Group& group, GroupMoves& moves) override;
  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override;
  void released(Group& group, unsigned row, LaneMask lanes, bool last, GroupMoves& moves) override;
  [[nodiscard]] std::string inconsistency(const Group& group) const override;
  [[nodiscard]] std::string describe(const Group& group) const override;

 private:
  // With the step in common. By register row of the warp.
  struct Warp {
    std::vector<std::array<std::uint32_t, isa::kLanes>> pc;
    std::vector<LaneMask> live;     // have not exited
    std::vector<LaneMask> waiting;  // live and at a barrier
  };
  void go_on(Group& group, GroupMoves& moves);

  bool step_;
  bool any_lane_;
  unsigned rows_;
  std::vector<Warp> warps_;  // by group
};

}  // namespace heddle::hw
