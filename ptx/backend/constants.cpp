// Operations on constants, computed when they are compiled: where loops have become copies, the counter is a number in
// each. Values are those that the operation has when it runs (isa/semantics.hpp).
//
// What stays is what ptxas 13.0 was seen to leave: it makes divisions of constants by its usual sequence, so that the
// conversion at its begin and the reciprocal are operations also where their operand is a number.
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "isa/semantics.hpp"
#include "ptx/backend/machine_code.hpp"
#include "ptx/backend/single_definition.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

class Folder {
 public:
  explicit Folder(MachineFunction& function) : function_(function), single_(function) {}

  bool run() {
    for (const int at : reverse_post_order(function_)) {  // definitions before what they reach
      Block& block = function_.blocks[static_cast<std::size_t>(at)];
      std::vector<MachineInstruction> code;
      code.reserve(block.code.size());
      for (MachineInstruction& instruction : block.code) {
        if (!decide_guard(instruction)) {
          if (instruction.in.op == Op::BRA && !instruction.copy) block.taken = kNoBlock;
          continue;
        }
        const bool leaves = !instruction.copy && !guarded(instruction);
        if (leaves && instruction.in.op == Op::BRA) {
          block.next = block.taken;
          block.taken = kNoBlock;
          block.jump_at = instruction.in.at;
          break;
        }
        if (leaves && instruction.in.op == Op::EXIT) {
          block.next = block.taken = kNoBlock;
          code.push_back(std::move(instruction));
          break;
        }
        fold(instruction, code);
      }
      block.code = std::move(code);
    }
    return changed_;
  }

 private:
  // False: the guard is known to be false. One that is known to be true goes.
  bool decide_guard(MachineInstruction& instruction) {
    if (!guarded(instruction)) return true;
    const std::optional<bool> holds = value_of(instruction.in.guard);
    if (!holds) return true;
    changed_ = true;
    instruction.in.guard = {};
    instruction.begins_range = false;
    return *holds;
  }

  std::optional<bool> value_of(const VPred& predicate) const {
    if (predicate.reg == kNone) return !predicate.negated;
    const auto known = predicates_.find(predicate.reg);
    if (known == predicates_.end()) return std::nullopt;
    return known->second != predicate.negated;
  }
  std::optional<std::uint64_t> value_of(VReg reg) const {
    if (reg == kNone) return 0;
    if (const auto known = values_.find(reg); known != values_.end()) return known->second;
    return single_.constant(reg, 0, function_.words(reg));
  }

  void fold(MachineInstruction& instruction, std::vector<MachineInstruction>& code) {
    const IrInstruction& in = instruction.in;
    if (!guarded(instruction)) {
      if (instruction.copy && in.b != kNone && instruction.words == function_.words(in.dst) &&
          instruction.words == function_.words(in.b)) {
        const std::optional<std::uint64_t> value = value_of(in.b);
        if (value && write(in, *value, code)) return;
      } else if (!instruction.copy && compute(in, code)) {
        return;
      }
    }
    code.push_back(std::move(instruction));
  }

  static bool may_fold(const IrInstruction& in) {
    isa::Instruction form;
    form.op = in.op;
    form.mods = in.mods;
    switch (isa::info(in.op).unit) {
      case isa::Unit::alu:
        return in.op != Op::CVT || form.cvt_rounding() != isa::Rounding::rp;
      case isa::Unit::complex:
        return in.op == Op::FEX2 || in.op == Op::FLG2 || in.op == Op::FSIN || in.op == Op::FCOS;
      default:
        return false;
    }
  }

  bool compute(const IrInstruction& in, std::vector<MachineInstruction>& code) {
    const bool predicate = in.p != kNone || in.q != kNone;
    if (predicate == (in.dst != kNone) || !may_fold(in)) return false;
    if (in.op == Op::MOV || in.op == Op::MOV64 || (in.op == Op::PLOP && in.mods == 0 && in.pa.reg == kNone)) {
      return note(in);
    }
    isa::Instruction form;
    form.op = in.op;
    form.mods = in.mods;
    form.immediate = in.immediate;
    form.imm = in.imm;
    form.c = in.sub;
    const isa::LaneFunction function = isa::lane_function(form);
    const auto a = value_of(in.a), b = value_of(in.b), c = value_of(in.c), d = value_of(in.d);
    const auto pa = value_of(in.pa), pb = value_of(in.pb);
    if (function == nullptr || !a || !b || !c || !d || !pa || !pb) return false;
    const auto values = std::make_unique<isa::LaneValues>();
    const auto set = [](isa::LaneWord& low, isa::LaneWord& high, std::uint64_t value) {
      low.fill(static_cast<std::uint32_t>(value));
      high.fill(static_cast<std::uint32_t>(value >> 32U));
    };
    set(values->a[0], values->a[1], *a);
    set(values->b[0], values->b[1], *b);
    set(values->c[0], values->c[1], *c);
    values->d.fill(static_cast<std::uint32_t>(*d));
    if (in.immediate) isa::load_immediate(form, *values);
    values->active = ~isa::LaneMask{0};
    values->predicate_a = *pa ? values->active : 0;
    values->predicate_b = *pb ? values->active : 0;
    function(form, *values);
    if (values->fault != 0) return false;
    if (!predicate) {
      return write(in, values->result[0][0] | (std::uint64_t{values->result[1][0]} << 32U), code);
    }
    write(in.p, (values->p & 1U) != 0, in.at, code);
    write(in.q, (values->q & 1U) != 0, in.at, code);
    changed_ = true;
    return true;
  }

  // What is a constant already, for those that read it.
  bool note(const IrInstruction& in) {
    if (in.op == Op::PLOP && in.p != kNone && single_.definition(in.p)) predicates_[in.p] = !in.pa.negated;
    return false;
  }

  bool write(const IrInstruction& in, std::uint64_t value, std::vector<MachineInstruction>& code) {
    const unsigned words = function_.words(in.dst);
    if (words > 2) return false;
    if (words == 1) value &= 0xffff'ffffU;
    if (single_.definition(in.dst)) values_[in.dst] = value;
    if (words == 2 && fits_immediate(static_cast<std::int64_t>(value))) {
      MachineInstruction move;
      move.in.op = Op::MOV64;
      move.in.dst = in.dst;
      move.in.immediate = true;
      move.in.imm = static_cast<std::uint32_t>(value);
      move.in.at = in.at;
      code.push_back(std::move(move));
    } else {
      append_constant(in.dst, words, value, in.at, code);
    }
    changed_ = true;
    return true;
  }

  void write(VReg predicate, bool value, const Position& at, std::vector<MachineInstruction>& code) {
    if (predicate == kNone) return;
    if (single_.definition(predicate)) predicates_[predicate] = value;
    code.push_back(make_predicate(predicate, {kNone, !value}, {}, at));
  }

  MachineFunction& function_;
  const SingleDefinitions single_;
  std::map<VReg, std::uint64_t> values_;  // of registers that have been found to be constants
  std::map<VReg, bool> predicates_;
  bool changed_ = false;
};

}  // namespace

void fold_constants(MachineFunction& function) {
  while (Folder(function).run()) {
    simplify_control_flow(function);
    clean_up(function);
  }
}

}  // namespace heddle::ptx::backend
