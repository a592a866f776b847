#include "ptx/backend/interference.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/set_bits.hpp"

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
      parent_(function.registers.size(), kNone),
      offset_(function.registers.size(), 0),
      apart_(function.registers.size()),
      next_member_(function.registers.size(), kNone),
      last_member_(function.registers.size()),
      size_(function.registers.size()),
      slot_(function.registers.size()) {
  for (std::size_t i = 0; i < function.registers.size(); ++i) {
    apart_[i] = function.registers[i].keep_apart;
    last_member_[i] = static_cast<VReg>(i);
  }
  list(find_meetings());
}

// Registers live behind an instruction interfere with what it writes; the source of a copy does not, word for word.
std::vector<InterferenceGraph::Found> InterferenceGraph::find_meetings() {
  const Liveness liveness(function_, units_);
  LiveRegisters live(units_);
  std::vector<Found> found;
  struct Result {
    VReg reg;
    unsigned first, words;
  };
  std::vector<Result> results;
  const auto add = [&](VReg reg, unsigned own, VReg other, unsigned others) {
    if (reg == other || own == 0 || others == 0) return;
    found.push_back({reg, {other, static_cast<std::uint8_t>(own), static_cast<std::uint8_t>(others)}});
  };
  for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
    const Block& block = function_.blocks[b];
    if (block.removed) continue;
    function_.interruption.check();
    pressure_ = std::max(pressure_, static_cast<unsigned>(liveness.words_in(b)));
    liveness.walk(b, live, [&](std::size_t index) {
      const MachineInstruction& instruction = block.code[index];
      for_each_use(function_, instruction, [&](VReg reg, unsigned, unsigned) {
        if (units_.has(reg)) used_[static_cast<std::size_t>(reg)] = true;
      });
      results.clear();
      std::size_t dead = 0;
      for_each_definition(function_, instruction, [&](VReg reg, unsigned first, unsigned words, unsigned) {
        if (!units_.has(reg)) return;
        used_[static_cast<std::size_t>(reg)] = true;
        const unsigned mask = ((1U << words) - 1U) << first;
        dead += static_cast<unsigned>(std::popcount(mask & ~live.mask(reg)));
        for (const Result& other : results) add(reg, mask, other.reg, ((1U << other.words) - 1U) << other.first);
        results.push_back({reg, first, words});
      });
      const bool from_register = instruction.copy && instruction.in.b != kNone && units_.has(instruction.in.b);
      for (const Result& result : results) {
        const unsigned mask = ((1U << result.words) - 1U) << result.first;
        for (const VReg other : live.registers()) {
          const unsigned others = live.mask(other);
          if (!from_register || other != instruction.in.b) {
            add(result.reg, mask, other, others);
            continue;
          }
          for (unsigned word = 0; word < result.words; ++word) {
            add(result.reg, 1U << (result.first + word), other, others & ~(1U << (instruction.src_word + word)));
          }
        }
      }
      pressure_ = std::max(pressure_, static_cast<unsigned>(live.words() + dead));
      if (from_register) {
        copies_.push_back({instruction.in.dst, instruction.in.b, instruction.dst_word, instruction.src_word,
                           weight_of(block) * instruction.words});
      }
    });
  }
  std::stable_sort(copies_.begin(), copies_.end(),
                   [](const CopyPair& a, const CopyPair& b) { return a.weight > b.weight; });
  return found;
}

// Each meeting with both who take part in it.
void InterferenceGraph::list(const std::vector<Found>& found) {
  first_.assign(parent_.size() + 1, 0);
  for (const Found& one : found) {
    ++first_[static_cast<std::size_t>(one.reg)];
    ++first_[static_cast<std::size_t>(one.with.other)];
  }
  std::size_t sum = 0;
  for (std::size_t i = 0; i < parent_.size(); ++i) {
    size_[i] = first_[i];
    sum += first_[i];
    first_[i] = sum;  // behind its last one; moves to its first one below
  }
  first_.back() = sum;
  meetings_.resize(sum);
  for (const Found& one : found) {
    meetings_[--first_[static_cast<std::size_t>(one.reg)]] = one.with;
    meetings_[--first_[static_cast<std::size_t>(one.with.other)]] = {one.reg, one.with.other_words, one.with.own_words};
  }
}

InterferenceGraph::Place InterferenceGraph::place(VReg reg) const {
  Place at{reg, 0};
  while (parent_[static_cast<std::size_t>(at.root)] != kNone) {
    at.word += offset_[static_cast<std::size_t>(at.root)];
    at.root = parent_[static_cast<std::size_t>(at.root)];
  }
  return at;
}

InterferenceGraph::Place InterferenceGraph::find(VReg reg) {
  const Place at = place(reg);
  unsigned word = at.word;
  while (reg != at.root) {
    const VReg up = std::exchange(parent_[static_cast<std::size_t>(reg)], at.root);
    word -= std::exchange(offset_[static_cast<std::size_t>(reg)], static_cast<std::uint8_t>(word));
    reg = up;
  }
  return at;
}

void InterferenceGraph::coalesce() {
  for (const CopyPair& copy : copies_) merge(copy);
  for (std::size_t i = 0; i < parent_.size(); ++i) find(static_cast<VReg>(i));
}

bool InterferenceGraph::interferes(VReg inner, VReg outer, unsigned at) {
  // From the one of fewer meetings.
  const bool from_inner = size_[static_cast<std::size_t>(inner)] <= size_[static_cast<std::size_t>(outer)];
  const VReg root = from_inner ? inner : outer, wanted = from_inner ? outer : inner;
  for (VReg member = root; member != kNone; member = next_member_[static_cast<std::size_t>(member)]) {
    const unsigned offset = find(member).word;
    for (const Meeting& meeting : meetings(member)) {
      const Place other = find(meeting.other);
      if (other.root != wanted) continue;
      const unsigned own = unsigned{meeting.own_words} << offset, others = unsigned{meeting.other_words} << other.word;
      if (((from_inner ? own : others) << at & (from_inner ? others : own)) != 0) return true;
    }
  }
  return false;
}

void InterferenceGraph::merge(const CopyPair& copy) {
  Place to = find(copy.dst), from = find(copy.src);
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
  if (interferes(from.root, to.root, at)) return;
  parent_[inner] = to.root;
  offset_[inner] = static_cast<std::uint8_t>(at);
  apart_[outer] = apart_[outer] || apart_[inner];
  next_member_[static_cast<std::size_t>(last_member_[outer])] = from.root;
  last_member_[outer] = last_member_[inner];
  size_[outer] += size_[inner];
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

namespace {

// Bit kNoDistance + b - a for each a in `words` and b in `others`.
unsigned distances(unsigned words, unsigned others) {
  unsigned result = 0;
  for (const unsigned bit : set_bits(words)) {
    result |= others << InterferenceGraph::kNoDistance >> bit;
  }
  return result;
}

}  // namespace

std::vector<InterferenceGraph::Edge> InterferenceGraph::edges(VReg root) const {
  std::vector<Edge> result;
  for (VReg member = root; member != kNone; member = next_member_[static_cast<std::size_t>(member)]) {
    const unsigned offset = place(member).word;
    for (const Meeting& meeting : meetings(member)) {
      const Place other = place(meeting.other);
      if (other.root == root) continue;
      std::uint32_t& slot = slot_[static_cast<std::size_t>(other.root)];
      if (slot == 0) {
        result.push_back({other.root, 0});
        slot = static_cast<std::uint32_t>(result.size());
      }
      std::uint16_t& to = result[slot - 1].distances;
      to = static_cast<std::uint16_t>(
          to | distances(unsigned{meeting.own_words} << offset, unsigned{meeting.other_words} << other.word));
    }
  }
  for (const Edge& edge : result) slot_[static_cast<std::size_t>(edge.other)] = 0;
  return result;
}

}  // namespace heddle::ptx::backend
