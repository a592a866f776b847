// MIMD lanes: each lane fetches and decodes for itself, so that threads that stand at different PCs execute in one
// cycle (LW+, warp-size study 4.2; MIMD, ODGS paper 2.3). There is no stack and no re-convergence, as no thread waits
// for a path that others take: the bound of what any mechanism against control flow can gain.
//
// With the step in common (mimd.step), a group is a warp: at each step every one of its threads executes its own next
// instruction, and the warp waits for all of them before the next step ("LW+ synchronizes all threads of the warp at
// every instruction", warp-size study 6.3). Threads that wait at a barrier are left out until they are released.
//
// Without it, a group is a thread, which waits for itself alone; in a cycle each lane takes one of its threads that are
// ready, of whatever warps. With mimd.lanes = "any" fetch gives a thread whatever lane is free; its registers stay
// where they are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "base/set_bits.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/divergence/mimd.hpp"
#include "hw/divergence/mimd_lanes.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

MimdLanes::MimdLanes(const Setup& setup)
    : step_(setup.core.policies.of<MimdParameters>().step),
      any_lane_(setup.core.policies.of<MimdParameters>().lanes == "any"),
      rows_(setup.core.warp_size / setup.core.simd_width),
      warps_(step_ ? setup.core.threads / setup.core.warp_size : 0) {
  for (Warp& warp : warps_) {
    warp.pc.resize(rows_);
    warp.live.resize(rows_);
    warp.waiting.resize(rows_);
  }
}

unsigned MimdLanes::groups(unsigned threads) const {
  return step_ ? static_cast<unsigned>(warps_.size()) : threads;
}

void MimdLanes::start(Group& group) {
  group.pc = 0;
  if (!step_) {
    return;
  }
  Warp& warp = warps_[group.id];
  for (unsigned row = 0; row < rows_; ++row) {
    warp.pc[row].fill(0);
    warp.live[row] = group.active[row];
    warp.waiting[row] = 0;
  }
}

void MimdLanes::started(Group& group, GroupMoves& moves) {
  if (step_) {
    moves.run(group);
    return;
  }
  // A group per thread. The first thread keeps the group that the warp began with.
  const std::vector<LaneMask> rows = group.active;
  const std::uint16_t first_row = group.first_row;
  Group* first = &group;
  for (std::vector<LaneMask>* const masks :
       {&group.active, &group.busy, &group.taken, &group.exited, &group.arrivals}) {
    masks->assign(1, 0);
  }
  for (unsigned row = 0; row < rows.size(); ++row) {
    for (const unsigned own : set_bits(rows[row])) {
      Group& thread = first != nullptr ? *first : moves.allocate(group);
      first = nullptr;
      thread.pc = 0;
      thread.lane_row.fill(static_cast<std::uint16_t>(first_row + row));
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        thread.lane_home[lane] = static_cast<std::uint8_t>(any_lane_ ? own : lane);
      }
      thread.active[0] = LaneMask{1} << own;
      thread.look_at_lanes();
      moves.run(thread);
    }
  }
}

std::uint32_t MimdLanes::lane_pc(const Group& group, unsigned row, unsigned lane) const {
  return step_ ? warps_[group.id].pc[row][lane] : group.pc;
}

void MimdLanes::executed(const Group& group, unsigned row, LaneMask lanes, const isa::Instruction& instruction,
                         LaneMask taken) {
  if (!step_) {
    return;
  }
  std::array<std::uint32_t, isa::kLanes>& pc = warps_[group.id].pc[row];
  for (const unsigned lane : set_bits(lanes)) {
    pc[lane] = ((taken >> lane) & 1U) != 0 ? instruction.target : pc[lane] + 1;
  }
}

bool MimdLanes::complete(Group& group, const Outcome& outcome, GroupMoves& moves) {
  if (step_) {
    Warp& warp = warps_[group.id];
    for (unsigned row = 0; row < rows_; ++row) {
      warp.live[row] &= ~outcome.exited[row];
      warp.waiting[row] |= outcome.arrivals[row];
    }
    go_on(group, moves);
    return false;
  }
  group.pc = outcome.taken[0] != 0 ? outcome.instruction.target : group.pc + 1;
  if (outcome.exited[0] != 0) {
    moves.free(group);
  } else if (outcome.arrivals[0] != 0) {
    moves.wait(group);
  } else {
    moves.run(group);
  }
  return false;
}

void MimdLanes::released(Group& group, unsigned row, LaneMask lanes, bool last, GroupMoves& moves) {
  if (step_) {
    warps_[group.id].waiting[row] &= ~lanes;
    if (group.state == GroupState::barrier) {
      go_on(group, moves);
    }
    return;
  }
  if (last && group.state == GroupState::barrier) {
    moves.run(group);
  }
}

// The step of all threads that do not wait at a barrier.
void MimdLanes::go_on(Group& group, GroupMoves& moves) {
  const Warp& warp = warps_[group.id];
  std::uint32_t lowest = ~std::uint32_t{0};
  LaneMask live = 0;
  for (unsigned row = 0; row < rows_; ++row) {
    group.active[row] = warp.live[row] & ~warp.waiting[row];
    live |= warp.live[row];
    for (const unsigned lane : set_bits(group.active[row])) {
      lowest = std::min(lowest, warp.pc[row][lane]);
    }
  }
  if (lowest != ~std::uint32_t{0}) {
    group.pc = lowest;  // for observers; the warp's lanes go by lane_pc()
  } else if (live != 0) {
    group.active = warp.live;
    moves.wait(group);
    return;
  }
  moves.run(group);
}

std::string MimdLanes::inconsistency(const Group& group) const {
  if (!step_) {
    return std::popcount(group.active[0]) <= 1 ? "" : fmt::format("group {} has several threads", group.id);
  }
  const Warp& warp = warps_[group.id];
  for (unsigned row = 0; row < rows_; ++row) {
    if ((warp.waiting[row] & ~warp.live[row]) != 0 || (group.active[row] & ~warp.live[row]) != 0) {
      return fmt::format("group {}: threads {:08x} of row {} execute or wait, where {:08x} live", group.id,
                         group.active[row] | warp.waiting[row], row, warp.live[row]);
    }
  }
  return "";
}

std::string MimdLanes::describe(const Group& group) const {
  if (!step_) {
    return fmt::format("a thread at PC {}", group.pc);
  }
  const Warp& warp = warps_[group.id];
  std::vector<std::uint32_t> pcs;
  for (unsigned row = 0; row < rows_; ++row) {
    for (const unsigned lane : set_bits(warp.live[row])) {
      pcs.push_back(warp.pc[row][lane]);
    }
  }
  std::sort(pcs.begin(), pcs.end());
  std::string text;
  unsigned different = 0;
  for (auto from = pcs.begin(); from != pcs.end(); ++different) {
    const auto to = std::upper_bound(from, pcs.end(), *from);
    text += fmt::format("; {} threads at PC {}", to - from, *from);
    from = to;
  }
  return fmt::format("{} different PCs{}", different, text);
}

void MimdLanes::check(const Machine& machine, std::vector<Contradiction>& found) {
  const Parameters& own = machine.core.policies.of<Parameters>();
  if (own.step && own.lanes == "any") {
    found.push_back({"mimd.lanes",
                     "mimd.lanes (\"any\") is of threads that go on each for itself, and with mimd.step a warp's go on "
                     "together; use mimd.step = false or mimd.lanes = \"own\""});
  }
}

void MimdLanes::cost(const CostShape& shape, CostLines& lines) {
  lines.mechanism("MIMD lanes");
  lines.add(CostLine::Kind::estimated, "a program counter per thread",
            fmt::format("core.threads {} x {}", shape.threads, kPcBits), shape.threads * kPcBits,
            "own estimate: beside the warps' own; no stack");
  if (shape.machine.core.policies.of<Parameters>().lanes == "any") {
    cost_of_free_lanes(shape, lines);
  }
  lines.logic("fetch ports and decoders", fmt::format("core.simd_width - 1 = {}", shape.lanes - 1),
              "warp-size study 4.2: MIMD cores instead of SIMD lanes; ODGS paper 2.3: a decoder for each");
}

namespace {
const Register<Divergence, MimdLanes> mimd_entry{"mimd", "each lane executes an instruction of its own (MIMD)"};
}  // namespace

}  // namespace heddle::hw
