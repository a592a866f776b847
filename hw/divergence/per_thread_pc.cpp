// A program counter per thread (thesis 2.1.3.2, after Diamos et al.): the warp has one global PC, and in each
// instruction those threads execute whose own PC equals it. No stack, no re-convergence PCs: after an instruction the
// warp goes on at the lowest PC of its threads, so that threads behind catch up with threads ahead. For an if this is
// the rule of the thesis (the warp falls through unless every thread skips), which is extended here to loops and
// unstructured code. Threads that wait at a barrier leave the others of their warp running.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/set_bits.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

class PerThreadPc final : public Divergence {
 public:
  static constexpr Traits traits{.no_lockstep =
                                     "lets the threads of a warp meet again where their program counters "
                                     "happen to agree, so that an operation between lanes may find only "
                                     "some of them",
                                 .keeps_warps = true};

  static void cost(const CostShape& shape, CostLines& lines) {
    lines.mechanism("per-thread program counters");
    lines.add(CostLine::Kind::counted, "a program counter per thread",
              fmt::format("core.threads {} x {}", shape.threads, kPcBits), shape.threads * kPcBits,
              "thesis 2.1.3.2, beside the warp's own; no stack");
  }

  explicit PerThreadPc(const Setup& setup) : warps_(setup.core.threads / setup.core.warp_size) {}

  [[nodiscard]] unsigned groups(unsigned) const override { return static_cast<unsigned>(warps_.size()); }

  void start(Group& group) override {
    Warp& warp = warps_[group.id];
    warp = {};
    warp.live = group.active[0];
    group.pc = 0;
  }

  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override {
    Warp& warp = warps_[group.id];
    const LaneMask active = group.active[0];
    const bool branch = outcome.instruction.op == isa::Op::BRA;
    const LaneMask taken = branch ? outcome.taken[0] : 0;
    for (const unsigned lane : set_bits(active)) {
      warp.pc[lane] = ((taken >> lane) & 1U) != 0 ? outcome.instruction.target : group.pc + 1;
    }
    warp.live &= ~outcome.exited[0];
    warp.waiting |= outcome.arrivals[0];
    go_on(group, moves);
    return taken != 0 && taken != active;
  }

  void released(Group& group, unsigned, LaneMask lanes, bool, GroupMoves& moves) override {
    warps_[group.id].waiting &= ~lanes;
    if (group.state == GroupState::barrier) {
      go_on(group, moves);
    }
  }

  // The running threads are the threads at the warp's PC that do not wait.
  [[nodiscard]] std::string inconsistency(const Group& group) const override {
    const Warp& warp = warps_[group.id];
    const LaneMask able = warp.live & ~warp.waiting;
    LaneMask expected = 0;
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      expected |= static_cast<LaneMask>(((able >> lane) & 1U) != 0 && warp.pc[lane] == group.pc) << lane;
    }
    return able == 0 || group.active[0] == expected ? ""
                                                    : fmt::format("group {}: {:08x} run at PC {}, where {:08x} are",
                                                                  group.id, group.active[0], group.pc, expected);
  }

  [[nodiscard]] std::string describe(const Group& group) const override {
    const Warp& warp = warps_[group.id];
    std::vector<std::uint32_t> pcs;
    for (const unsigned lane : set_bits(warp.live)) {
      pcs.push_back(warp.pc[lane]);
    }
    std::sort(pcs.begin(), pcs.end());
    pcs.erase(std::unique(pcs.begin(), pcs.end()), pcs.end());
    std::string text = fmt::format("{} different PCs", pcs.size());
    for (const std::uint32_t pc : pcs) {
      LaneMask there = 0;
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        there |= static_cast<LaneMask>(((warp.live >> lane) & 1U) != 0 && warp.pc[lane] == pc) << lane;
      }
      text += fmt::format("; PC {} lanes {:08x}", pc, there);
    }
    return text;
  }

 private:
  struct Warp {
    std::array<std::uint32_t, isa::kLanes> pc{};
    LaneMask live = 0;     // have not exited
    LaneMask waiting = 0;  // live and at a barrier
  };

  void go_on(Group& group, GroupMoves& moves) {
    const Warp& warp = warps_[group.id];
    const LaneMask able = warp.live & ~warp.waiting;
    if (able == 0 && warp.live != 0) {
      group.active[0] = warp.live;
      moves.wait(group);
      return;
    }
    std::uint32_t lowest = ~std::uint32_t{0};
    for (const unsigned lane : set_bits(able)) {
      lowest = std::min(lowest, warp.pc[lane]);
    }
    LaneMask active = 0;
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      active |= static_cast<LaneMask>(warp.pc[lane] == lowest) << lane;
    }
    group.active[0] = active & able;
    group.pc = able == 0 ? group.pc : lowest;
    moves.run(group);
  }

  std::vector<Warp> warps_;
};

const Register<Divergence, PerThreadPc> per_thread_pc_entry{"per-thread-pc",
                                                            "a PC per thread; the warp goes on at the lowest"};

}  // namespace

}  // namespace heddle::hw
