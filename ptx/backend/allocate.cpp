// Register allocation: coalesce, colour, and where that fails undo coalescing or spill, until everything has a place.
// Predicates first, because a spilled predicate becomes a word.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "ptx/backend/colouring.hpp"
#include "ptx/backend/spill.hpp"

namespace heddle::ptx::backend {

namespace {

struct TooFew {
  Position at;
};

Position first_position(const MachineFunction& function, VReg wanted) {
  for (const Block& block : function.blocks) {
    for (const MachineInstruction& instruction : block.code) {
      bool found = false;
      for_each_use(function, instruction, [&](VReg reg, unsigned, unsigned) { found |= reg == wanted; });
      for_each_definition(function, instruction,
                          [&](VReg reg, unsigned, unsigned, unsigned) { found |= reg == wanted; });
      if (found) return instruction.in.at;
    }
  }
  return {};
}

// One kind of registers.
class Allocator {
 public:
  Allocator(MachineFunction& function, bool predicates, unsigned limit)
      : function_(function), predicates_(predicates), limit_(limit) {}

  void run(Assignment& assignment) {
    find_loop_depths(function_);
    while (!attempt(assignment)) function_.interruption.check();
  }

 private:
  // True when every register has a place; otherwise the function has been changed so that the next attempt may do.
  bool attempt(Assignment& assignment) {
    InterferenceGraph graph(function_, predicates_);
    graph.coalesce();
    members_.assign(function_.registers.size(), {});
    for (std::size_t i = 0; i < function_.registers.size(); ++i) {
      const auto reg = static_cast<VReg>(i);
      if (graph.has(reg) && graph.used(reg)) members_[static_cast<std::size_t>(graph.place(reg).root)].push_back(reg);
    }
    const Colourer colourer(function_, graph, root_costs());
    Colouring result = colourer.colour(limit_);
    if (!result.failed.empty()) {
      relieve(graph, result);
      return false;
    }
    for (unsigned fewer = result.used; fewer > 1;) {
      Colouring tighter = colourer.colour(fewer - 1);
      if (!tighter.failed.empty()) break;
      fewer = tighter.used;
      result = std::move(tighter);
    }
    assignment.place.resize(function_.registers.size(), static_cast<std::uint8_t>(isa::kRZ));
    for (std::size_t i = 0; i < function_.registers.size(); ++i) {
      const auto reg = static_cast<VReg>(i);
      if (!graph.has(reg)) continue;
      const InterferenceGraph::Place at = graph.place(reg);
      const int first = graph.used(reg) ? result.place[static_cast<std::size_t>(at.root)] : -1;
      assignment.place[i] = static_cast<std::uint8_t>(first < 0 ? (predicates_ ? isa::kPT : isa::kRZ)
                                                                : static_cast<unsigned>(first) + at.word);
    }
    return true;
  }

  // A class costs what its members cost that can be spilled.
  std::vector<double> root_costs() {
    cost_ = spill_costs(function_);
    std::vector<double> result(cost_.size(), kNeverSpill);
    for (std::size_t root = 0; root < members_.size(); ++root) {
      for (const VReg reg : members_[root]) {
        const double cost = cost_[static_cast<std::size_t>(reg)];
        if (cost == kNeverSpill) continue;
        result[root] = result[root] == kNeverSpill ? cost : result[root] + cost;
      }
    }
    return result;
  }

  bool separate(VReg root) {
    bool changed = false;
    for (const VReg reg : members_[static_cast<std::size_t>(root)]) {
      Register& info = function_.registers[static_cast<std::size_t>(reg)];
      if (info.words >= function_.words(root) || info.keep_apart) continue;
      info.keep_apart = true;
      changed = true;
    }
    return changed;
  }

  std::vector<VReg> spillable(VReg root) const {
    std::vector<VReg> result;
    for (const VReg reg : members_[static_cast<std::size_t>(root)]) {
      if (cost_[static_cast<std::size_t>(reg)] != kNeverSpill) result.push_back(reg);
    }
    return result;
  }

  double cost_of(VReg root) const {
    double result = 0;
    for (const VReg reg : spillable(root)) result += cost_[static_cast<std::size_t>(reg)];
    return result;
  }

  void relieve(const InterferenceGraph& graph, const Colouring& result) {
    bool separated = false;
    for (const VReg root : result.failed) separated |= separate(root);
    if (separated) return;
    std::vector<VReg> victims;
    for (const VReg root : result.failed) {
      if (!spillable(root).empty()) victims.push_back(root);
    }
    if (victims.empty()) victims = neighbours_to_spill(graph, result.failed.front());
    if (victims.empty()) return;  // a neighbour was separated
    std::stable_sort(victims.begin(), victims.end(), [&](VReg a, VReg b) { return cost_of(a) < cost_of(b); });
    victims.resize((victims.size() + 3) / 4);  // the others may fit then
    std::vector<std::vector<VReg>> groups;
    groups.reserve(victims.size());
    for (const VReg root : victims) groups.push_back(spillable(root));
    if (predicates_) {
      spill_predicates(function_, groups);
    } else {
      spill_registers(function_, groups);
    }
  }

  // For a register that must not be spilled: the cheapest one in its way. Empty when one was taken apart instead.
  std::vector<VReg> neighbours_to_spill(const InterferenceGraph& graph, VReg root) {
    VReg best = kNone;
    bool separated = false;
    std::vector<InterferenceGraph::Edge> edges = graph.edges(root);
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return a.other < b.other; });
    for (const InterferenceGraph::Edge& edge : edges) {
      if (spillable(edge.other).empty()) {
        separated |= separate(edge.other);
      } else if (best == kNone || cost_of(edge.other) < cost_of(best)) {
        best = edge.other;
      }
    }
    if (best != kNone) {
      if (separate(best)) return {};
      return {best};
    }
    if (separated) return {};
    throw TooFew{first_position(function_, root)};
  }

  MachineFunction& function_;
  bool predicates_;
  unsigned limit_;
  std::vector<std::vector<VReg>> members_;  // by root
  std::vector<double> cost_;                // by register
};

Assignment allocate_within(MachineFunction& function, unsigned limit) {
  Assignment assignment;
  limit_pressure(function, true);
  Allocator(function, true, isa::kPredicates).run(assignment);
  limit_pressure(function, false);
  Allocator(function, false, limit).run(assignment);
  return assignment;
}

}  // namespace

void drop_identity_copies(MachineFunction& function, const Assignment& assignment) {
  for (Block& block : function.blocks) {
    std::erase_if(block.code, [&](const MachineInstruction& instruction) {
      const IrInstruction& in = instruction.in;
      if (!instruction.copy || in.b == kNone) return false;
      return assignment.place[static_cast<std::size_t>(in.dst)] + instruction.dst_word ==
             assignment.place[static_cast<std::size_t>(in.b)] + instruction.src_word;
    });
  }
}

Assignment allocate(MachineFunction& function, unsigned limit) {
  limit = std::min(limit, isa::kRegisters);
  const MachineFunction before = function;
  try {
    return allocate_within(function, limit);
  } catch (const TooFew& failure) {
    for (unsigned more = limit + 1; more <= isa::kRegisters; ++more) {
      try {
        function = before;
        allocate_within(function, more);
      } catch (const TooFew&) {
        continue;
      }
      throw InputError(
          {before.file, failure.at.line, failure.at.column},
          fmt::format("kernel {} does not fit {} registers per thread: an instruction here needs more at once",
                      before.name, limit),
          fmt::format("allow at least {} registers", more));
    }
    throw InputError({before.file, failure.at.line, failure.at.column},
                     fmt::format("kernel {} does not fit {} registers per thread", before.name, isa::kRegisters),
                     "split vectors of 64-bit values");
  }
}

}  // namespace heddle::ptx::backend
