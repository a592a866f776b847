// Values of two words of which only the lower one is needed: addresses in the scratchpad and in constants, which PTX
// may compute as it does global ones. Sums, products, shifts to the left and bitwise operations need lower words alone
// for it, and become operations on one word.
#include <bit>
#include <optional>
#include <vector>

#include "ptx/backend/machine_code.hpp"
#include "ptx/backend/single_definition.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

// What makes the lower word of the result of lower words; MOV: it is a copy. The shift's other operand has one word.
std::optional<Op> on_one_word(const IrInstruction& in) {
  switch (in.op) {
    case Op::ADD64:
      return Op::ADD;
    case Op::SUB64:
      return Op::SUB;
    case Op::MUL_LO64:
    case Op::MUL_WIDE_S:
    case Op::MUL_WIDE_U:
      return Op::MUL_LO;
    case Op::MAD_LO64:
    case Op::MAD_WIDE_S:
    case Op::MAD_WIDE_U:
      return Op::MAD_LO;
    case Op::AND64:
      return Op::AND;
    case Op::OR64:
      return Op::OR;
    case Op::XOR64:
      return Op::XOR;
    case Op::SHL64:
      return Op::SHL;
    case Op::MOV64:
      return in.immediate ? std::optional(Op::MOV) : std::nullopt;
    case Op::CVT: {
      const auto extends = [&](isa::Type to, isa::Type from) {
        return in.mods == isa::cvt_mods(to, from, isa::Rounding::none, false, false);
      };
      const bool whole = extends(isa::Type::s64, isa::Type::s32) || extends(isa::Type::u64, isa::Type::u32) ||
                         extends(isa::Type::u64, isa::Type::s32) || extends(isa::Type::s64, isa::Type::u32);
      return whole && !in.immediate ? std::optional(Op::MOV) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

class WordNarrower {
 public:
  explicit WordNarrower(MachineFunction& function) : function_(function), narrowed_(function.registers.size(), kNone) {}

  void run() {
    find();
    bool any = false;
    for (std::size_t reg = 0; reg != wide_.size(); ++reg) {
      if (!wide_[reg]) continue;
      narrowed_[reg] = function_.make(1);
      any = true;
    }
    if (!any) return;
    rewrite_code(function_, [&](const CodePoint&, const MachineInstruction& instruction,
                                std::vector<MachineInstruction>& code) { rewrite(instruction, code); });
  }

 private:
  [[nodiscard]] bool is_wide(VReg reg) const {
    return reg != kNone && static_cast<std::size_t>(reg) < wide_.size() && wide_[static_cast<std::size_t>(reg)];
  }

  // Registers of two words that are made by such operations alone, and whose upper words are not needed.
  void find() {
    wide_.assign(function_.registers.size(), false);
    for (const Block& block : function_.blocks) {
      for (const MachineInstruction& instruction : block.code) {
        for_each_definition(function_, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
          if (function_.words(reg) == 2) wide_[static_cast<std::size_t>(reg)] = true;
        });
      }
    }
    for (const Block& block : function_.blocks) {
      for (const MachineInstruction& instruction : block.code) {
        const IrInstruction& in = instruction.in;
        if (instruction.copy ? in.b != kNone || instruction.words == 1 : on_one_word(in).has_value()) continue;
        for_each_definition(function_, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
          wide_[static_cast<std::size_t>(reg)] = false;
        });
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Block& block : function_.blocks) {
        for (const MachineInstruction& instruction : block.code) {
          const bool lower_only = takes_lower_words(instruction);
          for_each_use(function_, instruction, [&](VReg reg, unsigned, unsigned) {
            if (lower_only || !is_wide(reg)) return;
            wide_[static_cast<std::size_t>(reg)] = false;
            changed = true;
          });
        }
      }
    }
  }

  [[nodiscard]] bool takes_lower_words(const MachineInstruction& instruction) const {
    const IrInstruction& in = instruction.in;
    if (!instruction.copy) return is_wide(in.dst) && !isa::is_store(in.op);
    if (is_wide(in.dst)) return instruction.src_word == 0 || !is_wide(in.b);
    return instruction.src_word == 0 && instruction.words == 1;
  }

  // The lower word of an operand, in a register of its own.
  VReg low(VReg reg, const Position& at, std::vector<MachineInstruction>& code) {
    if (reg == kNone || function_.words(reg) == 1) return reg;
    if (const VReg narrowed = narrowed_[static_cast<std::size_t>(reg)]; narrowed != kNone) return narrowed;
    const VReg word = function_.make(1);
    code.push_back(make_copy(word, 0, reg, 0, 1, {}, at));
    return word;
  }

  void rewrite(const MachineInstruction& instruction, std::vector<MachineInstruction>& code) {
    const IrInstruction& in = instruction.in;
    if (instruction.copy) return rewrite_copy(instruction, code);
    if (isa::is_store(in.op) || !is_wide(in.dst)) {
      code.push_back(instruction);
      return;
    }
    const Op op = *on_one_word(in);
    const VReg to = narrowed_[static_cast<std::size_t>(in.dst)];
    if (op == Op::MOV) {
      MachineInstruction& copy =
          code.emplace_back(make_copy(to, 0, in.immediate ? kNone : in.b, 0, 1, in.guard, in.at));
      copy.in.imm = in.imm;
      copy.begins_range = instruction.begins_range;
      return;
    }
    MachineInstruction one = instruction;
    one.in.op = op;
    one.in.dst = to;
    // A shift, as it stands in texts that compute with one word.
    if (op == Op::MUL_LO && in.immediate && std::has_single_bit(in.imm)) {
      one.in.op = Op::SHL;
      one.in.imm = static_cast<std::uint32_t>(std::countr_zero(in.imm));
    }
    for (VReg* operand : {&one.in.a, &one.in.b, &one.in.c}) *operand = low(*operand, in.at, code);
    code.push_back(std::move(one));
  }

  void rewrite_copy(const MachineInstruction& copy, std::vector<MachineInstruction>& code) {
    MachineInstruction one = copy;
    if (is_wide(copy.in.dst)) {
      if (copy.dst_word != 0) return;
      one.in.dst = narrowed_[static_cast<std::size_t>(copy.in.dst)];
      one.words = 1;
      one.in.op = Op::MOV;
    }
    if (is_wide(copy.in.b)) one.in.b = narrowed_[static_cast<std::size_t>(copy.in.b)];
    code.push_back(std::move(one));
  }

  MachineFunction& function_;
  std::vector<bool> wide_;  // by register, when the code was as it came: it will be narrowed
  std::vector<VReg> narrowed_;
};

}  // namespace

void narrow_words(MachineFunction& function) {
  WordNarrower(function).run();
}

}  // namespace heddle::ptx::backend
