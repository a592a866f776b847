#include "ptx/backend/single_definition.hpp"

namespace heddle::ptx::backend {

using isa::Op;

SingleDefinitions::SingleDefinitions(const MachineFunction& function) : function_(function), dominators_(function) {
  std::size_t count = 0;
  for (const Register& reg : function.registers) {
    base_.push_back(count);
    count += reg.words;
  }
  words_.resize(count);
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    for (std::size_t i = 0; i < function.blocks[b].code.size(); ++i) {
      record(function.blocks[b].code[i], {static_cast<int>(b), i});
    }
  }
}

void SingleDefinitions::record(const MachineInstruction& instruction, const CodePoint& at) {
  const IrInstruction& in = instruction.in;
  const bool constant = instruction.copy ? in.b == kNone : (in.op == Op::MOV || in.op == Op::MOV64) && in.immediate;
  for_each_definition(function_, instruction, [&](VReg reg, unsigned first, unsigned words, unsigned) {
    for (unsigned i = 0; i < words; ++i) {
      Word& word = words_[base_[static_cast<std::size_t>(reg)] + first + i];
      ++word.definitions;
      word.guarded |= guarded(instruction);
      word.at = at;
      word.is_constant = constant;
      // The high word of an immediate is its sign.
      word.value = i == 0 || instruction.copy ? in.imm : (in.imm >> 31U) != 0 ? ~std::uint32_t{0} : 0;
      if (instruction.copy && in.b != kNone) word.copy_of = {in.b, instruction.src_word + i};
    }
  });
}

bool SingleDefinitions::before(const CodePoint& first, const CodePoint& second) const {
  if (first.block == second.block) return first.index < second.index;
  return dominators_.dominates(first.block, second.block);
}

std::optional<CodePoint> SingleDefinitions::definition(VReg reg) const {
  const Word& first = word(reg, 0);
  for (unsigned i = 0; i < function_.words(reg); ++i) {
    const Word& part = word(reg, i);
    if (!known(part) || part.at.block != first.at.block || part.at.index != first.at.index) return std::nullopt;
  }
  return first.at;
}

std::optional<std::uint64_t> SingleDefinitions::constant(VReg reg, unsigned first, unsigned words) const {
  if (words > 2) return std::nullopt;
  std::uint64_t value = 0;
  for (unsigned i = 0; i < words; ++i) {
    const Word& part = word(reg, first + i);
    if (!known(part) || !part.is_constant) return std::nullopt;
    value |= std::uint64_t{part.value} << (32U * i);
  }
  return value;
}

std::optional<SingleDefinitions::Source> SingleDefinitions::source(VReg reg, unsigned first, unsigned words,
                                                                   const CodePoint& use) const {
  std::optional<Source> result;
  for (unsigned i = 0; i < words; ++i) {
    const Word& part = word(reg, first + i);
    if (!known(part) || part.copy_of.reg == kNone || !before(part.at, use)) return std::nullopt;
    // A vector's registers are only held for as long as its elements take to be copied.
    if (function_.registers[static_cast<std::size_t>(part.copy_of.reg)].temporary) return std::nullopt;
    // Both single definitions, the source's before the copy and the copy before the use: whoever runs the source's
    // definition again runs the copy again before the use.
    const Word& original = word(part.copy_of.reg, part.copy_of.word);
    if (!known(original) || !before(original.at, part.at)) return std::nullopt;
    if (i == 0) {
      result = part.copy_of;
    } else if (part.copy_of.reg != result->reg || part.copy_of.word != result->word + i) {
      return std::nullopt;
    }
  }
  return result;
}

const IrInstruction* SingleDefinitions::with_immediate(VReg reg, const CodePoint& use, bool lower_word) const {
  if (reg == kNone) return nullptr;
  const auto made = definition(reg);
  if (!made || !before(*made, use)) return nullptr;
  const MachineInstruction& instruction = function_.blocks[static_cast<std::size_t>(made->block)].code[made->index];
  const IrInstruction& in = instruction.in;
  if (instruction.copy || !in.immediate || in.a == kNone || function_.is_predicate(in.a)) return nullptr;
  if (lower_word) {
    const Word& lower = word(in.a, 0);
    return known(lower) && before(lower.at, *made) ? &in : nullptr;
  }
  const auto source = definition(in.a);
  return source && before(*source, *made) ? &in : nullptr;
}

}  // namespace heddle::ptx::backend
