// If-conversion: a short if-then or if-then-else becomes straight-line code whose instructions are guarded by the
// branch's predicate (predication, thesis 2.1.3.1; Allen et al. 1983).
//
// A side is a block that only the branch leads to and that leaves it for the merge point alone: no side exits. It may
// hold nothing that needs its threads together, or apart from the others: barriers, operations between lanes, exits and
// traps. A guard that an instruction has already (from PTX, or from an inner region converted before) is combined with
// the side's by a PLOP; without it, a stale predicate of an instruction that was not executed could let it through.
//
// The fall-through side comes first, as it does on a re-convergence stack, so that even accesses of the two sides to
// the same address keep their order. A thread's loads and stores of the side that it does not take are guarded off, so
// that they cannot fault. What a side computes for itself alone, and can do no harm, has no guard: an address, say.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ptx/backend/liveness.hpp"
#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

bool may_be_guarded(const MachineInstruction& instruction) {
  if (instruction.copy) return true;
  const isa::Unit unit = isa::info(instruction.in.op).unit;
  return unit != isa::Unit::control && unit != isa::Unit::barrier && !isa::looks_at_lanes(instruction.in.op);
}

// A warp that needs none of it would come to a wait for memory, where a branch goes past it.
bool waits_for_memory(const MachineInstruction& instruction) {
  if (instruction.copy) return false;
  const Op op = instruction.in.op;
  if (isa::is_texture(op) || isa::is_atomic(op) || op == Op::MEMBAR) return true;
  if (!isa::is_load(op)) return false;
  const isa::Space space = isa::space_of(op);
  return space != isa::Space::shared && space != isa::Space::constant && space != isa::Space::param;
}

bool is_harmless(const MachineInstruction& instruction) {
  return instruction.copy || (isa::info(instruction.in.op).unit == isa::Unit::alu && !has_side_effect(instruction));
}

MachineInstruction make_and(VReg result, VPred a, VPred b, const Position& at) {
  MachineInstruction both;
  both.in.op = Op::PLOP;
  both.in.mods = static_cast<std::uint32_t>(isa::BoolOp::and_) << 8U;
  both.in.p = result;
  both.in.pa = a;
  both.in.pb = b;
  both.in.at = at;
  return both;
}

// Where a branch's two ways meet again, and the blocks on them (kNoBlock: that way is empty).
struct Region {
  int fall_through = kNoBlock;
  int taken = kNoBlock;
  int merge = kNoBlock;
};

// What may be read from the end of a block on, in both kinds of registers.
class LiveOut {
 public:
  explicit LiveOut(const MachineFunction& function)
      : general_(function, false),
        predicates_(function, true),
        words_(function, general_),
        bits_(function, predicates_) {}
  [[nodiscard]] bool has(std::size_t block, VReg reg, unsigned word) const {
    return general_.has(reg) ? words_.is_live_out(block, general_.base(reg) + word)
                             : bits_.is_live_out(block, predicates_.base(reg) + word);
  }

 private:
  Units general_, predicates_;
  Liveness words_, bits_;
};

// Registers that one instruction writes, and of whose block all others are that read them, behind it: what the next
// iteration of a loop reads is not among them.
class OwnRegisters {
 public:
  explicit OwnRegisters(const MachineFunction& function) : homes_(function.registers.size(), kNoBlock) {
    std::vector<unsigned> definitions(homes_.size());
    const auto is_in = [&](VReg reg, int at) {
      int& home = homes_[static_cast<std::size_t>(reg)];
      home = home == kNoBlock || home == at ? at : kSeveral;
    };
    for (std::size_t b = 0; b != function.blocks.size(); ++b) {
      const int at = static_cast<int>(b);
      for (const MachineInstruction& instruction : function.blocks[b].code) {
        for_each_use(function, instruction, [&](VReg reg, unsigned, unsigned) {
          is_in(reg, at);
          if (definitions[static_cast<std::size_t>(reg)] == 0) homes_[static_cast<std::size_t>(reg)] = kSeveral;
        });
        for_each_definition(function, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
          is_in(reg, at);
          if (++definitions[static_cast<std::size_t>(reg)] > 1) homes_[static_cast<std::size_t>(reg)] = kSeveral;
        });
      }
    }
  }
  [[nodiscard]] bool is_of(VReg reg, int block) const { return homes_[static_cast<std::size_t>(reg)] == block; }

 private:
  static constexpr int kSeveral = -2;
  std::vector<int> homes_;
};

class IfConverter {
 public:
  IfConverter(MachineFunction& function, const CodeOptions& code)
      : function_(function),
        most_(code.if_conversion),
        loads_(code.predicated_loads),
        divisions_(!code.software_division) {}

  // Converts every region that qualifies now; an outer one may qualify when its inner ones are gone.
  bool round() {
    before_ = predecessors(function_);
    std::vector<std::pair<int, Region>> found;
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      if (const std::optional<Region> region = region_at(static_cast<int>(b))) {
        found.emplace_back(static_cast<int>(b), *region);
      }
    }
    if (found.empty()) return false;
    // A side belongs to one branch and holds none, so that regions of one round do not overlap; and what a thread may
    // still read at a branch is the same whether other regions are predicated or not.
    const LiveOut live(function_);
    const OwnRegisters own(function_);
    for (const auto& [head, region] : found) convert(head, region, live, own);
    return true;
  }

 private:
  Block& block(int at) { return function_.blocks[static_cast<std::size_t>(at)]; }
  [[nodiscard]] const Block& block(int at) const { return function_.blocks[static_cast<std::size_t>(at)]; }

  // Only `head` leads there, it leads on to one place, and all of it may be guarded.
  [[nodiscard]] bool is_side(int at, int head) const {
    const Block& side = block(at);
    return at > 0 && at != head && before_[static_cast<std::size_t>(at)].size() == 1 && side.taken == kNoBlock &&
           side.next != kNoBlock && side.next != at && side.code.size() <= most_ &&
           std::all_of(side.code.begin(), side.code.end(), may_be_guarded) &&
           (loads_ || std::none_of(side.code.begin(), side.code.end(), waits_for_memory)) &&
           (divisions_ || std::none_of(side.code.begin(), side.code.end(), divides));
  }

  [[nodiscard]] std::optional<Region> region_at(int head) const {
    const Block& from = block(head);
    if (from.removed || from.taken == kNoBlock || from.next == kNoBlock || from.taken == from.next) return std::nullopt;
    const bool next = is_side(from.next, head), taken = is_side(from.taken, head);
    if (next && block(from.next).next == from.taken) return Region{from.next, kNoBlock, from.taken};
    if (taken && block(from.taken).next == from.next) return Region{kNoBlock, from.taken, from.next};
    if (next && taken && block(from.next).next == block(from.taken).next) {
      return Region{from.next, from.taken, block(from.next).next};
    }
    return std::nullopt;
  }

  [[nodiscard]] bool defines(int side, VReg predicate) const {
    if (side == kNoBlock) return false;
    bool found = false;
    for (const MachineInstruction& instruction : block(side).code) {
      for_each_definition(function_, instruction,
                          [&](VReg reg, unsigned, unsigned, unsigned) { found |= reg == predicate; });
    }
    return found;
  }

  void convert(int head, const Region& region, const LiveOut& live, const OwnRegisters& registers) {
    Block& from = block(head);
    const IrInstruction branch = from.code.back().in;
    from.code.pop_back();
    VPred condition = branch.guard;
    if (defines(region.fall_through, condition.reg) || defines(region.taken, condition.reg)) {
      const VReg kept = function_.make(1, true);
      from.code.push_back(make_and(kept, {condition.reg, false}, {}, branch.at));
      condition.reg = kept;
    }
    std::vector<MachineInstruction> code;
    append(region.fall_through, {condition.reg, !condition.negated}, registers, code);
    append(region.taken, condition, registers, code);
    mark_first_definitions(head, code, live);
    Block& into = block(head);
    into.code.insert(into.code.end(), std::make_move_iterator(code.begin()), std::make_move_iterator(code.end()));
    into.taken = kNoBlock;
    into.next = region.merge;
    into.jump_at = {};
  }

  // Its results are of no use to others, and what it reads is there for all threads: nothing that is guarded now.
  bool goes_without(const MachineInstruction& instruction, int side, const OwnRegisters& registers,
                    const std::set<VReg>& guarded_now) const {
    bool goes = is_harmless(instruction);
    for_each_definition(function_, instruction,
                        [&](VReg reg, unsigned, unsigned, unsigned) { goes &= registers.is_of(reg, side); });
    for_each_use(function_, instruction, [&](VReg reg, unsigned, unsigned) { goes &= !guarded_now.contains(reg); });
    return goes;
  }

  // The side's instructions under its guard.
  void append(int side, VPred guard, const OwnRegisters& registers, std::vector<MachineInstruction>& code) {
    if (side == kNoBlock) return;
    std::map<std::pair<VReg, bool>, VReg> combined;  // guard in the side: and the side's own
    std::set<VReg> guarded_now;                      // registers that the side has written
    for (MachineInstruction& instruction : block(side).code) {
      VPred& own = instruction.in.guard;
      if (own.reg == kNone) {
        if (goes_without(instruction, side, registers, guarded_now)) {
          code.push_back(std::move(instruction));
          continue;
        }
        own = guard;
      } else if (own.reg != guard.reg) {
        const auto [entry, made] = combined.try_emplace({own.reg, own.negated}, kNone);
        if (made) {
          entry->second = function_.make(1, true);
          code.push_back(make_and(entry->second, guard, own, instruction.in.at));
        }
        own = {entry->second, false};
      } else if (own.negated != guard.negated) {
        continue;  // never executed
      }
      for_each_definition(function_, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
        combined.erase({reg, false});
        combined.erase({reg, true});
        guarded_now.insert(reg);
      });
      code.push_back(std::move(instruction));
    }
    block(side).code.clear();
  }

  // The first definition of a register that no thread may read at the branch begins a live range, although it is
  // guarded: a thread that does not execute it will write the register before reading it, on its own side or behind the
  // merge point.
  void mark_first_definitions(int head, std::vector<MachineInstruction>& code, const LiveOut& live) const {
    std::map<std::pair<VReg, unsigned>, bool> seen;
    for (MachineInstruction& instruction : code) {
      if (!guarded(instruction)) continue;  // a PLOP of ours
      bool first = true;
      for_each_definition(function_, instruction, [&](VReg reg, unsigned from, unsigned words, unsigned) {
        for (unsigned word = from; word < from + words; ++word) {
          first &= seen.try_emplace({reg, word}, true).second && !live.has(static_cast<std::size_t>(head), reg, word);
        }
      });
      instruction.begins_range = first;  // of an inner region: anew, the outer branch comes before
    }
  }

  MachineFunction& function_;
  unsigned most_;
  bool loads_, divisions_;
  std::vector<std::vector<int>> before_;
};

}  // namespace

void convert_ifs(MachineFunction& function, const CodeOptions& code) {
  if (code.if_conversion == 0) return;
  fold_predicates(function);
  while (IfConverter(function, code).round()) simplify_control_flow(function);
}

}  // namespace heddle::ptx::backend
