// The instruction word (layout: isa/instruction.hpp).
#include "isa/instruction.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "isa/instruction_fields.hpp"

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

// Of the second 8 bytes.
constexpr unsigned kWideBit = 63;
constexpr unsigned kDstHighShift = 0;
constexpr unsigned kAHighShift = 2;
constexpr unsigned kCHighShift = 4;
constexpr unsigned kBHighShift = 6;
constexpr unsigned kDHighShift = 8;
constexpr unsigned kControlBit = 62;
constexpr unsigned kWaitShift = 52;
constexpr unsigned kReadShift = 49;
constexpr unsigned kWriteShift = 46;
constexpr unsigned kYieldShift = 45;
constexpr unsigned kStallShift = 41;
constexpr unsigned kRegisterBits = 6;  // in the first 8
constexpr unsigned kNarrowRZ = 63;

constexpr std::uint64_t field(std::uint64_t value, unsigned shift) {
  return value << shift;
}

// The fields that name registers: visit(field, shift, shift of its high bits). The others of dst and c hold predicates
// and forms.
template <class Fields, class Visit>
void each_register(Fields& i, Visit visit) {
  if (info(i.op).dst != OperandKind::p) visit(i.dst, kDstShift, kDstHighShift);
  visit(i.a, kAShift, kAHighShift);
  if (const SubForm form = sub_form(i.op); form == SubForm::none || form == SubForm::reg) {
    visit(i.c, kCShift, kCHighShift);
  }
  if (!i.immediate) {
    visit(i.b, kBShift, kBHighShift);
    visit(i.d, kDShift, kDHighShift);
  }
}

bool fits_narrow(const Instruction& i) {
  bool fits = true;
  each_register(i, [&](std::uint8_t reg, unsigned, unsigned) { fits = fits && (reg == kRZ || reg < kNarrowRZ); });
  return fits;
}

std::uint64_t word_of(const ControlBits& control) {
  return control.there ? field(1, kControlBit) | field(control.wait, kWaitShift) | field(control.read, kReadShift) |
                             field(control.write, kWriteShift) | field(control.yield ? 1 : 0, kYieldShift) |
                             field(control.stall, kStallShift)
                       : 0;
}

ControlBits control_of(std::uint64_t high) {
  ControlBits control;
  if (((high >> kControlBit) & 1U) != 0) {
    const auto bits = [high](unsigned shift, unsigned count) {
      return static_cast<std::uint8_t>((high >> shift) & ((1U << count) - 1));
    };
    control = {true,
               bits(kYieldShift, 1) != 0,
               bits(kStallShift, 4),
               bits(kWriteShift, 3),
               bits(kReadShift, 3),
               bits(kWaitShift, ControlBits::kCounters)};
  }
  return control;
}

}  // namespace

std::string text_of(const InstructionWord& word) {
  return word.high == 0 ? fmt::format("{:016x}", word.low) : fmt::format("{:016x}{:016x}", word.high, word.low);
}

InstructionWord encode(const Instruction& instruction) {
  const Instruction i = canonical(instruction);
  if (const std::string_view reason = why_malformed(i); !reason.empty()) {
    const bool known = static_cast<unsigned>(i.op) < kOperations;
    throw InternalError(fmt::format("cannot encode {}: {}", known ? info(i.op).mnemonic : "an instruction", reason));
  }
  const std::uint64_t control = word_of(i.control) | (i.control.there ? field(1, kWideBit) : 0);
  std::uint64_t word = field(static_cast<std::uint64_t>(i.op), kOpShift) |
                       field(i.guard.reg | (i.guard.negated ? 8U : 0U), kGuardShift) |
                       field(i.uniform ? 1 : 0, kUniformBit);
  if (i.op == Op::BRA) {
    word |= field(i.subdivides ? 1 : 0, kSubdividesBit) | field(i.past_scratchpad ? 1 : 0, kBranchPastBit) |
            field(i.reconvergence, kReconvergenceShift) | field(i.yields ? 1 : 0, kYieldsBit) | i.target;
    return {word, control};
  }
  word |= field(i.past_scratchpad ? 1 : 0, kBarrierPastBit);
  word |= i.immediate ? field(1, kImmediateBit) | i.imm : i.mods;
  // What names no register stands in the first 8 bytes as it is.
  const bool narrow = control == 0 && fits_narrow(i);
  Instruction rest = i;
  std::uint64_t high = narrow ? 0 : control | field(1, kWideBit);
  each_register(rest, [&](std::uint8_t& reg, unsigned shift, unsigned high_shift) {
    word |= field(reg & ((1U << kRegisterBits) - 1), shift);  // RZ: all bits, in either form
    high |= narrow ? 0 : field(reg >> kRegisterBits, high_shift);
    reg = 0;
  });
  return {word | field(rest.dst, kDstShift) | field(rest.c, kCShift), high};
}

std::optional<Instruction> decode(const InstructionWord& from) {
  const std::uint64_t word = from.low;
  const unsigned op = static_cast<unsigned>(word >> kOpShift) & 255U;
  if (op >= kOperations) return std::nullopt;
  Instruction i;
  i.op = static_cast<Op>(op);
  i.guard = Pred::from(static_cast<unsigned>(word >> kGuardShift) & 15U);
  i.uniform = ((word >> kUniformBit) & 1U) != 0;
  i.control = control_of(from.high);
  if (i.op == Op::BRA) {
    i.subdivides = (word >> kSubdividesBit) != 0;
    i.past_scratchpad = ((word >> kBranchPastBit) & 1U) != 0;
    i.yields = ((word >> kYieldsBit) & 1U) != 0;
    i.target = static_cast<std::uint32_t>(word & kTargetMask);
    i.reconvergence = static_cast<std::uint32_t>((word >> kReconvergenceShift) & kReconvergenceMask);
  } else {
    if (carries_past_scratchpad(i.op)) std::swap(i.past_scratchpad, i.uniform);
    i.immediate = (word >> kImmediateBit) != 0;
    const auto six_bits = [word](unsigned shift) { return static_cast<std::uint8_t>((word >> shift) & kNarrowRZ); };
    i.dst = six_bits(kDstShift);
    i.c = six_bits(kCShift);
    each_register(i, [&](std::uint8_t& reg, unsigned shift, unsigned high_shift) {
      const unsigned low = six_bits(shift);
      const auto high = static_cast<unsigned>(from.high >> high_shift) & 3U;
      reg = static_cast<std::uint8_t>(from.high != 0 ? high << kRegisterBits | low : low == kNarrowRZ ? kRZ : low);
    });
    if (i.immediate) {
      i.imm = static_cast<std::uint32_t>(word);
    } else {
      i.mods = static_cast<std::uint32_t>(word & 0xFFFFFU);
    }
  }
  if (!why_malformed(i).empty()) return std::nullopt;
  // One word for an instruction: 16 bytes only where 8 do not do, and no other bits in them.
  if (from.high != 0 && encode(i) != from) return std::nullopt;
  return i;
}

}  // namespace heddle::isa
