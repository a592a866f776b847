// Random well-formed instructions of a given operation, drawn from the operation table.
#pragma once

#include <algorithm>
#include <optional>
#include <random>

#include "isa/instruction.hpp"

namespace heddle::isa::test {

class RandomInstructions {
 public:
  explicit RandomInstructions(std::uint32_t seed) : random_(seed) {}

  // Draws fields by operand kind until the instruction is well formed; nothing after many refusals.
  std::optional<Instruction> next(Op op) {
    for (int attempt = 0; attempt < 20000; ++attempt) {
      Instruction i = candidate(op);
      if (below(4) == 0) {
        i.control = {true,      coin(),    static_cast<std::uint8_t>(below(16)),
                     counter(), counter(), static_cast<std::uint8_t>(below(64))};
      }
      if (why_malformed(i).empty()) return i;
    }
    return std::nullopt;
  }

 private:
  unsigned below(unsigned limit) { return random_() % limit; }
  bool coin() { return below(2) == 0; }

  std::uint8_t counter() {
    const unsigned any = below(ControlBits::kCounters + 1);
    return static_cast<std::uint8_t>(any == ControlBits::kCounters ? ControlBits::kNoCounter : any);
  }

  std::uint8_t register_or_default(OperandKind kind) {
    if (kind == OperandKind::none || below(8) == 0) return kRZ;
    const unsigned any = below(wide_ ? 256 : 64);
    return static_cast<std::uint8_t>(any & (kind == OperandKind::r ? 255U : kind == OperandKind::w ? 254U : 252U));
  }

  Instruction candidate(Op op) {
    const OperationInfo& kinds = info(op);
    Instruction i;
    i.op = op;
    wide_ = coin();
    i.guard = coin() ? Pred{} : Pred::from(below(16));
    i.uniform = below(4) == 0;
    i.past_scratchpad = carries_past_scratchpad(op) && coin();
    if (op == Op::BRA) {
      i.subdivides = coin();
      i.yields = coin();
      i.target = below(kMaxPc + 1);
      i.reconvergence = coin() ? kNoReconvergence : below(kMaxPc + 1);
      return i;
    }
    i.immediate = coin();
    i.dst = kinds.dst == OperandKind::p ? static_cast<std::uint8_t>(coin() ? pred_pair(below(8)) : below(64))
                                        : register_or_default(is_store(op) ? OperandKind::x : kinds.dst);
    i.a = register_or_default(kinds.a);
    i.c = coin() ? register_or_default(kinds.c) : static_cast<std::uint8_t>(below(coin() ? 64 : 16));
    if (i.immediate) {
      i.imm = coin() ? random_() : below(30);
      if (below(4) == 0) i.imm = 0;
    } else {
      i.b = register_or_default(kinds.b);
      i.d = register_or_default(kinds.d);
      static constexpr std::uint32_t kMasks[] = {0, 1, 7, 15, 255, 1023, 0x3FFF};
      i.mods = random_() & kMasks[below(std::size(kMasks))];
      if (coin()) i.mods |= setp_mods(BoolOp::none, {}, false);
    }
    return canonical(i);
  }

  std::mt19937 random_;
  bool wide_ = false;  // the instruction may name registers that take a word of 16 bytes
};

}  // namespace heddle::isa::test
