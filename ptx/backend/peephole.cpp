// Peephole optimisations, as the compilers of today's GPUs do them: what shows when code has been unrolled and
// predicated. Values of one register within a block first get registers of their own: of what an unrolled loop shifts
// on and on, each value can then be had from the first one.
#include <map>
#include <optional>
#include <vector>

#include "ptx/backend/loop_body.hpp"
#include "ptx/backend/machine_code.hpp"
#include "ptx/backend/single_definition.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

// Each value that a block gives a register of one word has a name of its own, but for the one that is live behind the
// block. Where a guarded instruction writes the register, it keeps the name that it had.
class Renamer {
 public:
  explicit Renamer(MachineFunction& function) : function_(function), live_(function) {}

  void run() {
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) rename(b);
  }

 private:
  // The register of which the instruction begins a value; kNone: none.
  VReg begun(const MachineInstruction& instruction) const {
    const IrInstruction& in = instruction.in;
    if (guarded(instruction) || in.dst == kNone || (!instruction.copy && isa::is_store(in.op))) return kNone;
    return function_.words(in.dst) == 1 && !function_.is_predicate(in.dst) ? in.dst : kNone;
  }

  void rename(std::size_t b) {
    std::map<VReg, unsigned> values;
    for (const MachineInstruction& instruction : function_.blocks[b].code) {
      if (const VReg reg = begun(instruction); reg != kNone) ++values[reg];
    }
    for (auto value = values.begin(); value != values.end();) {
      // What is not live behind the block has no value that keeps the name.
      if (!live_.words.is_live_out(b, live_.general.base(value->first))) ++value->second;
      value = value->second < 2 ? values.erase(value) : std::next(value);
    }
    if (values.empty()) return;
    std::map<VReg, VReg> names;
    const auto name = [&](VReg& reg) {
      if (const auto found = names.find(reg); found != names.end()) reg = found->second;
    };
    for (MachineInstruction& instruction : function_.blocks[b].code) {
      for_each_use_field(instruction, name);
      if (instruction.in.dst == kNone || (!instruction.copy && isa::is_store(instruction.in.op))) continue;
      const VReg reg = begun(instruction);
      const auto value = reg == kNone ? values.end() : values.find(reg);
      if (value != values.end()) {
        names.erase(reg);
        if (--value->second != 0) names[reg] = function_.make_like(reg);
      }
      name(instruction.in.dst);
    }
  }

  MachineFunction& function_;
  LiveEverywhere live_;
};

// Masks and extensions of values that have no other bits; and fields of known place and length as a shift and a mask,
// of which one may be there already, or is joined with what follows.
class BitNarrower {
 public:
  explicit BitNarrower(MachineFunction& function) : function_(function), single_(function) {}

  void run() {
    rewrite_code(function_, [&](const CodePoint&, const MachineInstruction& instruction,
                                std::vector<MachineInstruction>& code) { narrow(instruction, code); });
  }

 private:
  static constexpr unsigned kFar = 6;  // operations that are looked back upon

  void narrow(const MachineInstruction& instruction, std::vector<MachineInstruction>& code) {
    const IrInstruction& in = instruction.in;
    const auto copy_of = [&](VReg reg) { code.push_back(make_copy(in.dst, 0, reg, 0, 1, in.guard, in.at)); };
    if (instruction.copy) {
      code.push_back(instruction);
    } else if (in.op == Op::AND && in.immediate && (possible(in.a) & ~in.imm) == 0) {
      copy_of(in.a);
    } else if (const std::uint32_t kept = extended(in); kept != 0 && (possible(in.b) & ~kept) == 0) {
      copy_of(in.b);
    } else if (!take_apart(instruction, code)) {
      code.push_back(instruction);
    }
  }

  // The bits that a conversion of a narrow unsigned number leaves; 0: it is none.
  static std::uint32_t extended(const IrInstruction& in) {
    if (in.op != Op::CVT || in.b == kNone) return 0;
    for (const isa::Type to : {isa::Type::u32, isa::Type::s32}) {
      if (in.mods == isa::cvt_mods(to, isa::Type::u8, isa::Rounding::none, false, false)) return 0xFF;
      if (in.mods == isa::cvt_mods(to, isa::Type::u16, isa::Rounding::none, false, false)) return 0xFFFF;
    }
    return 0;
  }

  // bfe.u32 of a known field.
  bool take_apart(const MachineInstruction& instruction, std::vector<MachineInstruction>& code) {
    const IrInstruction& in = instruction.in;
    if (in.op != Op::BFE_U || in.a == kNone) return false;
    const auto from = in.immediate ? std::optional<std::uint64_t>(in.imm) : constant(in.b);
    const auto length = constant(in.c);
    if (!from || !length || *from > 31 || *length == 0 || *length > 32 - *from) return false;
    VReg value = in.a;
    if (*from != 0) {
      MachineInstruction& shift = code.emplace_back(instruction);
      shift.in.op = Op::SHR_U;
      make_immediate(shift.in, static_cast<std::uint32_t>(*from));
      if (*from + *length == 32) return true;
      shift.in.guard = {};
      shift.begins_range = false;
      shift.in.dst = value = function_.make(1);
    }
    MachineInstruction& mask = code.emplace_back(instruction);
    mask.in.op = Op::AND;
    mask.in.a = value;
    make_immediate(mask.in, *length == 32 ? ~std::uint32_t{0} : (1U << *length) - 1);
    return true;
  }
  static void make_immediate(IrInstruction& in, std::uint32_t value) {
    in.b = in.c = kNone;
    in.immediate = true;
    in.imm = value;
  }

  std::optional<std::uint64_t> constant(VReg reg) const {
    if (reg == kNone) return 0;
    return function_.is_predicate(reg) ? std::nullopt : single_.constant(reg, 0, 1);
  }

  // The bits that may be set in a register of one word, wherever it has a value.
  std::uint32_t possible(VReg reg, unsigned far = 0) const {
    constexpr std::uint32_t kAny = ~std::uint32_t{0};
    if (reg == kNone) return 0;
    if (function_.is_predicate(reg) || function_.words(reg) != 1 || far == kFar) return kAny;
    const std::optional<CodePoint> made = single_.definition(reg);
    if (!made) return kAny;
    const MachineInstruction& instruction = function_.blocks[static_cast<std::size_t>(made->block)].code[made->index];
    const IrInstruction& in = instruction.in;
    if (instruction.copy) return in.b == kNone ? in.imm : kAny;
    const auto of = [&](VReg source) { return possible(source, far + 1); };
    const auto of_b = [&] { return in.immediate ? in.imm : of(in.b); };
    if (isa::is_load(in.op)) {
      const auto width = static_cast<isa::Width>(in.sub & 7U);
      return width == isa::Width::u8 ? 0xFF : width == isa::Width::u16 ? 0xFFFF : kAny;
    }
    if (const std::uint32_t kept = extended(in); kept != 0) return kept & of(in.b);
    switch (in.op) {
      case Op::AND:
        return of(in.a) & of_b();
      case Op::OR:
      case Op::XOR:
      case Op::SEL:
        return of(in.a) | of_b();
      case Op::SHR_U:
        return in.immediate && in.imm < 32 ? of(in.a) >> in.imm : kAny;
      case Op::SHL:
        return in.immediate && in.imm < 32 ? of(in.a) << in.imm : kAny;
      default:
        return kAny;
    }
  }

  MachineFunction& function_;
  SingleDefinitions single_;
};

}  // namespace

void optimise_peepholes(MachineFunction& function) {
  Renamer(function).run();
  narrow_sums(function);
  narrow_words(function);
  clean_up(function);
  BitNarrower(function).run();
  clean_up(function);
  fuse_sums(function);
  join_logic(function);
}

}  // namespace heddle::ptx::backend
