// Warps that part when an access to memory hits in some lanes and misses in others: dynamic warp subdivision upon
// memory divergence (DWS report 5.1 to 5.3.1). The threads that have their data run ahead as a warp-split of their own,
// which may part again; when (memory_split.when):
//
//   always   at every access that divides them (AggressSplit)
//   idle     only if every other group waits for memory (LazySplit)
//   revive   also later, when the core has nothing to do, the oldest of the groups that still wait (ReviveSplit)
//
// The splits of a warp join when one of them comes to a PC at which another waits to be fetched (PC-based
// re-convergence, 4.5). They wait for each other at every conditional branch, and where the re-convergence stack's top
// entry ends (BranchLimited, 5.3.1): the stack is the warp's, as in hw/divergence/warp_stack.hpp. At a barrier each
// waits by itself.
//
// A split takes an entry of the core's warp-split table (5.6), an undivided warp none; with the table full, warps do
// not part.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hw/divergence/divergence.hpp"
#include "hw/divergence/memory_split.hpp"
#include "hw/divergence/row_stack.hpp"
#include "hw/divergence/split_mechanism.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

class MemorySplit final : public Divergence {
 public:
  using Parameters = MemorySplitParameters;
  static constexpr Traits traits{
      .no_lockstep = "lets the threads of a warp that have their data run ahead of the others",
      .parts_in_flight = true};

  static void cost(const CostShape& shape, CostLines& lines) {
    lines.mechanism("warp splits");
    const std::uint64_t entries = shape.machine.core.policies.of<Parameters>().entries;
    const std::uint64_t warp = index_bits(shape.warps);
    constexpr std::uint64_t kStatusBits = 2;
    lines.add(CostLine::Kind::counted, "warp-split table",
              fmt::format("memory_split.entries {} x (core.warp_size {} + log2({} warps) + {} + {} of status)", entries,
                          shape.warp, shape.warps, kPcBits, kStatusBits),
              entries * (shape.warp + warp + kPcBits + kStatusBits), "DWS report 5.6, with the PCs of this machine");
    lines.logic("PC comparators", fmt::format("{}, one per entry", entries), "DWS report 4.5");
  }

  explicit MemorySplit(const Setup& setup)
      : groups_(setup.groups),
        width_(setup.core.simd_width),
        always_(setup.core.policies.of<Parameters>().when == "always"),
        revives_(setup.core.policies.of<Parameters>().when == "revive"),
        entries_(setup.core.policies.of<Parameters>().entries),
        warps_(setup.core.threads / setup.core.simd_width) {}

  [[nodiscard]] unsigned groups(unsigned threads) const override { return threads / width_ + entries_; }
  [[nodiscard]] bool dynamic() const override { return true; }
  [[nodiscard]] bool displaces() const override { return false; }  // every thread keeps its lane

  void start(Group& group) override {
    Warp& warp = warp_of(group);
    used_ -= warp.splits.size() > 1 ? static_cast<unsigned>(warp.splits.size()) : 0;  // a fault has stopped it
    warp.stack.clear();
    warp.running = group.active[0];
    warp.taken = 0;
    warp.splits.assign(1, group.id);
    warp.at_branch = warp.at_merge = 0;
    group.pc = 0;
  }

  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override {
    Warp& warp = warp_of(group);
    const isa::Instruction& instruction = outcome.instruction;
    if (instruction.op == isa::Op::EXIT) {
      group.active[0] &= ~outcome.exited[0];
      warp.running &= ~outcome.exited[0];
      warp.stack.exit(outcome.exited[0]);
    }
    if (instruction.op == isa::Op::BRA && !instruction.guard.always()) {
      warp.branch = instruction;
      warp.taken |= outcome.taken[0];
      ++warp.at_branch;
      moves.park(group);
      return warp.at_branch == warp.splits.size() && branch(warp, join(warp, group, moves), moves);
    }
    group.pc = instruction.op == isa::Op::BRA ? instruction.target : group.pc + 1;
    if (outcome.arrivals[0] != 0) {
      moves.wait(group);
    } else {
      go_on(group, warp, moves);
    }
    return false;
  }

  void released(Group& group, unsigned, LaneMask, bool last, GroupMoves& moves) override {
    if (last && group.state == GroupState::barrier) {
      go_on(group, warp_of(group), moves);
    }
  }

  void memory_diverged(Group& group, GroupMoves& moves) override {
    if (always_ || !others_work()) {
      part(group, moves);
    }
  }

  void starving(GroupMoves& moves) override {
    if (!revives_ || others_work() || full(1)) {
      return;
    }
    Group* oldest = nullptr;
    for (const Group& waiting : groups_.all()) {
      if (waiting.state == GroupState::memory && (oldest == nullptr || waiting.age < oldest->age) &&
          moves.answered(waiting) != 0) {
        oldest = &groups_[waiting.id];
      }
    }
    if (oldest != nullptr) {
      part(*oldest, moves);
    }
  }

  [[nodiscard]] std::string inconsistency(const Group& group) const override {
    const Warp& warp = warps_[group.first_row];
    return inconsistency_of_splits(groups_, warp.splits, group.first_row, warp.running, warp.stack);
  }

  [[nodiscard]] std::string describe(const Group& group) const override {
    const Warp& warp = warps_[group.first_row];
    std::string text = fmt::format("{} warp-splits, {} stack entries", warp.splits.size(), warp.stack.size());
    for (const GroupId id : warp.splits) {
      text += fmt::format("; PC {} lanes {:08x}", groups_[id].pc, groups_[id].active[0]);
    }
    return text;
  }

 private:
  struct Warp {
    RowStack stack;
    LaneMask running = 0;         // threads of the path that runs
    LaneMask taken = 0;           // of the branch at which its splits meet
    isa::Instruction branch;      // the branch itself
    std::vector<GroupId> splits;  // one: it is undivided
    unsigned at_branch = 0;       // splits that wait at the branch
    unsigned at_merge = 0;        // splits that have come to the re-convergence PC
  };

  // A thread keeps its register row, which so tells its warp.
  [[nodiscard]] Warp& warp_of(const Group& group) { return warps_[group.first_row]; }

  [[nodiscard]] bool full(unsigned more) const { return used_ + more > entries_; }

  // Whether the core has work but for groups that wait for memory, at barriers or for other splits.
  [[nodiscard]] bool others_work() const {
    return groups_.count(GroupState::ready) + groups_.count(GroupState::fetching) +
               groups_.count(GroupState::in_flight) + groups_.count(GroupState::complex) !=
           0;
  }

  void part(Group& group, GroupMoves& moves) {
    Warp& warp = warp_of(group);
    const unsigned more = warp.splits.size() == 1 ? 2 : 1;
    if (full(more)) {
      return;
    }
    if (const Group* const ahead = moves.part(group)) {
      warp.splits.push_back(ahead->id);
      used_ += more;
    }
  }

  void forget(Warp& warp, const Group& split) {
    used_ -= warp.splits.size() == 2 ? 2 : 1;
    warp.splits.erase(std::find(warp.splits.begin(), warp.splits.end(), split.id));
  }

  // All splits stand still at one PC: they go into the one that has come last.
  Group& join(Warp& warp, Group& last, GroupMoves& moves) {
    while (warp.splits.size() > 1) {
      Group& other = groups_[warp.splits.front() == last.id ? warp.splits.back() : warp.splits.front()];
      forget(warp, other);
      moves.merge(other, last);
    }
    warp.at_branch = warp.at_merge = 0;
    return last;
  }

  // A split whose PC is known goes on, waits at the re-convergence PC, or has no thread left.
  void go_on(Group& group, Warp& warp, GroupMoves& moves) {
    if (group.active[0] == 0 && warp.splits.size() > 1) {
      forget(warp, group);
      moves.free(group);
      meet(warp, groups_[warp.splits.front()], moves);
    } else if (group.active[0] == 0) {
      pop(group, warp, isa::kNoReconvergence, moves);
    } else if (warp.stack.ends_at(group.pc)) {
      moves.park(group);
      ++warp.at_merge;
      meet(warp, group, moves);
    } else if (Group* const sibling = ready_sibling(warp, group)) {
      forget(warp, group);
      moves.merge(group, *sibling);
    } else {
      moves.run(group);
    }
  }

  [[nodiscard]] Group* ready_sibling(const Warp& warp, const Group& group) {
    for (const GroupId id : warp.splits) {
      if (id != group.id && groups_[id].state == GroupState::ready && groups_[id].pc == group.pc) {
        return &groups_[id];
      }
    }
    return nullptr;
  }

  // One split of the warp has come to the re-convergence PC, or has ended: whether the others wait already.
  void meet(Warp& warp, Group& group, GroupMoves& moves) {
    if (warp.at_merge == warp.splits.size()) {
      Group& whole = join(warp, group, moves);
      pop(whole, warp, whole.pc, moves);
    } else if (warp.at_branch == warp.splits.size()) {
      branch(warp, join(warp, group, moves), moves);
    }
  }

  // The whole warp stands at the branch.
  bool branch(Warp& warp, Group& group, GroupMoves& moves) {
    const isa::Instruction& instruction = warp.branch;
    const LaneMask taken = warp.taken;
    warp.taken = 0;
    if (taken == 0 || taken == warp.running) {
      group.pc = taken != 0 ? instruction.target : group.pc + 1;
      go_on(group, warp, moves);
      return false;
    }
    const RowStack::Path path = warp.stack.branch(group.pc, instruction, warp.running, taken);
    group.active[0] = warp.running = path.lanes;
    group.pc = path.pc;
    moves.run(group);
    return true;
  }

  // The path that ran has ended at `pc`, where its last split stands.
  void pop(Group& group, Warp& warp, std::uint32_t pc, GroupMoves& moves) {
    const RowStack::Path next = warp.stack.pop({warp.running, pc});
    warp.running = next.lanes;
    if (warp.running == 0) {
      warp.splits.clear();
      moves.free(group);
      return;
    }
    group.active[0] = warp.running;
    group.pc = next.pc;
    moves.run(group);
  }

  GroupTable& groups_;
  unsigned width_;
  bool always_;
  bool revives_;
  unsigned entries_;
  unsigned used_ = 0;        // of the warp-split table
  std::vector<Warp> warps_;  // by register row
};

const Register<Divergence, MemorySplit> memory_split_entry{
    "memory-split", "warps part where an access hits in some lanes and misses in others"};

}  // namespace

}  // namespace heddle::hw
