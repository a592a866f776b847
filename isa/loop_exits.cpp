#include "isa/loop_exits.hpp"

#include <optional>
#include <vector>

#include "isa/instruction.hpp"
#include "isa/register_use.hpp"

namespace heddle::isa {
namespace {

struct LoopInstruction {
  Instruction instruction;
  RegisterUse use;
  bool decides = false;  // what it writes, or whether it leaves the loop
  // Of a branch with a condition: the loop's instructions between it and where its paths meet, and whether a path
  // leaves the loop up to there.
  std::vector<std::uint32_t> between;
  bool leaves = false;
};

class Loop {
 public:
  Loop(std::span<const InstructionWord> words, std::uint32_t first, std::uint32_t last) : first_(first) {
    if (first > last || last >= words.size()) return;
    for (std::uint32_t pc = first; pc <= last; ++pc) {
      const std::optional<Instruction> instruction = decode(words[pc]);
      if (!instruction) return;
      body_.push_back({*instruction, register_use(*instruction), false, {}, false});
    }
    whole_ = true;
    for (std::uint32_t pc = first; pc <= last; ++pc) follow(pc);
  }

  [[nodiscard]] LoopExits exits() {
    LoopExits exits;
    if (!whole_) return exits;
    for (LoopInstruction& one : body_) one.decides = one.leaves || one.instruction.op == Op::EXIT;
    for (bool changed = true; changed;) {
      changed = false;
      for (LoopInstruction& one : body_) changed = extend(one, exits) || changed;
    }
    bool reads = false, writes = false, clock = false;
    RegisterSet written;
    for (const LoopInstruction& one : body_) written |= one.use.written;
    for (const LoopInstruction& one : body_) {
      const Op op = one.instruction.op;
      writes = writes || changes_memory(one.instruction);
      if (!one.decides) continue;
      exits.waits =
          exits.waits || is_atomic(op) || is_volatile(op) || (reads_memory(op) && !one.use.read.meets(written));
      clock = clock || ((op == Op::S2R || op == Op::S2R64) && is_clock(one.instruction));
      reads = reads || is_texture(op) || is_heap(op) || is_accumulate(op) ||
              (is_atomic(op) && !locks(one.instruction)) || reads_memory(op);
    }
    // What the loop keeps in memory goes through a register that something else may need before we look.
    exits.known = !clock && !(reads && writes);
    return exits;
  }

 private:
  static bool is_clock(const Instruction& instruction) {
    const auto special = static_cast<Special>(instruction.imm);
    return special == Special::clock || special == Special::clock_hi || special == Special::clock64;
  }
  // Atomics that take and give locks: what they leave in memory is what other threads find there.
  static bool locks(const Instruction& instruction) {
    return instruction.atomic_op() == AtomicOp::cas || instruction.atomic_op() == AtomicOp::exch;
  }
  static bool reads_memory(Op op) {
    return is_load(op) && space_of(op) != Space::constant && space_of(op) != Space::param;
  }
  static bool changes_memory(const Instruction& instruction) {
    const Op op = instruction.op;
    return is_store(op) || is_accumulate(op) || is_heap(op) || (is_atomic(op) && !locks(instruction));
  }

  // Where a branch with a condition leads before its paths meet.
  void follow(std::uint32_t pc) {
    LoopInstruction& branch = body_[pc - first_];
    if (branch.instruction.op != Op::BRA || branch.instruction.guard.always()) return;
    std::vector<bool> seen(body_.size());
    std::vector<std::uint32_t> left = {branch.instruction.target, pc + 1};
    while (!left.empty()) {
      const std::uint32_t at = left.back();
      left.pop_back();
      if (at < first_ || at - first_ >= body_.size()) {
        branch.leaves = true;
        continue;
      }
      if (at == branch.instruction.reconvergence || seen[at - first_]) continue;
      seen[at - first_] = true;
      branch.between.push_back(at - first_);
      const Instruction& here = body_[at - first_].instruction;
      const bool always = here.guard.always();
      if (here.op == Op::BRA) left.push_back(here.target);
      if (!always || (here.op != Op::BRA && here.op != Op::EXIT && here.op != Op::TRAP)) left.push_back(at + 1);
    }
  }

  // Adds what an instruction that decides reads. Whether anything is new.
  bool extend(LoopInstruction& one, LoopExits& exits) {
    one.decides =
        one.decides || one.use.written.meets(exits.registers) || (one.use.predicates_written & exits.predicates) != 0;
    for (std::size_t i = 0; i < one.between.size() && !one.decides; ++i) one.decides = body_[one.between[i]].decides;
    if (!one.decides) return false;
    const LoopExits before = exits;
    exits.registers |= one.use.read;
    exits.predicates |= one.use.predicates_read;
    return exits.registers != before.registers || exits.predicates != before.predicates;
  }

  std::uint32_t first_;
  bool whole_ = false;  // every word is an instruction
  std::vector<LoopInstruction> body_;
};

}  // namespace

LoopExits loop_exits(std::span<const InstructionWord> words, std::uint32_t first, std::uint32_t last) {
  return Loop(words, first, last).exits();
}

}  // namespace heddle::isa
