// The instruction word (layout: isa/instruction.hpp).
#include "isa/instruction.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"

namespace heddle::isa {

namespace {

constexpr unsigned kImmediateBit = 63;
constexpr unsigned kSubdividesBit = kImmediateBit;  // of bra, which has no immediate
constexpr unsigned kUniformBit = 62;
constexpr unsigned kBarrierPastBit = kUniformBit;  // a barrier is never uniform
constexpr unsigned kBranchPastBit = 49;
constexpr unsigned kOpShift = 54;
static_assert(kOperations <= 1U << (kUniformBit - kOpShift));
constexpr unsigned kGuardShift = 50;
constexpr unsigned kDstShift = 44;
constexpr unsigned kAShift = 38;
constexpr unsigned kCShift = 32;
constexpr unsigned kBShift = 26;
constexpr unsigned kDShift = 20;
constexpr unsigned kReconvergenceShift = 25;
constexpr unsigned kYieldsBit = 24;
constexpr std::uint64_t kTargetMask = (1U << kYieldsBit) - 1;
constexpr std::uint64_t kReconvergenceMask = (1U << (kBranchPastBit - kReconvergenceShift)) - 1;
static_assert(kNoReconvergence == kReconvergenceMask && kMaxPc < kTargetMask);

constexpr std::uint64_t field(std::uint64_t value, unsigned shift) {
  return value << shift;
}
constexpr std::uint8_t register_at(std::uint64_t word, unsigned shift) {
  return static_cast<std::uint8_t>((word >> shift) & 63U);
}

}  // namespace

std::uint64_t encode(const Instruction& instruction) {
  const Instruction i = canonical(instruction);
  if (const std::string_view reason = why_malformed(i); !reason.empty()) {
    const bool known = static_cast<unsigned>(i.op) < kOperations;
    throw InternalError(fmt::format("cannot encode {}: {}", known ? info(i.op).mnemonic : "an instruction", reason));
  }
  std::uint64_t word = field(static_cast<std::uint64_t>(i.op), kOpShift) |
                       field(i.guard.reg | (i.guard.negated ? 8U : 0U), kGuardShift) |
                       field(i.uniform ? 1 : 0, kUniformBit);
  if (i.op == Op::BRA) {
    return word | field(i.subdivides ? 1 : 0, kSubdividesBit) | field(i.past_scratchpad ? 1 : 0, kBranchPastBit) |
           field(i.reconvergence, kReconvergenceShift) | field(i.yields ? 1 : 0, kYieldsBit) | i.target;
  }
  word |= field(i.past_scratchpad ? 1 : 0, kBarrierPastBit);
  word |= field(i.dst, kDstShift) | field(i.a, kAShift) | field(i.c, kCShift);
  if (i.immediate) return word | field(1, kImmediateBit) | i.imm;
  return word | field(i.b, kBShift) | field(i.d, kDShift) | i.mods;
}

std::optional<Instruction> decode(std::uint64_t word) {
  const unsigned op = static_cast<unsigned>(word >> kOpShift) & 255U;
  if (op >= kOperations) return std::nullopt;
  Instruction i;
  i.op = static_cast<Op>(op);
  i.guard = Pred::from(static_cast<unsigned>(word >> kGuardShift) & 15U);
  i.uniform = ((word >> kUniformBit) & 1U) != 0;
  if (i.op == Op::BRA) {
    i.subdivides = (word >> kSubdividesBit) != 0;
    i.past_scratchpad = ((word >> kBranchPastBit) & 1U) != 0;
    i.yields = ((word >> kYieldsBit) & 1U) != 0;
    i.target = static_cast<std::uint32_t>(word & kTargetMask);
    i.reconvergence = static_cast<std::uint32_t>((word >> kReconvergenceShift) & kReconvergenceMask);
  } else {
    if (carries_past_scratchpad(i.op)) std::swap(i.past_scratchpad, i.uniform);
    i.immediate = (word >> kImmediateBit) != 0;
    i.dst = register_at(word, kDstShift);
    i.a = register_at(word, kAShift);
    i.c = register_at(word, kCShift);
    if (i.immediate) {
      i.imm = static_cast<std::uint32_t>(word);
    } else {
      i.b = register_at(word, kBShift);
      i.d = register_at(word, kDShift);
      i.mods = static_cast<std::uint32_t>(word & 0xFFFFFU);
    }
  }
  if (!why_malformed(i).empty()) return std::nullopt;
  return i;
}

}  // namespace heddle::isa
