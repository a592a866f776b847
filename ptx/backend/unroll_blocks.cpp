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
#include <ranges>
#include <utility>
#include <vector>

#include "ptx/backend/counted_loop.hpp"
#include "ptx/backend/loop_body.hpp"
#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

namespace {

constexpr std::size_t kMostInstructions = 192;  // of all copies

class LoopOfBlocks {
 public:
  LoopOfBlocks(MachineFunction& function, NaturalLoop loop) : function_(function), loop_(std::move(loop)) {}

  // True: it has been changed.
  bool unroll(std::size_t& growth, const Dominators& dominators) {
    if (!find_end() || !find_order()) return false;
    std::size_t instructions = 0, all = 0;  // moves may go, or stay
    for (const int at : order_) {
      for (const MachineInstruction& instruction : block(at).code) {
        if (divides(instruction)) return false;
        ++all;
        instructions += instruction.copy ? 0 : 1;
      }
    }
    if (2 * instructions > kMostInstructions) return false;
    find_live();
    const std::optional<std::uint64_t> count = find_count(dominators);
    if (!count || *count * instructions > kMostInstructions || *count * all > growth) return false;
    growth -= *count * all;
    find_written(dominators);
    make_copies(*count, dominators);
    return true;
  }

 private:
  struct Place {
    int block = kNoBlock;
    std::size_t index = 0;
  };

  [[nodiscard]] const Block& block(int at) const { return function_.blocks[static_cast<std::size_t>(at)]; }
  [[nodiscard]] int latch() const { return loop_.latches.front(); }
  [[nodiscard]] bool is_inside(int at) const {
    return std::find(loop_.blocks.begin(), loop_.blocks.end(), at) != loop_.blocks.end();
  }

  // One way back, by a branch that else leads out.
  bool find_end() {
    if (loop_.latches.size() != 1 || loop_.blocks.size() < 2 || block(loop_.header).keep_loop) return false;
    const Block& last = block(latch());
    if (last.taken == kNoBlock || (last.taken == loop_.header) == (last.next == loop_.header)) return false;
    exit_ = last.taken == loop_.header ? last.next : last.taken;
    return !is_inside(exit_);
  }

  // The blocks, each behind those that lead to it. False: some go round among themselves.
  bool find_order() {
    std::map<int, unsigned> waits;
    const auto inner = [&](int at, auto visit) {
      for (const int to : successors(block(at)) | std::views::reverse) {  // where it goes without a jump: last
        if (to != loop_.header && is_inside(to)) visit(to);
      }
    };
    for (const int at : loop_.blocks) inner(at, [&](int to) { ++waits[to]; });
    std::vector<int> ready{loop_.header};
    while (!ready.empty()) {
      const int at = ready.back();
      ready.pop_back();
      order_.push_back(at);
      inner(at, [&](int to) {
        if (--waits[to] == 0) ready.push_back(to);
      });
    }
    return order_.size() == loop_.blocks.size();
  }

  // What is live where the loop begins, behind its end, and behind other ways out of it.
  void find_live() {
    const LiveEverywhere live(function_);
    const auto mark = [&](int at, std::vector<bool>& marks) {
      marks.resize(function_.registers.size());
      const auto add = [&](const Units& units, const Liveness& liveness) {
        LiveRegisters here(units);
        liveness.enter(static_cast<std::size_t>(at), here);
        for (const VReg reg : here.registers()) marks[static_cast<std::size_t>(reg)] = true;
      };
      add(live.general, live.words);
      add(live.predicates, live.bits);
    };
    mark(loop_.header, at_begin_);
    mark(exit_, behind_);
    on_way_out_.resize(function_.registers.size());
    for (const int at : loop_.blocks) {
      for (const int to : successors(block(at))) {
        if (!is_inside(to) && at != latch()) mark(to, on_way_out_);
      }
    }
  }

  std::optional<std::uint64_t> find_count(const Dominators& dominators) const {
    std::vector<int> always, others;
    for (const int at : order_) (dominators.dominates(at, latch()) ? always : others).push_back(at);
    CountedLoop counted(function_, always, others);
    const bool found = counted.find([this](VReg reg) { return at_begin_[static_cast<std::size_t>(reg)]; },
                                    [this](VReg reg) { return behind_[static_cast<std::size_t>(reg)]; });
    return found ? counted.count(predecessors(function_)) : std::nullopt;
  }

  // Registers that the next iteration reads, which each iteration writes as a whole, at one place.
  void find_written(const Dominators& dominators) {
    std::map<VReg, unsigned> times;
    for (const int at : order_) {
      for (std::size_t i = 0; i != block(at).code.size(); ++i) {
        const MachineInstruction& instruction = block(at).code[i];
        for_each_definition(function_, instruction, [&](VReg reg, unsigned, unsigned words, unsigned) {
          const auto number = static_cast<std::size_t>(reg);
          if (!at_begin_[number] || on_way_out_[number]) return;
          written_[reg] = {at, i};
          const bool always = dominators.dominates(at, latch()) && !guarded(instruction);
          times[reg] += always && words == function_.words(reg) ? 1 : 2;
        });
      }
    }
    std::erase_if(written_, [&](const auto& entry) { return times.at(entry.first) != 1; });
  }

  void make_copies(std::uint64_t count, const Dominators& dominators) {
    const int size = static_cast<int>(order_.size()), all = size * static_cast<int>(count);
    std::map<int, int> place;  // of a block among those of its copy
    for (int i = 0; i != size; ++i) place[order_[static_cast<std::size_t>(i)]] = i;
    std::vector<Block> copies;
    for (std::uint64_t copy = 0; copy != count; ++copy) {
      const bool last = copy + 1 == count;
      const int first = loop_.header + size * static_cast<int>(copy);
      const auto leads_to = [&](int to) {
        if (to == kNoBlock) return kNoBlock;
        const auto found = place.find(to);
        if (found != place.end()) return first + found->second;
        return to > loop_.header ? to + all : to;
      };
      take_names(last);
      for (const int at : order_) {
        Block made = block(at);
        for (std::size_t i = 0; i != made.code.size(); ++i) rename(made.code[i], {at, i}, dominators);
        if (at == latch()) {
          made.jump_at = made.code.back().in.at;
          made.code.pop_back();
          made.taken = kNoBlock;
          made.next = last ? leads_to(exit_) : first + size;
        } else {
          made.taken = leads_to(made.taken);
          made.next = leads_to(made.next);
        }
        copies.push_back(std::move(made));
      }
    }
    insert_blocks(function_, loop_.header, std::move(copies));
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

  void rename(MachineInstruction& instruction, Place at, const Dominators& dominators) {
    const auto name = [&](VReg& reg, bool defines) {
      if (reg == kNone) return;
      const auto number = static_cast<std::size_t>(reg);
      if (const auto written = written_.find(reg); written != written_.end()) {
        const Place& place = written->second;
        const bool behind =
            place.block == at.block ? place.index < at.index : dominators.dominates(place.block, at.block);
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
  const NaturalLoop loop_;
  int exit_ = kNoBlock;
  std::vector<int> order_;
  std::vector<bool> at_begin_, behind_, on_way_out_;  // by register
  std::map<VReg, Place> written_;
  std::map<VReg, VReg> now_, next_, own_;  // names in a copy
  bool last_ = false;
};

}  // namespace

bool unroll_blocks(MachineFunction& function, std::size_t& growth) {
  bool changed = false;
  // From the last header on: blocks that are inserted change the numbers of those behind them.
  int below = static_cast<int>(function.blocks.size());
  for (bool more = true; more;) {
    more = false;
    const Dominators dominators(function);
    std::vector<NaturalLoop> loops = natural_loops(function, dominators);
    for (NaturalLoop& loop : loops | std::views::reverse) {
      if (loop.header >= below) continue;
      below = loop.header;
      if (!LoopOfBlocks(function, std::move(loop)).unroll(growth, dominators)) continue;
      changed = more = true;
      break;
    }
    function.interruption.check();
  }
  return changed;
}

}  // namespace heddle::ptx::backend
