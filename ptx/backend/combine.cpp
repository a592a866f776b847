// Chains of constants: (x + 4) + 8, (x << 2) << 1, [x + 4] with an offset. And the lower word of a sum of two words,
// which is the sum of a lower word: scratchpad and constants have addresses of one.
#include "ptx/backend/machine_code.hpp"
#include "ptx/backend/single_definition.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

std::int64_t signed_value(std::uint32_t imm) {
  return static_cast<std::int32_t>(imm);
}

class Combiner {
 public:
  explicit Combiner(MachineFunction& function)
      : function_(function), single_(function), uses_(count_uses(function)), address_uses_(function.registers.size()) {
    for (const Block& block : function.blocks) {
      for (const MachineInstruction& instruction : block.code) count_address(instruction);
    }
  }

  // x = the lower word of y + 4: x = z + 4, of z = the lower word of y.
  void narrow() {
    rewrite_code(function_, [&](const CodePoint& at, const MachineInstruction& instruction,
                                std::vector<MachineInstruction>& code) {
      const IrInstruction* const sum =
          copies_lower_word(function_, instruction) ? single_.with_immediate(instruction.in.b, at, true) : nullptr;
      if (sum == nullptr || sum->op != Op::ADD64) {
        code.push_back(instruction);
        return;
      }
      const VReg base = function_.make(1);
      code.push_back(make_copy(base, 0, sum->a, 0, 1, {}, instruction.in.at));
      MachineInstruction& narrow = code.emplace_back();
      narrow.in.op = Op::ADD;
      narrow.in.dst = instruction.in.dst;
      narrow.in.a = base;
      narrow.in.immediate = true;
      narrow.in.imm = sum->imm;
      narrow.in.at = instruction.in.at;
    });
  }

  void run() {
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      for (std::size_t i = 0; i < function_.blocks[b].code.size(); ++i) {
        at_ = {static_cast<int>(b), i};
        MachineInstruction& instruction = function_.blocks[b].code[i];
        if (instruction.copy) continue;
        if (isa::is_load(instruction.in.op) || isa::is_store(instruction.in.op)) {
          fold_offset(instruction.in);
        } else if (instruction.in.immediate) {
          combine(instruction.in);
        }
      }
    }
  }

 private:
  void count_address(const MachineInstruction& instruction) {
    const IrInstruction& in = instruction.in;
    const bool memory = !instruction.copy && (isa::is_load(in.op) || isa::is_store(in.op));
    if (memory && in.a != kNone) ++address_uses_[static_cast<std::size_t>(in.a)];
  }

  const IrInstruction* maker(VReg reg) const { return single_.with_immediate(reg, at_); }

  void fold_offset(IrInstruction& in) {
    const IrInstruction* sum = maker(in.a);
    const bool wide = isa::has_wide_address(in.op);
    if (sum == nullptr || sum->op != (wide ? Op::ADD64 : Op::ADD)) return;
    // Otherwise both the sum and its base would have to be kept.
    if (uses_[static_cast<std::size_t>(in.a)] != address_uses_[static_cast<std::size_t>(in.a)]) return;
    if (wide && !fits_immediate(signed_value(in.imm) + signed_value(sum->imm))) return;
    in.imm += sum->imm;
    in.a = sum->a;
  }

  void combine(IrInstruction& in) {
    const IrInstruction* inner = maker(in.a);
    if (inner == nullptr || inner->op != in.op || uses_[static_cast<std::size_t>(in.a)] != 1) return;
    switch (in.op) {
      case Op::ADD64:
        if (!fits_immediate(signed_value(in.imm) + signed_value(inner->imm))) return;
        break;
      case Op::ADD:
        break;
      case Op::SHL:
      case Op::SHL64: {
        const std::uint32_t bits = in.op == Op::SHL ? 32 : 64;
        if (in.imm >= bits || inner->imm >= bits || in.imm + inner->imm >= bits) return;
        break;
      }
      default:
        return;
    }
    in.imm += inner->imm;
    in.a = inner->a;
  }

  MachineFunction& function_;
  SingleDefinitions single_;
  std::vector<unsigned> uses_, address_uses_;
  CodePoint at_;
};

}  // namespace

void combine_constants(MachineFunction& function) {
  Combiner(function).run();
}

void narrow_sums(MachineFunction& function) {
  Combiner(function).narrow();
}

}  // namespace heddle::ptx::backend
