// Machine code from blocks whose registers have places.
#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "isa/register_use.hpp"
#include "ptx/backend/code_flow.hpp"
#include "ptx/backend/convergence.hpp"
#include "ptx/backend/machine_code.hpp"
#include "ptx/backend/re_convergence.hpp"

namespace heddle::ptx::backend {

using isa::Op;
using isa::OperandKind;

namespace {

using isa::RegisterSet;

// An instruction with the physical registers it reads and writes.
struct Emitted {
  isa::Instruction instruction;
  isa::LineInfo line;
  RegisterSet reads, writes;
  int target = kNoBlock;  // of a branch
  std::optional<isa::TrapCause::Kind> trap;
};

class Emitter {
 public:
  Emitter(const MachineFunction& function, const Assignment& assignment, bool converges)
      : function_(function), assignment_(assignment), converges_(converges) {}

  void run(isa::Kernel& kernel) {
    lay_out();
    resolve_branches();
    converge();
    count_live();
    kernel.words.clear();
    kernel.lines.clear();
    RegisterSet touched;
    for (const Emitted& one : code_) {
      kernel.words.push_back(isa::encode(one.instruction));
      kernel.lines.push_back(one.line);
      touched |= one.reads | one.writes;
    }
    kernel.traps.clear();
    for (std::size_t pc = 0; pc < code_.size(); ++pc) {
      if (code_[pc].trap) kernel.traps.push_back(cause_of(pc));
    }
    kernel.registers = touched.end();
    kernel.predicates = predicates_;
    kernel.local_bytes = (function_.local_bytes + 7) / 8 * 8;
    kernel.spilled_registers = function_.spilled;
  }

 private:
  unsigned place(VReg reg) const { return reg == kNone ? isa::kRZ : assignment_.place[static_cast<std::size_t>(reg)]; }
  std::uint8_t field(VReg reg) const { return static_cast<std::uint8_t>(place(reg)); }

  unsigned predicate(VReg reg) {
    if (reg == kNone) return isa::kPT;
    const unsigned at = place(reg);
    if (at < isa::kPredicates) predicates_ = std::max(predicates_, at + 1);
    return at;
  }
  isa::Pred predicate(VPred operand) { return {static_cast<std::uint8_t>(predicate(operand.reg)), operand.negated}; }

  static isa::LineInfo line_of(const Position& at, bool inserted) {
    return {inserted ? 0 : at.line, at.source_file, at.source_line, 0};
  }

  void lay_out() {
    const std::size_t count = function_.blocks.size();
    starts_.assign(count, 0);
    std::vector<int> behind(count, kNoBlock);  // the next block that is still there
    for (std::size_t b = count; b-- > 1;) {
      behind[b - 1] = function_.blocks[b].removed ? behind[b] : static_cast<int>(b);
    }
    for (std::size_t b = 0; b < count; ++b) {
      const Block& block = function_.blocks[b];
      if (block.removed) continue;
      const int following = behind[b];
      block_start_ = code_.size();
      starts_[b] = static_cast<std::uint32_t>(block_start_);
      const bool branches = block.taken != kNoBlock;
      const std::size_t straight = block.code.size() - (branches ? 1 : 0);
      for (std::size_t i = 0; i < straight; ++i) emit(block.code[i]);
      int next = block.next;
      Position jump_at = block.jump_at;
      if (branches) {
        const IrInstruction& last = block.code.back().in;
        isa::Pred guard = predicate(last.guard);
        int taken = block.taken;
        if (taken == following) {
          guard.negated = !guard.negated;
          std::swap(taken, next);
        }
        branch(taken, guard, last.at);
        if (jump_at.line == 0) jump_at = last.at;
      }
      if (next != kNoBlock && next != following) branch(next, {}, jump_at);
    }
  }

  void branch(int to, isa::Pred guard, const Position& at) {
    Emitted one;
    one.instruction.op = Op::BRA;
    one.instruction.guard = guard;
    one.line = line_of(at, false);
    one.target = to;
    code_.push_back(one);
  }

  void push(const isa::Instruction& instruction, const MachineInstruction& from, const RegisterSet& reads,
            const RegisterSet& writes) {
    code_.push_back({instruction, line_of(from.in.at, from.inserted), reads, writes, kNoBlock, from.in.trap});
  }

  void emit(const MachineInstruction& machine) {
    if (machine.copy) return emit_copy(machine);
    const IrInstruction& in = machine.in;
    isa::Instruction out;
    out.op = in.op;
    out.immediate = in.immediate;
    out.imm = in.imm;
    out.guard = predicate(in.guard);
    out.mods = in.mods;
    out.dst = field(in.dst);
    out.a = field(in.a);
    out.b = in.immediate ? static_cast<std::uint8_t>(isa::kRZ) : field(in.b);
    out.d = field(in.d);
    if (isa::info(in.op).dst == OperandKind::p) {
      out.dst = isa::pred_pair(predicate(in.p), predicate(in.q));
    }
    place_predicates(in, out);
    RegisterSet reads, writes;
    for_each_use(function_, machine, [&](VReg reg, unsigned first, unsigned words) {
      if (!function_.is_predicate(reg)) reads |= RegisterSet::from(place(reg) + first, words);
    });
    for_each_definition(function_, machine, [&](VReg reg, unsigned first, unsigned words, unsigned) {
      if (!function_.is_predicate(reg)) writes |= RegisterSet::from(place(reg) + first, words);
    });
    push(out, machine, reads, writes);
  }

  // The c field and the predicate operands within the modifiers (isa/instruction.hpp).
  void place_predicates(const IrInstruction& in, isa::Instruction& out) {
    switch (in.op) {
      case Op::SEL:
      case Op::SEL64:
      case Op::VOTE_ALL:
      case Op::VOTE_ANY:
      case Op::VOTE_UNI:
      case Op::BALLOT:
      case Op::BAR_RED_POPC:
      case Op::BAR_RED_AND:
      case Op::BAR_RED_OR:
      case Op::COND_ACC_GLOBAL:
      case Op::COND_ACC_GLOBAL_E:
      case Op::COND_ACC_SHARED:
      case Op::TREE_TRAVERSE:
      case Op::TREE_TRAVERSE_SIZE:
        out.c = static_cast<std::uint8_t>(predicate(in.pa).bits());
        return;
      case Op::PLOP:
        out.mods |= predicate(in.pa).bits() | predicate(in.pb).bits() << 4U;
        return;
      case Op::ADDC:
      case Op::SUBC:
      case Op::ADDC64:
      case Op::SUBC64:
        out.mods |= isa::carry_mods(predicate(in.pa), predicate(in.p));
        out.c = static_cast<std::uint8_t>(isa::kRZ);
        return;
      case Op::SHFL_UP:
      case Op::SHFL_DOWN:
      case Op::SHFL_BFLY:
      case Op::SHFL_IDX:
      case Op::MATCH_ALL:
      case Op::MATCH_ALL64:
      case Op::ELECT:
        if (!in.immediate) out.mods |= predicate(in.p);
        break;
      case Op::SETP_S32:
      case Op::SETP_U32:
      case Op::SETP_S64:
      case Op::SETP_U64:
      case Op::SETP_F32:
      case Op::SETP_F64:
      case Op::SETP_H:
        if (!in.immediate) out.mods |= predicate(in.pa).bits() << 2U;
        out.c = in.sub;
        return;
      case Op::TESTP_F32:
      case Op::TESTP_F64:
      case Op::ISSPACEP:
      case Op::ISSPACEP_E:
        out.c = in.sub;
        return;
      default:
        break;
    }
    out.c = isa::is_load(in.op) || isa::is_store(in.op) ? in.sub : field(in.c);
  }

  void emit_copy(const MachineInstruction& copy) {
    const unsigned to = place(copy.in.dst);
    if (to == isa::kRZ) return;
    const unsigned dst = to + copy.dst_word;
    isa::Instruction out;
    out.guard = predicate(copy.in.guard);
    if (copy.in.b == kNone) {
      out.op = Op::MOV;
      out.immediate = true;
      out.imm = copy.in.imm;
      for (unsigned word = 0; word < copy.words; ++word) {
        out.dst = static_cast<std::uint8_t>(dst + word);
        push(out, copy, {}, RegisterSet::from(dst + word, 1));
      }
      return;
    }
    const unsigned from = place(copy.in.b);
    if (from == isa::kRZ) return;  // a register that was never written
    const unsigned src = from + copy.src_word;
    if (dst == src) return;
    if (copy.words == 2 && dst % 2 == 0 && src % 2 == 0) return move(copy, out.guard, dst, src, 2);
    // Overlapping ranges: from the end that is not read any more.
    for (unsigned i = 0; i < copy.words; ++i) {
      const unsigned word = dst < src ? i : copy.words - 1 - i;
      move(copy, out.guard, dst + word, src + word, 1);
    }
  }

  void move(const MachineInstruction& copy, isa::Pred guard, unsigned dst, unsigned src, unsigned words) {
    isa::Instruction out;
    out.op = words == 2 ? Op::MOV64 : Op::MOV;
    out.guard = guard;
    out.dst = static_cast<std::uint8_t>(dst);
    out.b = static_cast<std::uint8_t>(src);
    if (words == 1 && joins_previous(guard, dst, src)) {
      Emitted& previous = code_.back();
      previous.instruction.op = Op::MOV64;
      previous.instruction.dst = static_cast<std::uint8_t>(dst / 2 * 2);
      previous.instruction.b = static_cast<std::uint8_t>(src / 2 * 2);
      previous.reads |= RegisterSet::from(src, 1);
      previous.writes |= RegisterSet::from(dst, 1);
      return;
    }
    push(out, copy, RegisterSet::from(src, words), RegisterSet::from(dst, words));
  }

  // The two halves of a pair moved to the two halves of another one, one after the other.
  bool joins_previous(isa::Pred guard, unsigned dst, unsigned src) const {
    if (code_.size() == block_start_) return false;
    const isa::Instruction& last = code_.back().instruction;
    return last.op == Op::MOV && !last.immediate && last.guard == guard && last.dst == (dst ^ 1U) &&
           last.b == (src ^ 1U) && dst % 2 == src % 2 && last.dst != src;
  }

  void resolve_branches() {
    for (Emitted& one : code_) {
      if (one.target != kNoBlock) one.instruction.target = starts_[static_cast<std::size_t>(one.target)];
    }
    check_size();
  }

  void check_size() const {
    if (code_.size() > isa::kMaxPc) {
      throw InputError({function_.file, 0, 0}, "kernel " + function_.name + " is too large", "split it");
    }
  }

  void converge() {
    std::vector<isa::Instruction> instructions;
    instructions.reserve(code_.size());
    for (const Emitted& one : code_) instructions.push_back(one.instruction);
    set_re_convergence(instructions);
    if (converges_) {
      const std::vector<Origin> origins = put_in_convergence(instructions);
      std::vector<Emitted> code;
      code.reserve(origins.size());
      for (const Origin& origin : origins) {
        const Emitted& from = code_[origin.pc];
        if (origin.put_in) {
          code.emplace_back().line = from.line;
          code.back().line.ptx_line = 0;
        } else {
          code.push_back(from);
        }
      }
      code_ = std::move(code);
    }
    for (std::size_t pc = 0; pc < code_.size(); ++pc) code_[pc].instruction = instructions[pc];
    check_size();
  }

  // Registers live before each instruction, for the listing and the trace.
  void count_live() {
    std::vector<RegisterSet> live(code_.size() + 1), defined(code_.size() + 1);
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t i = 0; i < code_.size(); ++i) {
        const RegisterSet after = defined[i] | code_[i].writes;
        for_each_next(i, [&](std::size_t next) {
          changed |= !(after & ~defined[next]).empty();
          defined[next] |= after;
        });
      }
    }
    changed = true;
    while (changed) {
      changed = false;
      for (std::size_t i = code_.size(); i-- > 0;) {
        RegisterSet now;
        for_each_next(i, [&](std::size_t next) { now |= live[next]; });
        const RegisterSet kept = code_[i].instruction.guard.always() ? RegisterSet() : defined[i];
        now = ((now & (~code_[i].writes | kept)) | code_[i].reads) & defined[i];
        changed |= now != live[i];
        live[i] = now;
      }
    }
    for (std::size_t i = 0; i < code_.size(); ++i) {
      code_[i].line.live_registers = static_cast<std::uint16_t>(live[i].count());
    }
  }

  template <typename Visit>
  void for_each_next(std::size_t index, Visit visit) const {
    const isa::Instruction& instruction = code_[index].instruction;
    if (instruction.op == Op::BRA) visit(std::size_t{instruction.target});
    if (!ends_line(instruction) || !instruction.guard.always()) visit(index + 1);
  }

  isa::TrapCause cause_of(std::size_t pc) const {
    isa::TrapCause cause;
    cause.pc = static_cast<std::uint32_t>(pc);
    cause.kind = *code_[pc].trap;
    for (std::size_t from = 0; from < code_.size() && cause.kind == isa::TrapCause::Kind::pointer; ++from) {
      bool leads = false;
      for_each_next(from, [&](std::size_t next) { leads = leads || next == pc; });
      if (leads && find_pointer(from, cause)) break;
    }
    return cause;
  }

  // The last comparison of a pointer with a function's address, up to there: what it compares nothing has changed
  // since.
  bool find_pointer(std::size_t from, isa::TrapCause& cause) const {
    RegisterSet written;
    for (std::size_t at = from + 1; at-- > 0;) {
      const Emitted& one = code_[at];
      const isa::Instruction& instruction = one.instruction;
      if (instruction.op == Op::SETP_U32 || instruction.op == Op::SETP_U64) {
        const unsigned words = isa::a_registers(instruction);
        if (instruction.comparison() != isa::Comparison::eq || written.meets(RegisterSet::from(instruction.a, words))) {
          return false;
        }
        cause.pointer = instruction.a;
        cause.pointer_words = static_cast<std::uint8_t>(words);
        return true;
      }
      const bool branch = instruction.op == Op::BRA;
      if (at != from && (branch || instruction.op == Op::EXIT || instruction.op == Op::TRAP)) return false;
      written |= one.writes;
    }
    return false;
  }

  const MachineFunction& function_;
  const Assignment& assignment_;
  const bool converges_;               // BSSY and BSYNC are put in
  std::vector<std::uint32_t> starts_;  // by block
  std::vector<Emitted> code_;
  std::size_t block_start_ = 0;
  unsigned predicates_ = 0;
};

}  // namespace

void emit(const MachineFunction& function, const Assignment& assignment, const CodeOptions& code, isa::Kernel& kernel) {
  Emitter(function, assignment, code.convergence_instructions).run(kernel);
}

}  // namespace heddle::ptx::backend
