// Bitwise operations of up to three values as one (LOP3), and comparisons that find out whether some bits of a value
// are set as one (setp.any). ptxas 13.0 was seen to do both for sm_75 to sm_90; bits that a shift has brought down are
// tested where they were, which NVIDIA's front end does.
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "ptx/backend/machine_code.hpp"
#include "ptx/backend/single_definition.hpp"

namespace heddle::ptx::backend {

using isa::Comparison;
using isa::Op;

namespace {

// What a bitwise operation of up to three registers gives for each combination of their bits, as LOP3 has it: the bit
// of the first source counts 4 in the place of a result, that of the second 2, that of the third 1.
struct Logic {
  std::vector<VReg> sources;
  unsigned table = 0;
};

constexpr std::array<unsigned, 3> kColumns = {0xF0, 0xCC, 0xAA};

std::optional<Logic> logic_of(const MachineInstruction& instruction) {
  const IrInstruction& in = instruction.in;
  if (instruction.copy || in.immediate) return std::nullopt;
  const auto [a, b, c] = kColumns;
  switch (in.op) {
    case Op::AND:
      return Logic{{in.a, in.b}, a & b};
    case Op::OR:
      return Logic{{in.a, in.b}, a | b};
    case Op::XOR:
      return Logic{{in.a, in.b}, a ^ b};
    case Op::NOT:
      return Logic{{in.b}, ~a & 0xFFU};
    case Op::LOP3:
      return Logic{{in.a, in.b, in.c}, in.mods};
    default:
      return std::nullopt;
  }
}

// One of the outer operation's sources is what the inner one gives: one operation, where no more than three are left.
std::optional<Logic> joined(const Logic& outer, VReg inner_result, const Logic& inner) {
  Logic both;
  const auto add = [&](VReg reg) {
    for (const VReg there : both.sources) {
      if (there == reg) return;
    }
    both.sources.push_back(reg);
  };
  for (const VReg reg : outer.sources) {
    if (reg != inner_result) add(reg);
  }
  for (const VReg reg : inner.sources) add(reg);
  if (both.sources.size() > kColumns.size()) return std::nullopt;
  const auto value = [&](const Logic& logic, auto bit_of) {
    unsigned place = 0;
    for (std::size_t i = 0; i < logic.sources.size(); ++i) place |= (bit_of(logic.sources[i]) ? 4U : 0U) >> i;
    return (logic.table >> place & 1U) != 0;
  };
  for (unsigned place = 0; place < 8; ++place) {
    const auto bit = [&](VReg reg) {
      for (std::size_t i = 0; i < both.sources.size(); ++i) {
        if (both.sources[i] == reg) return (place & 4U >> i) != 0;
      }
      return false;
    };
    const bool part = value(inner, bit);
    const bool all = value(outer, [&](VReg reg) { return reg == inner_result ? part : bit(reg); });
    both.table |= (all ? 1U : 0U) << place;
  }
  return both;
}

class LogicJoiner {
 public:
  explicit LogicJoiner(MachineFunction& function)
      : function_(function), single_(function), uses_(count_uses(function)) {}

  void run() {
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      for (std::size_t i = 0; i < function_.blocks[b].code.size(); ++i) {
        at_ = {static_cast<int>(b), i};
        MachineInstruction& instruction = function_.blocks[b].code[i];
        if (instruction.copy) continue;
        shift_further(instruction.in);
        test_bits(instruction.in);
        while (join(instruction)) {
        }
      }
    }
  }

 private:
  // (x >> 3) >> 1: x >> 4, and what made x >> 3 may not be needed any more.
  void shift_further(IrInstruction& in) {
    if (in.op != Op::SHR_U || !in.immediate) return;
    const IrInstruction* const inner = single_.with_immediate(in.a, at_);
    if (inner == nullptr || inner->op != Op::SHR_U || in.imm > 31 || inner->imm > 31 - in.imm) return;
    in.imm += inner->imm;
    in.a = inner->a;
  }

  // x & bits, compared with none of them, or of a single one with it.
  void test_bits(IrInstruction& in) {
    const bool words = in.op == Op::SETP_S32 || in.op == Op::SETP_U32;
    const auto comparison = static_cast<Comparison>(in.sub);
    if (!words || in.mods != 0 || (comparison != Comparison::eq && comparison != Comparison::ne)) return;
    if (!in.immediate && in.b != kNone) return;
    const std::uint32_t with = in.immediate ? in.imm : 0;
    const IrInstruction* const masked = single_.with_immediate(in.a, at_);
    if (masked == nullptr || masked->op != Op::AND) return;
    const bool none = with == 0;
    if (!none && (with != masked->imm || !std::has_single_bit(with))) return;
    VReg source = masked->a;
    std::uint32_t mask = masked->imm;
    const IrInstruction* const shifted = single_.with_immediate(source, at_);
    if (shifted != nullptr && shifted->op == Op::SHR_U && shifted->imm <= 31 &&
        mask << shifted->imm >> shifted->imm == mask) {
      source = shifted->a;
      mask <<= shifted->imm;
    }
    if (none == (comparison == Comparison::eq)) std::swap(in.p, in.q);
    in.op = Op::SETP_U32;
    in.sub = static_cast<std::uint8_t>(Comparison::any);
    in.a = source;
    in.b = kNone;
    in.immediate = true;
    in.imm = mask;
  }

  bool join(MachineInstruction& instruction) {
    const std::optional<Logic> outer = logic_of(instruction);
    if (!outer) return false;
    for (const VReg reg : outer->sources) {
      if (reg == kNone || uses_[static_cast<std::size_t>(reg)] != 1) continue;
      const auto made = single_.definition(reg);
      if (!made || !single_.before(*made, at_)) continue;
      const std::optional<Logic> inner =
          logic_of(function_.blocks[static_cast<std::size_t>(made->block)].code[made->index]);
      if (!inner || !stay(*inner, *made)) continue;
      const std::optional<Logic> both = joined(*outer, reg, *inner);
      if (!both) continue;
      for (const VReg source : inner->sources) {
        if (source != kNone) ++uses_[static_cast<std::size_t>(source)];
      }
      IrInstruction& in = instruction.in;
      in.op = Op::LOP3;
      in.mods = both->table;
      VReg* const fields[] = {&in.a, &in.b, &in.c};
      for (std::size_t i = 0; i < kColumns.size(); ++i)
        *fields[i] = i < both->sources.size() ? both->sources[i] : kNone;
      return true;
    }
    return false;
  }

  // The sources have the same values when the result is used as when it was made.
  bool stay(const Logic& inner, const CodePoint& made) const {
    for (const VReg reg : inner.sources) {
      const auto source = reg == kNone ? std::nullopt : single_.definition(reg);
      if (reg != kNone && (!source || !single_.before(*source, made))) return false;
    }
    return true;
  }

  MachineFunction& function_;
  SingleDefinitions single_;
  std::vector<unsigned> uses_;
  CodePoint at_;
};

}  // namespace

void join_logic(MachineFunction& function) {
  LogicJoiner(function).run();
  remove_dead_code(function);
}

}  // namespace heddle::ptx::backend
