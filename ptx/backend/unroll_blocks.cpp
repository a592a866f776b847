// Loops of several blocks whose count is known, as many copies of their blocks.
//
// Such a loop has one way back to its begin, which its test decides, and no loop within. It may hold barriers, since
// all its threads go through as many copies, and ways out of its middle. A register that each iteration writes for
// itself, or once for the next one, has a name of its own in each copy, so that what the counter makes becomes
// constants.
//
// ptxas 13.0 was seen to do so for sm_75 and sm_80 with loops of 9 to 61 instructions an iteration, up to some 200 to
// 1,100 instructions in all (the least is taken here), also with barriers and ways out; not where the count is not
// known, the test is in the middle, another loop is left inside, or a division calls a subroutine.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ptx/backend/counted_loop.hpp"
#include "ptx/backend/loop_body.hpp"
#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

namespace {

constexpr std::size_t kMostInstructions = 192;  // of all copies

// What is known of a function while its loops are looked at.
struct Analysis {
  explicit Analysis(const MachineFunction& function)
      : dominators(function), order(reverse_post_order(function)), before(predecessors(function)), live(function) {}
  Dominators dominators;
  std::vector<int> order;
  std::vector<std::vector<int>> before;
  LiveEverywhere live;
};

class LoopOfBlocks {
 public:
  LoopOfBlocks(MachineFunction& function, const Analysis& analysis, const NaturalLoop& loop)
      : function_(function), analysis_(analysis), loop_(loop) {}

  // The copies, whose blocks have the numbers from `first` on; none: the loop stays. What led to the loop's header is
  // to lead to the first of them.
  std::vector<Block> unrolled(int first, std::size_t& growth) {
    if (!find_end() || !find_order()) return {};
    std::size_t instructions = 0, all = 0;  // moves may go, or stay
    for (const int at : order_) {
      for (const MachineInstruction& instruction : block(at).code) {
        if (divides(instruction)) return {};
        ++all;
        instructions += instruction.copy ? 0 : 1;
      }
    }
    if (instructions > kMostInstructions) return {};
    find_live();
    const std::optional<std::uint64_t> count = find_count();
    if (!count || *count * instructions > kMostInstructions || *count * all > growth) return {};
    growth -= *count * all;
    find_written();
    return make_copies(*count, first);
  }

 private:
  struct Place {
    int block = kNoBlock;
    std::size_t index = 0;
  };

  [[nodiscard]] const Block& block(int at) const { return function_.blocks[static_cast<std::size_t>(at)]; }
  [[nodiscard]] int latch() const { return loop_.latches.front(); }
  // Each iteration goes through it.
  [[nodiscard]] bool is_always(int at) const { return analysis_.dominators.dominates(at, latch()); }

  // One way back, by a branch that else leads out.
  bool find_end() {
    if (loop_.latches.size() != 1 || loop_.blocks.size() < 2 || loop_.blocks.size() > kMostInstructions) return false;
    const Block& last = block(latch());
    if (block(loop_.header).keep_loop || last.taken == kNoBlock) return false;
    if ((last.taken == loop_.header) == (last.next == loop_.header)) return false;
    exit_ = last.taken == loop_.header ? last.next : last.taken;
    return true;
  }

  // The blocks, each behind those that lead to it. False: some go round among themselves.
  bool find_order() {
    for (const int at : loop_.blocks) places_[at] = 0;
    for (const int at : analysis_.order) {
      const auto place = places_.find(at);
      if (place == places_.end()) continue;
      place->second = static_cast<int>(order_.size());
      order_.push_back(at);
    }
    for (const auto& [at, place] : places_) {
      for (const int to : successors(block(at))) {
        const auto other = places_.find(to);
        if (to != loop_.header && other != places_.end() && other->second <= place) return false;
      }
    }
    return true;
  }

  // What is live where the loop begins, behind its end, and behind other ways out of it.
  void find_live() {
    const auto mark = [&](int at, std::vector<bool>& marks) {
      const auto add = [&](const Units& units, const Liveness& liveness) {
        LiveRegisters here(units);
        liveness.enter(static_cast<std::size_t>(at), here);
        for (const VReg reg : here.registers()) marks[static_cast<std::size_t>(reg)] = true;
      };
      add(analysis_.live.general, analysis_.live.words);
      add(analysis_.live.predicates, analysis_.live.bits);
    };
    for (std::vector<bool>* const marks : {&at_begin_, &behind_, &on_way_out_}) {
      marks->resize(function_.registers.size());
    }
    mark(loop_.header, at_begin_);
    mark(exit_, behind_);
    for (const int at : order_) {
      for (const int to : successors(block(at))) {
        if (!places_.contains(to) && at != latch()) mark(to, on_way_out_);
      }
    }
  }

  std::optional<std::uint64_t> find_count() const {
    std::vector<int> always, others;
    for (const int at : order_) (is_always(at) ? always : others).push_back(at);
    CountedLoop counted(function_, always, others);
    const bool found = counted.find([this](VReg reg) { return at_begin_[static_cast<std::size_t>(reg)]; },
                                    [this](VReg reg) { return behind_[static_cast<std::size_t>(reg)]; });
    return found ? counted.count(analysis_.before) : std::nullopt;
  }

  // Registers that the next iteration reads, which each iteration writes as a whole, at one place.
  void find_written() {
    std::map<VReg, unsigned> times;
    for (const int at : order_) {
      for (std::size_t i = 0; i != block(at).code.size(); ++i) {
        const MachineInstruction& instruction = block(at).code[i];
        for_each_definition(function_, instruction, [&](VReg reg, unsigned, unsigned words, unsigned) {
          const auto number = static_cast<std::size_t>(reg);
          if (!at_begin_[number] || on_way_out_[number]) return;
          written_[reg] = {at, i};
          const bool whole = is_always(at) && !guarded(instruction) && words == function_.words(reg);
          times[reg] += whole ? 1 : 2;
        });
      }
    }
    std::erase_if(written_, [&](const auto& entry) { return times.at(entry.first) != 1; });
  }

  std::vector<Block> make_copies(std::uint64_t count, int first) {
    std::vector<Block> copies;
    const int size = static_cast<int>(order_.size());
    for (std::uint64_t copy = 0; copy != count; ++copy, first += size) {
      const bool last = copy + 1 == count;
      const auto leads_to = [&](int to) {
        const auto place = places_.find(to);
        return place == places_.end() ? to : first + place->second;
      };
      take_names(last);
      for (const int at : order_) {
        Block made = block(at);
        for (std::size_t i = 0; i != made.code.size(); ++i) rename(made.code[i], {at, i});
        if (at == latch()) {
          made.jump_at = made.code.back().in.at;
          made.code.pop_back();
          made.taken = kNoBlock;
          made.next = last ? exit_ : first + size;
        } else {
          made.taken = leads_to(made.taken);
          made.next = leads_to(made.next);
        }
        copies.push_back(std::move(made));
      }
    }
    return copies;
  }

  // For the next copy: what the copy before left to it keeps its name.
  void take_names(bool last) {
    own_.clear();
    for (const auto& [reg, place] : written_) {
      const auto next = next_.find(reg);
      now_[reg] = next == next_.end() ? reg : next->second;
      next_[reg] = last && behind_[static_cast<std::size_t>(reg)] ? reg : function_.make_like(reg);
    }
    last_ = last;
  }

  void rename(MachineInstruction& instruction, Place at) {
    const auto name = [&](VReg& reg, bool defines) {
      if (reg == kNone) return;
      const auto number = static_cast<std::size_t>(reg);
      if (const auto written = written_.find(reg); written != written_.end()) {
        const Place& place = written->second;
        const bool behind =
            place.block == at.block ? place.index < at.index : analysis_.dominators.dominates(place.block, at.block);
        reg = (defines || behind ? next_ : now_).at(reg);
      } else if (!at_begin_[number] && !on_way_out_[number] && !(last_ && behind_[number])) {
        const auto [entry, is_new] = own_.try_emplace(reg, kNone);
        if (is_new) entry->second = function_.make_like(reg);
        reg = entry->second;
      }
    };
    for_each_use_field(instruction, [&](VReg& reg) { name(reg, false); });
    for_each_definition_field(instruction, [&](VReg& reg) { name(reg, true); });
  }

  MachineFunction& function_;
  const Analysis& analysis_;
  const NaturalLoop& loop_;
  int exit_ = kNoBlock;
  std::vector<int> order_;
  std::map<int, int> places_;                         // of the blocks in `order_`
  std::vector<bool> at_begin_, behind_, on_way_out_;  // by register
  std::map<VReg, Place> written_;
  std::map<VReg, VReg> now_, next_, own_;  // names in a copy
  bool last_ = false;
};

// Puts copies, which are in their order and have the numbers behind those of the function's blocks, in front of the
// headers of their loops.
void put(MachineFunction& function, std::map<int, std::vector<Block>> copies) {
  std::vector<Block> blocks;
  std::vector<int> number;   // of each block now
  std::map<int, int> first;  // of the copies of a header's loop
  std::vector<int> of_copies;
  for (std::size_t i = 0; i != function.blocks.size(); ++i) {
    if (const auto own = copies.find(static_cast<int>(i)); own != copies.end()) {
      first[own->first] = static_cast<int>(blocks.size());
      for (Block& one : own->second) {
        of_copies.push_back(static_cast<int>(blocks.size()));
        blocks.push_back(std::move(one));
      }
    }
    number.push_back(static_cast<int>(blocks.size()));
    blocks.push_back(std::move(function.blocks[i]));
  }
  for (const auto& [header, begin] : first) number[static_cast<std::size_t>(header)] = begin;
  number.insert(number.end(), of_copies.begin(), of_copies.end());
  for (Block& one : blocks) {
    for (int* const to : {&one.taken, &one.next}) {
      if (*to != kNoBlock) *to = number[static_cast<std::size_t>(*to)];
    }
  }
  function.blocks = std::move(blocks);
}

}  // namespace

bool unroll_blocks(MachineFunction& function, std::size_t& growth) {
  const std::vector<NaturalLoop> loops = natural_loops(function, Dominators(function));
  if (std::ranges::none_of(loops, [](const NaturalLoop& loop) { return loop.blocks.size() > 1; })) return false;
  const Analysis analysis(function);
  std::map<int, std::vector<Block>> copies;
  auto next = static_cast<int>(function.blocks.size());
  for (const NaturalLoop& loop : loops) {
    std::vector<Block> made = LoopOfBlocks(function, analysis, loop).unrolled(next, growth);
    function.interruption.check();
    if (made.empty()) continue;
    next += static_cast<int>(made.size());
    copies.emplace(loop.header, std::move(made));
  }
  if (copies.empty()) return false;
  put(function, std::move(copies));
  return true;
}

}  // namespace heddle::ptx::backend
