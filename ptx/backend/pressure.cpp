// A bound on what register allocation has to look at: the interference graph and its colouring take memory and time by
// the square of the number of values live at once. Code far beyond any register file is spilled down here first, in one
// pass that keeps no graph.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"
#include "ptx/backend/liveness.hpp"
#include "ptx/backend/spill.hpp"

namespace heddle::ptx::backend {

namespace {

// Where most is live, of what is not `spilled`.
struct Peak {
  std::size_t live = 0;
  Position at;
};

template <typename Visit>
void for_each_point(const MachineFunction& function, const Units& units, Visit visit) {
  const Liveness liveness(function, units);
  LiveRegisters live(units);
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    const Block& block = function.blocks[b];
    if (block.removed) continue;
    liveness.walk(b, live, [&](std::size_t index) { visit(block.code[index], live); });
    if (block.code.empty()) continue;
    liveness.enter(b, live);
    visit(block.code.front(), live);
  }
}

Peak peak_of(const MachineFunction& function, bool predicates) {
  const Units units(function, predicates);
  Peak peak;
  for_each_point(function, units, [&](const MachineInstruction& instruction, const LiveRegisters& live) {
    if (live.words() > peak.live) peak = {live.words(), instruction.in.at};
  });
  return peak;
}

// The cheapest registers whose loss leaves at most half the limit at every point that is above it.
std::vector<std::vector<VReg>> victims(const MachineFunction& function, bool predicates, std::size_t limit) {
  const Units units(function, predicates);
  const std::vector<double> cost = spill_costs(function);
  std::vector<std::vector<VReg>> result;
  std::vector<bool> spilled(function.registers.size());
  for_each_point(function, units, [&](const MachineInstruction&, const LiveRegisters& live) {
    if (live.words() <= limit) return;
    std::size_t count = 0;
    std::vector<VReg> candidates;
    for (const VReg reg : live.registers()) {
      if (spilled[static_cast<std::size_t>(reg)]) continue;
      count += static_cast<unsigned>(std::popcount(live.mask(reg)));
      if (cost[static_cast<std::size_t>(reg)] != kNeverSpill) candidates.push_back(reg);
    }
    if (count <= limit) return;
    std::sort(candidates.begin(), candidates.end(), [&](VReg a, VReg b) {
      return std::pair(cost[static_cast<std::size_t>(a)], a) < std::pair(cost[static_cast<std::size_t>(b)], b);
    });
    for (const VReg reg : candidates) {
      if (count <= limit / 2) break;  // not each point anew
      count -= static_cast<unsigned>(std::popcount(live.mask(reg)));
      spilled[static_cast<std::size_t>(reg)] = true;
      result.push_back({reg});
    }
  });
  return result;
}

}  // namespace

void limit_pressure(MachineFunction& function, bool predicates, unsigned limit) {
  const Peak before = peak_of(function, predicates);
  if (before.live <= limit) return;
  find_loop_depths(function);
  const std::vector<std::vector<VReg>> groups = victims(function, predicates, limit);
  if (!groups.empty()) {
    if (predicates) {
      spill_predicates(function, groups);
    } else {
      spill_registers(function, groups);
    }
  }
  const Peak after = groups.empty() ? before : peak_of(function, predicates);
  if (after.live <= limit) return;
  throw InputError({function.file, after.at.line, after.at.column},
                   fmt::format("kernel {} keeps {} {} at once here, more than the {} that can be placed", function.name,
                               after.live, predicates ? "predicates" : "words of registers", limit),
                   "split the kernel, or compute values closer to their uses");
}

}  // namespace heddle::ptx::backend
