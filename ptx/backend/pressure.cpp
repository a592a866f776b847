// A bound on what register allocation has to look at: the interference graph and its colouring take memory and time by
// the square of the number of values live at once. Code far beyond any register file is spilled down here first, in one
// pass that keeps no graph.
#include <fmt/format.h>

#include <algorithm>
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
void for_each_point(const MachineFunction& function, const Liveness& liveness, Visit visit) {
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    const Block& block = function.blocks[b];
    if (block.removed) continue;
    liveness.walk(b, [&](std::size_t index, const UnitSet& live) { visit(block.code[index], live); });
    if (!block.code.empty()) visit(block.code.front(), liveness.in(b));
  }
}

Peak peak_of(const MachineFunction& function, bool predicates) {
  const Units units(function, predicates);
  const Liveness liveness(function, units);
  Peak peak;
  for_each_point(function, liveness, [&](const MachineInstruction& instruction, const UnitSet& live) {
    const std::size_t count = live.count();
    if (count > peak.live) peak = {count, instruction.in.at};
  });
  return peak;
}

// The cheapest registers whose loss leaves at most half the limit at every point that is above it.
std::vector<std::vector<VReg>> victims(const MachineFunction& function, bool predicates, std::size_t limit) {
  const Units units(function, predicates);
  const Liveness liveness(function, units);
  const std::vector<double> cost = spill_costs(function);
  std::vector<VReg> owner(units.count(), kNone);
  for (std::size_t i = 0; i < function.registers.size(); ++i) {
    const auto reg = static_cast<VReg>(i);
    if (!units.has(reg)) continue;
    for (unsigned word = 0; word < function.words(reg); ++word) owner[units.base(reg) + word] = reg;
  }
  std::vector<std::vector<VReg>> result;
  UnitSet spilled(units.count()), kept(units.count());
  for_each_point(function, liveness, [&](const MachineInstruction&, const UnitSet& live) {
    kept = live;
    kept -= spilled;
    std::size_t count = kept.count();
    if (count <= limit) return;
    std::vector<VReg> candidates;
    for (std::size_t unit = kept.find_first(); unit != UnitSet::npos; unit = kept.find_next(unit)) {
      const VReg reg = owner[unit];
      if (cost[static_cast<std::size_t>(reg)] == kNeverSpill) continue;
      if (candidates.empty() || candidates.back() != reg) candidates.push_back(reg);
    }
    std::stable_sort(candidates.begin(), candidates.end(), [&](VReg a, VReg b) {
      return cost[static_cast<std::size_t>(a)] < cost[static_cast<std::size_t>(b)];
    });
    for (const VReg reg : candidates) {
      if (count <= limit / 2) break;  // not each point anew
      for (unsigned word = 0; word < function.words(reg); ++word) {
        count -= kept[units.base(reg) + word] ? 1U : 0U;
        spilled.set(units.base(reg) + word);
      }
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
