// Convergence barriers and independent thread scheduling (Volta and later): hw/divergence/converging_warp.hpp has the
// mechanism and its sources. A group is a warp: its active mask is the set of threads that runs, and the warp's
// instructions follow each other in the pipeline whichever of its threads they are of, with one scoreboard for all.
//
// A thread waits at a barrier of its block by itself, and the others of its warp run on. Threads that meet at a
// convergence barrier wait for it: what the block's barrier completes may be theirs.
//
// The branch names the re-convergence PC, and sets the barrier where it parts threads. Where code has the BSSY and
// BSYNC of real code (core.convergence_instructions), these take their place and time alone.
#include "hw/divergence/barriers.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "hw/divergence/converging_warp.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

class Barriers final : public Divergence {
 public:
  using Parameters = BarriersParameters;
  static constexpr Traits traits{
      .lockstep_lanes = true, .keeps_warps = true, .steps_plainly = true, .independent_threads = true};

  static void cost(const CostShape& shape, CostLines& lines) {
    const auto& own = shape.machine.core.policies.of<Parameters>();
    // A thread runs, may run, has let others run, meets others, waits for lanes, waits at a barrier, or has exited.
    constexpr std::uint64_t kStateBits = 3;
    lines.mechanism("convergence barriers");
    lines.add(CostLine::Kind::estimated, "convergence barriers",
              fmt::format("{} warps x barriers.registers {} x (core.warp_size {} + {})", shape.warps, own.registers,
                          shape.warp, kPcBits),
              shape.warps * own.registers * (shape.warp + kPcBits),
              "US 10,067,768: a mask of the threads that take part; the re-convergence PC beside it is this model's, "
              "whose branches name it");
    lines.accessed("divergent_branches", 2 * (shape.warp + kPcBits));  // set and met
    lines.add(CostLine::Kind::estimated, "program counters of threads",
              fmt::format("core.threads {} x ({} + {} of state)", shape.threads, kPcBits, kStateBits),
              shape.threads * (kPcBits + kStateBits), "US 10,067,768: a program counter and a state for each thread");
    lines.accessed("divergent_branches", 2 * shape.warp * (kPcBits + kStateBits));
    lines.add(CostLine::Kind::estimated, "rounds that let no thread get on",
              fmt::format("{} warps x log2(barriers.yield_after {} + 1)", shape.warps, own.yield_after),
              shape.warps * index_bits(std::uint64_t{own.yield_after} + 1), "own");
  }

  explicit Barriers(const Setup& setup)
      : count_(setup.statistics != nullptr ? setup.statistics->convergence : nobodys_),
        move_cycles_(setup.core.policies.of<Parameters>().move_cycles),
        rules_{setup.core.policies.of<Parameters>().registers, setup.core.policies.of<Parameters>().yield_after,
               setup.core.policies.of<Parameters>().first == "taken"},
        warps_(setup.core.threads / setup.core.warp_size),
        notes_(warps_.size()) {}

  [[nodiscard]] unsigned groups(unsigned) const override { return static_cast<unsigned>(warps_.size()); }

  void start(Group& group) override {
    warps_[group.id].begin(group.active[0]);
    notes_[group.id].lanes = 0;  // a fault may have stopped it
    group.pc = 0;
    group.merge_pc = isa::kNoReconvergence;
  }

  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override {
    ConvergingWarp& warp = warps_[group.id];
    const ConvergingWarp::Path path{group.active[0], group.pc};
    const isa::Instruction& instruction = outcome.instruction;
    bool diverged = false;
    switch (instruction.op) {
      case isa::Op::BRA: {
        const LaneMask taken = outcome.taken[0] & path.lanes;
        diverged = taken != 0 && taken != path.lanes;
        go_on(group, warp.branch(path, instruction, taken, rules_, count_), moves);
        break;
      }
      case isa::Op::EXIT:
        go_on(group, warp.exit(path, outcome.exited[0], count_), moves);
        break;
      case isa::Op::WARP_SYNC:
        go_on(group, sync(group, path), moves);
        break;
      default:
        if (outcome.arrivals[0] != 0) {
          go_on(group, warp.wait(path, outcome.arrivals[0], count_), moves);
        } else if (group.pc + 1 != group.merge_pc) {
          ++group.pc;
          moves.run(group);
        } else {
          go_on(group, warp.step(path, count_), moves);
        }
        break;
    }
    return diverged;
  }

  void waits_for_lanes(const Group& group, unsigned, LaneMask lanes, const isa::LaneWord& members) override {
    notes_[group.id].lanes = lanes;
    notes_[group.id].members = members;
  }

  // Whichever of its threads run next, its instructions are the warp's.
  [[nodiscard]] bool goes_on(const Group&) const override { return true; }
  [[nodiscard]] bool branches_early(const Group&, const isa::Instruction&, std::span<const LaneMask>) const override {
    return true;
  }

  void released(Group& group, unsigned, LaneMask lanes, bool, GroupMoves& moves) override {
    ConvergingWarp& warp = warps_[group.id];
    const bool stood_still = warp.idle();
    warp.release(lanes);
    if (stood_still) {
      notes_[group.id].resumed = moves.now();
      go_on(group, warp.pick(count_), moves);
    } else if (notes_[group.id].resumed == moves.now()) {
      // Released by the same barrier, sets that have come to it one after the other go on as one.
      const ConvergingWarp::Path next = warp.pick_again({group.active[0], group.pc}, count_);
      group.active[0] = next.lanes;
      group.pc = next.pc;
      group.merge_pc = warp.next_stop(next);
    }
  }

  [[nodiscard]] std::string inconsistency(const Group& group) const override {
    const ConvergingWarp& warp = warps_[group.id];
    const std::string wrong = warp.inconsistency(warp.idle() ? 0 : group.active[0]);
    return wrong.empty() ? wrong : fmt::format("group {}: {}", group.id, wrong);
  }

  [[nodiscard]] ThreadsView threads_view(const Group& group) const override {
    using enum ConvergingWarp::State;
    const ConvergingWarp& warp = warps_[group.id];
    return {warp.barriers().size(), warp.in(ready) | warp.in(yielded), warp.in(meeting), warp.in(syncing),
            warp.in(at_barrier)};
  }

  [[nodiscard]] std::string deadlock(const Group& group) const override {
    const ConvergingWarp& warp = warps_[group.id];
    if (!warp.idle() || warp.waits_at_block() || warp.in(ConvergingWarp::State::syncing) == 0) {
      return {};
    }
    std::string text = "the threads of a warp wait for each other (__syncwarp, operations between lanes):";
    const char* separator = "";
    for (const ConvergingWarp::Set& set : warp.sets()) {
      if (set.state == ConvergingWarp::State::syncing) {
        text += fmt::format("{} lanes {:08x} at PC {} for lanes {:08x}", separator, set.lanes, set.pc - 1, set.members);
        separator = ";";
      }
    }
    return text;
  }

  [[nodiscard]] std::string describe(const Group& group) const override { return warps_[group.id].describe(); }

 private:
  [[nodiscard]] ConvergingWarp::Path sync(const Group& group, const ConvergingWarp::Path& path) {
    const LaneMask lanes = std::exchange(notes_[group.id].lanes, 0);
    return lanes == 0 ? warps_[group.id].step(path, count_)
                      : warps_[group.id].sync(path, lanes, notes_[group.id].members, count_);
  }

  void go_on(Group& group, const ConvergingWarp::Path& next, GroupMoves& moves) {
    ConvergingWarp& warp = warps_[group.id];
    if (next.lanes == 0 && warp.live() != 0) {
      group.active[0] = warp.live();
      group.merge_pc = isa::kNoReconvergence;
      if (warp.waits_at_block()) {
        moves.wait(group);
      } else {
        moves.park(group);
      }
      return;
    }
    group.active[0] = next.lanes;
    group.pc = next.pc;
    group.merge_pc = warp.next_stop(next);
    moves.run(group, warp.moved() * move_cycles_);
  }

  ConvergenceStatistics nobodys_;
  ConvergenceStatistics& count_;
  const unsigned move_cycles_;
  const ConvergingWarp::Rules rules_;
  std::vector<ConvergingWarp> warps_;
  struct Notes {
    // Of the warp.sync that completes next: the threads that execute it, and the lanes that each names.
    LaneMask lanes = 0;
    isa::LaneWord members{};
    Cycle resumed = link::kNever;  // when a barrier of the block last let the warp go on, which had stood still
  };
  std::vector<Notes> notes_;
};

const Register<Divergence, Barriers> barriers_entry{
    "barriers", "convergence barriers, with threads scheduled independently (Volta and later)"};

}  // namespace

}  // namespace heddle::hw
