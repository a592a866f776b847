#include "ptx/backend/interference.hpp"

#include <algorithm>
#include <utility>

namespace heddle::ptx::backend {

std::uint64_t weight_of(const Block& block) {
  std::uint64_t weight = 1;
  for (unsigned i = 0; i < std::min(block.depth, 6U); ++i) weight *= 10;
  return weight;
}

InterferenceGraph::InterferenceGraph(const MachineFunction& function, bool predicates)
    : function_(function),
      units_(function, predicates),
      used_(function.registers.size()),
      neighbours_(units_.count()),
      parent_(function.registers.size(), kNone),
      offset_(function.registers.size(), 0),
      apart_(function.registers.size()),
      owner_(units_.count(), kNone) {
  for (std::size_t i = 0; i < function.registers.size(); ++i) {
    const auto reg = static_cast<VReg>(i);
    apart_[i] = function.registers[i].keep_apart;
    if (!units_.has(reg)) continue;
    for (unsigned word = 0; word < function.words(reg); ++word) owner_[units_.base(reg) + word] = reg;
  }
  build();
}

void InterferenceGraph::add(std::size_t a, std::size_t b) {
  if (a == b) return;
  const std::uint64_t key = (std::uint64_t{std::min(a, b)} << 32U) | std::max(a, b);
  if (!pairs_.insert(key).second) return;
  neighbours_[a].push_back(static_cast<std::uint32_t>(b));
  neighbours_[b].push_back(static_cast<std::uint32_t>(a));
}

bool InterferenceGraph::interferes(std::size_t a, std::size_t b) const {
  return pairs_.contains((std::uint64_t{std::min(a, b)} << 32U) | std::max(a, b));
}

void InterferenceGraph::build() {
  const Liveness liveness(function_, units_);
  std::vector<std::size_t> results;
  for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
    const Block& block = function_.blocks[b];
    if (block.removed) continue;
    pressure_ = std::max(pressure_, static_cast<unsigned>(liveness.in(b).count()));
    liveness.walk(b, [&](std::size_t index, const UnitSet& live) {
      const MachineInstruction& instruction = block.code[index];
      for_each_use(function_, instruction, [&](VReg reg, unsigned, unsigned) {
        if (units_.has(reg)) used_[static_cast<std::size_t>(reg)] = true;
      });
      results.clear();
      for_each_definition(function_, instruction, [&](VReg reg, unsigned first, unsigned words, unsigned) {
        if (!units_.has(reg)) return;
        used_[static_cast<std::size_t>(reg)] = true;
        for (unsigned word = 0; word < words; ++word) results.push_back(units_.base(reg) + first + word);
      });
      const bool from_register = instruction.copy && instruction.in.b != kNone && units_.has(instruction.in.b);
      std::size_t dead = 0;
      for (std::size_t i = 0; i < results.size(); ++i) {
        const std::size_t source =
            from_register ? units_.base(instruction.in.b) + instruction.src_word + i : units_.count();
        for (std::size_t unit = live.find_first(); unit != UnitSet::npos; unit = live.find_next(unit)) {
          if (unit != source) add(results[i], unit);
        }
        for (std::size_t other = 0; other < i; ++other) add(results[i], results[other]);
        dead += live[results[i]] ? 0U : 1U;
      }
      pressure_ = std::max(pressure_, static_cast<unsigned>(live.count() + dead));
      if (from_register) {
        copies_.push_back({instruction.in.dst, instruction.in.b, instruction.dst_word, instruction.src_word,
                           weight_of(block) * instruction.words});
      }
    });
  }
  std::stable_sort(copies_.begin(), copies_.end(),
                   [](const CopyPair& a, const CopyPair& b) { return a.weight > b.weight; });
}

InterferenceGraph::Place InterferenceGraph::place(VReg reg) const {
  Place at{reg, 0};
  while (parent_[static_cast<std::size_t>(at.root)] != kNone) {
    at.word += offset_[static_cast<std::size_t>(at.root)];
    at.root = parent_[static_cast<std::size_t>(at.root)];
  }
  return at;
}

void InterferenceGraph::coalesce() {
  for (const CopyPair& copy : copies_) merge(copy);
}

void InterferenceGraph::merge(const CopyPair& copy) {
  Place to = place(copy.dst), from = place(copy.src);
  if (to.root == from.root) return;
  to.word += copy.dst_word;
  from.word += copy.src_word;
  // The narrower root goes into the wider one.
  if (function_.words(from.root) > function_.words(to.root) ||
      (function_.words(from.root) == function_.words(to.root) && from.root < to.root)) {
    std::swap(to, from);
  }
  const unsigned words = function_.words(from.root);
  if (to.word < from.word) return;
  const unsigned at = to.word - from.word;
  if (at % words != 0 || at + words > function_.words(to.root)) return;
  const auto inner = static_cast<std::size_t>(from.root), outer = static_cast<std::size_t>(to.root);
  if (words != function_.words(to.root) && (apart_[inner] || apart_[outer])) return;
  // A unit that belongs to a merged register keeps its own edges; `add` below gives the root's units all of them.
  const std::size_t inner_base = units_.base(from.root), outer_base = units_.base(to.root) + at;
  for (unsigned word = 0; word < words; ++word) {
    if (interferes(inner_base + word, outer_base + word)) return;
  }
  parent_[inner] = to.root;
  offset_[inner] = static_cast<std::uint8_t>(at);
  apart_[outer] = apart_[outer] || apart_[inner];
  for (unsigned word = 0; word < words; ++word) {
    const std::vector<std::uint32_t> moved = neighbours_[inner_base + word];
    for (const std::uint32_t unit : moved) {
      const VReg owner = owner_[unit];
      const Place other = place(owner);
      if (other.root == to.root) continue;
      const std::size_t root_unit = units_.base(other.root) + other.word + (unit - units_.base(owner));
      add(outer_base + word, root_unit);
    }
  }
}

std::vector<VReg> InterferenceGraph::roots() const {
  std::vector<bool> seen(parent_.size());
  for (std::size_t i = 0; i < parent_.size(); ++i) {
    if (used_[i]) seen[static_cast<std::size_t>(place(static_cast<VReg>(i)).root)] = true;
  }
  std::vector<VReg> result;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) result.push_back(static_cast<VReg>(i));
  }
  return result;
}

std::vector<InterferenceGraph::Edge> InterferenceGraph::edges(VReg root) const {
  std::vector<Edge> result;
  for (unsigned word = 0; word < function_.words(root); ++word) {
    for (const std::uint32_t unit : neighbours_[units_.base(root) + word]) {
      const VReg owner = owner_[unit];
      const Place other = place(owner);
      if (other.root == root) continue;
      result.push_back({static_cast<std::uint8_t>(word),
                        static_cast<std::uint8_t>(other.word + (unit - units_.base(owner))), other.root});
    }
  }
  const auto key = [](const Edge& edge) { return std::tuple(edge.other, edge.word, edge.other_word); };
  std::sort(result.begin(), result.end(), [&](const Edge& a, const Edge& b) { return key(a) < key(b); });
  result.erase(
      std::unique(result.begin(), result.end(), [&](const Edge& a, const Edge& b) { return key(a) == key(b); }),
      result.end());
  return result;
}

}  // namespace heddle::ptx::backend
