// Predicates that take a way round through a register: CUDA's inline assembly has no predicate operands, so that a
// condition comes as 1 or 0 and is compared with zero again; and comparisons whose inverse is there already. Where
// branches become guards (fold_predicates), also what combines predicates with constants: LLVM inverts a condition by
// xor with one that is true or false, and keeps that in a register.
#include <optional>

#include "ptx/backend/machine_code.hpp"
#include "ptx/backend/single_definition.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

class PredicateForwarder {
 public:
  PredicateForwarder(MachineFunction& function, bool folds) : function_(function), single_(function), folds_(folds) {}

  bool run() {
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      for (std::size_t i = 0; i < function_.blocks[b].code.size(); ++i) {
        at_ = {static_cast<int>(b), i};
        MachineInstruction& instruction = function_.blocks[b].code[i];
        take_selected(instruction);
        take_inverse(instruction);
        // A branch's guard, too, is its instruction's.
        for (VPred* operand : {&instruction.in.guard, &instruction.in.pa, &instruction.in.pb}) forward(*operand);
        if (folds_ && !instruction.copy && instruction.in.op == Op::PLOP) fold(instruction.in);
      }
    }
    return changed_;
  }

 private:
  const MachineInstruction& at(const CodePoint& point) const {
    return function_.blocks[static_cast<std::size_t>(point.block)].code[point.index];
  }
  // The only instruction that defines the register, unguarded and on every way to the present one.
  const MachineInstruction* definition(VReg reg, const CodePoint& before, CodePoint& found) const {
    if (reg == kNone) return nullptr;
    const std::optional<CodePoint> point = single_.definition(reg);
    if (!point || !single_.before(*point, before)) return nullptr;
    found = *point;
    return &at(*point);
  }
  std::optional<std::uint64_t> constant(VReg reg) const {
    return reg == kNone ? std::optional<std::uint64_t>(0) : single_.constant(reg, 0, 1);
  }

  // p = (q ? x : y) compared with zero, of constants of which one is zero: p = q or p = !q.
  void take_selected(MachineInstruction& instruction) {
    IrInstruction& in = instruction.in;
    if (instruction.copy || (in.op != Op::SETP_S32 && in.op != Op::SETP_U32) || in.q != kNone || in.mods != 0) return;
    const auto comparison = static_cast<isa::Comparison>(in.sub);
    if (comparison != isa::Comparison::eq && comparison != isa::Comparison::ne) return;
    const auto zero = in.immediate ? std::optional<std::uint64_t>(in.imm) : constant(in.b);
    if (zero != std::optional<std::uint64_t>(0)) return;
    CodePoint where;
    const MachineInstruction* const selection = definition(in.a, at_, where);
    if (selection == nullptr || selection->copy || selection->in.op != Op::SEL) return;
    const IrInstruction& select = selection->in;
    const auto yes = constant(select.a);
    const auto no = select.immediate ? std::optional<std::uint64_t>(select.imm) : constant(select.b);
    if (!yes || !no || (*yes == 0) == (*no == 0)) return;
    CodePoint origin;
    if (definition(select.pa.reg, where, origin) == nullptr) return;
    const bool when_set = (*yes != 0) == (comparison == isa::Comparison::ne);
    const VPred source = {select.pa.reg, select.pa.negated == when_set};
    in = make_predicate(in.p, source, in.guard, in.at).in;
    changed_ = true;
  }

  // p = a < b where q = a >= b stands earlier in the block: p = !q. Integers only: floats may be unordered.
  void take_inverse(MachineInstruction& instruction) {
    IrInstruction& in = instruction.in;
    if (!compares_integers(instruction) || guarded(instruction)) return;
    const std::vector<MachineInstruction>& code = function_.blocks[static_cast<std::size_t>(at_.block)].code;
    for (std::size_t i = 0; i < at_.index; ++i) {
      const IrInstruction& other = code[i].in;
      if (!compares_integers(code[i]) || other.op != in.op || other.a != in.a || other.immediate != in.immediate ||
          (in.immediate ? other.imm != in.imm : other.b != in.b) ||
          other.sub != static_cast<std::uint8_t>(opposite(static_cast<isa::Comparison>(in.sub)))) {
        continue;
      }
      // What is compared and what came of it are as they were.
      const auto fixed = [&](VReg reg) {
        const std::optional<CodePoint> point = reg == kNone ? CodePoint{at_.block, 0} : single_.definition(reg);
        return point && (reg == kNone || single_.before(*point, {at_.block, i}));
      };
      if (!fixed(in.a) || (!in.immediate && !fixed(in.b)) || !single_.definition(other.p)) continue;
      in = make_predicate(in.p, {other.p, true}, {}, in.at).in;
      changed_ = true;
      return;
    }
  }

  static bool compares_integers(const MachineInstruction& instruction) {
    const IrInstruction& in = instruction.in;
    return !instruction.copy && in.op >= Op::SETP_S32 && in.op <= Op::SETP_U64 && in.mods == 0 && in.p != kNone &&
           in.q == kNone;
  }

  // Combined with a constant: the other one, its inverse, or a constant.
  void fold(IrInstruction& plop) {
    for (VPred* operand : {&plop.pa, &plop.pb}) {
      CodePoint where;
      const MachineInstruction* const made = definition(operand->reg, at_, where);
      if (made == nullptr || made->copy || made->in.op != Op::PLOP || made->in.mods != 0 || made->in.pa.reg != kNone) {
        continue;
      }
      *operand = {kNone, made->in.pa.negated != operand->negated};
      changed_ = true;
    }
    const auto op = static_cast<isa::BoolOp>(plop.mods >> 8U);
    if (op == isa::BoolOp::none || (plop.pa.reg != kNone && plop.pb.reg != kNone)) return;
    const bool first = plop.pa.reg == kNone;
    const bool set = !(first ? plop.pa : plop.pb).negated;
    VPred other = first ? plop.pb : plop.pa;
    if (op == isa::BoolOp::xor_) {
      other.negated = other.negated != set;
    } else if (set == (op == isa::BoolOp::or_)) {
      other = {kNone, !set};
    }
    plop.mods = 0;
    plop.pa = other;
    plop.pb = {};
    changed_ = true;
  }

  void forward(VPred& operand) {
    CodePoint where;
    const MachineInstruction* const copy = definition(operand.reg, at_, where);
    if (copy == nullptr || copy->copy || copy->in.op != Op::PLOP || copy->in.q == operand.reg) return;
    if (copy->in.mods != 0 || copy->in.pa.reg == kNone) return;
    CodePoint origin;
    // As with registers: whoever runs the origin again runs the copy again before the use.
    if (definition(copy->in.pa.reg, where, origin) == nullptr) return;
    operand = {copy->in.pa.reg, copy->in.pa.negated != operand.negated};
    changed_ = true;
  }

  MachineFunction& function_;
  SingleDefinitions single_;
  const bool folds_;
  CodePoint at_;
  bool changed_ = false;
};

}  // namespace

bool forward_predicates(MachineFunction& function) {
  return PredicateForwarder(function, false).run();
}

void fold_predicates(MachineFunction& function) {
  while (PredicateForwarder(function, true).run()) {
  }
  remove_dead_code(function);
}

}  // namespace heddle::ptx::backend
