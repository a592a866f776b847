// Threads that end early must not wait for those that go on to a barrier: a barrier waits for all threads of the block
// that have not exited (CUDA C++ Programming Guide, "Synchronization Functions", for devices of compute capability 7.x
// and later). In
//
//   if (i >= n) { pad[i] = 0; return; }
//   ...
//   __syncthreads();
//
// compilers have both ways meet at the function's end. A warp that parts there would wait for itself: a re-convergence
// stack runs the other way only when the first one is at the merge point, and that one is at the barrier. So a way that
// ends without a barrier, where the other one may come to some, exits by itself, and goes first. There the branch has
// no merge point.
//
// Only such branches are changed, and only those on which threads may disagree by what they compute (thread ids, what
// they load from places of their own): all others have their merge points, and threads that exit together do so in one
// instruction. Branches that leave a loop are not among them: all threads of a block leave a loop with barriers at
// once, or barriers do not meet.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

class EarlyExits {
 public:
  EarlyExits(MachineFunction& function, bool lockstep) : function_(function), lockstep_(lockstep) {}

  // Changes one branch, if any qualifies.
  bool change() {
    before_ = predecessors(function_);
    find_ways_to_barriers();
    if (!std::any_of(to_barrier_.begin(), to_barrier_.end(), [](bool to_barrier) { return to_barrier; })) return false;
    find_varying();
    for (int at = 0; at != static_cast<int>(function_.blocks.size()); ++at) {
      const Block& from = block(at);
      if (from.removed || from.taken == kNoBlock || from.next == kNoBlock || from.taken == from.next) continue;
      if (!varying(from.code.back().in.guard.reg)) continue;
      for (const auto& [side, other] : {std::pair{from.next, from.taken}, {from.taken, from.next}}) {
        if (!to_barrier_[static_cast<std::size_t>(other)] || to_barrier_[static_cast<std::size_t>(side)]) continue;
        std::optional<std::vector<int>> region = region_of(side, at);
        if (region && !leads_to(other, at) && change(at, side, *region)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kMostBlocks = 64;  // of a side
  static constexpr std::size_t kMostCopied = 32;  // instructions

  [[nodiscard]] static bool has(const std::vector<int>& blocks, int at) {
    return std::find(blocks.begin(), blocks.end(), at) != blocks.end();
  }

  Block& block(int at) { return function_.blocks[static_cast<std::size_t>(at)]; }
  [[nodiscard]] const Block& block(int at) const { return function_.blocks[static_cast<std::size_t>(at)]; }

  // The blocks from which a barrier can be reached.
  void find_ways_to_barriers() {
    to_barrier_.assign(function_.blocks.size(), false);
    std::vector<int> work;
    for (std::size_t at = 0; at != function_.blocks.size(); ++at) {
      const std::vector<MachineInstruction>& code = function_.blocks[at].code;
      if (std::any_of(code.begin(), code.end(), [](const MachineInstruction& one) {
            return !one.copy && isa::info(one.in.op).unit == isa::Unit::barrier;
          })) {
        to_barrier_[at] = true;
        work.push_back(static_cast<int>(at));
      }
    }
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      for (const int from : before_[static_cast<std::size_t>(at)]) {
        if (!to_barrier_[static_cast<std::size_t>(from)]) {
          to_barrier_[static_cast<std::size_t>(from)] = true;
          work.push_back(from);
        }
      }
    }
  }

  [[nodiscard]] bool varying(VReg reg) const { return reg != kNone && varying_[static_cast<std::size_t>(reg)]; }

  // The registers in which threads may have different values, whatever way they have come: a thread id, what a lane
  // makes with others, what is loaded by such a register, and what is computed with one.
  void find_varying() {
    varying_.assign(function_.registers.size(), false);
    for (bool grown = true; grown;) {
      grown = false;
      for (const Block& each : function_.blocks) {
        for (const MachineInstruction& one : each.code) {
          isa::Instruction plain;
          plain.op = one.in.op;
          plain.mods = one.in.mods;
          plain.imm = one.in.imm;
          // A place of local memory is each thread's own.
          const bool shared_place = isa::is_load(one.in.op) && isa::space_of(one.in.op) != isa::Space::local &&
                                    isa::space_of(one.in.op) != isa::Space::generic;
          bool differs = !one.copy && !isa::accepts_uniform(plain) && !shared_place;
          for_each_use(function_, one, [&](VReg reg, unsigned, unsigned) { differs = differs || varying(reg); });
          for_each_definition(function_, one, [&](VReg reg, unsigned, unsigned, unsigned) {
            grown = grown || (differs && !varying(reg));
            varying_[static_cast<std::size_t>(reg)] = differs || varying(reg);
          });
        }
      }
    }
  }

  [[nodiscard]] bool leads_to(int from, int to) const {
    std::vector<bool> reached(function_.blocks.size());
    std::vector<int> work{from};
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      if (at == to) return true;
      if (reached[static_cast<std::size_t>(at)]) continue;
      reached[static_cast<std::size_t>(at)] = true;
      for (const int next : successors(block(at))) work.push_back(next);
    }
    return false;
  }

  // An operation between lanes would find other threads there, or fewer.
  [[nodiscard]] static bool needs_others(const MachineInstruction& one) {
    return !one.copy && (isa::looks_at_lanes(one.in.op) || one.in.op == Op::WARP_SYNC);
  }

  // The blocks of a side, in their order; none: it is large, or none of its ways exits.
  [[nodiscard]] std::optional<std::vector<int>> region_of(int side, int head) const {
    std::vector<int> region;
    std::vector<int> work{side};
    bool exits = false;
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      if (has(region, at)) continue;
      if (is_lone_exit(function_, at)) {
        exits = true;
        continue;
      }
      if (at == head || region.size() == kMostBlocks) return std::nullopt;
      region.push_back(at);
      const Block& here = block(at);
      exits = exits || (here.next == kNoBlock && here.code.back().in.op == Op::EXIT);
      for (const int to : successors(here)) work.push_back(to);
    }
    if (!exits || region.empty()) return std::nullopt;
    std::sort(region.begin(), region.end());
    return region;
  }

  // Blocks of the side to which others lead too, and what they lead to.
  [[nodiscard]] std::vector<int> shared_of(const std::vector<int>& region, int head, int side) const {
    std::vector<int> shared;
    std::vector<int> work;
    for (const int at : region) {
      for (const int from : before_[static_cast<std::size_t>(at)]) {
        if (!has(region, from) && (from != head || at != side)) work.push_back(at);
      }
    }
    while (!work.empty()) {
      const int at = work.back();
      work.pop_back();
      if (has(shared, at) || !has(region, at)) continue;
      shared.push_back(at);
      for (const int to : successors(block(at))) work.push_back(to);
    }
    std::sort(shared.begin(), shared.end());
    return shared;
  }

  // Gives the side blocks of its own for what it shares, as compilers have ends of functions that are alike. False:
  // that is long, or its threads have to be together there.
  bool copy_shared(std::vector<int>& region, int head, int& side) {
    const std::vector<int> shared = shared_of(region, head, side);
    std::size_t length = 0;
    for (const int at : shared) {
      const std::vector<MachineInstruction>& code = block(at).code;
      length += std::any_of(code.begin(), code.end(), needs_others) ? kMostCopied + 1 : code.size();
    }
    if (length > (lockstep_ ? 0 : kMostCopied)) return false;
    std::map<int, int> copy_of;
    for (const int at : shared) {
      copy_of[at] = static_cast<int>(function_.blocks.size());
      function_.blocks.push_back(Block(block(at)));
    }
    const auto to_copies = [&copy_of](Block& from) {
      for (int* const to : {&from.taken, &from.next}) {
        if (const auto found = copy_of.find(*to); found != copy_of.end()) *to = found->second;
      }
    };
    for (int& at : region) {
      if (const auto found = copy_of.find(at); found != copy_of.end()) at = found->second;
      to_copies(block(at));
    }
    if (const auto found = copy_of.find(side); found != copy_of.end()) {
      Block& from = block(head);
      (from.taken == side ? from.taken : from.next) = found->second;
      side = found->second;
    }
    return true;
  }

  bool change(int head, int side, std::vector<int>& region) {
    const std::size_t blocks = function_.blocks.size();
    if (!copy_shared(region, head, side)) return false;
    bool changed = function_.blocks.size() != blocks;
    for (const int at : region) {
      Block& here = block(at);
      if (here.taken == kNoBlock && is_lone_exit(function_, here.next)) {
        here.code.push_back(block(here.next).code.front());
        here.next = kNoBlock;
        changed = true;
      }
    }
    Block& from = block(head);
    if (from.taken == side) {
      from.code.back().in.guard.negated = !from.code.back().in.guard.negated;
      std::swap(from.taken, from.next);
      changed = true;
    }
    return place_behind(head, side, region) || changed;
  }

  // The side first, the rest of it in its order: what lies behind a branch is where it falls through to.
  bool place_behind(int head, int side, const std::vector<int>& region) {
    std::vector<int> moved{side};
    std::copy_if(region.begin(), region.end(), std::back_inserter(moved), [side](int at) { return at != side; });
    std::vector<int> order;
    for (int at = 0; at != static_cast<int>(function_.blocks.size()); ++at) {
      if (!has(region, at)) order.push_back(at);
      if (at == head) order.insert(order.end(), moved.begin(), moved.end());
    }
    if (std::is_sorted(order.begin(), order.end())) return false;
    std::vector<int> number(order.size());
    std::vector<Block> blocks;
    for (std::size_t at = 0; at != order.size(); ++at) {
      number[static_cast<std::size_t>(order[at])] = static_cast<int>(at);
      blocks.push_back(std::move(block(order[at])));
    }
    for (Block& each : blocks) {
      for (int* const to : {&each.taken, &each.next})
        *to = *to == kNoBlock ? kNoBlock : number[static_cast<std::size_t>(*to)];
    }
    function_.blocks = std::move(blocks);
    return true;
  }

  MachineFunction& function_;
  const bool lockstep_;  // it has synchronizations of warps, of which nothing is left
  std::vector<std::vector<int>> before_;
  std::vector<bool> to_barrier_;  // by block
  std::vector<bool> varying_;     // by register
};

}  // namespace

void exit_early(MachineFunction& function, bool lockstep) {
  EarlyExits exits(function, lockstep);
  while (exits.change()) {
  }
}

}  // namespace heddle::ptx::backend
