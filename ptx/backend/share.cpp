// Values that are computed a second time, which copies of a loop's body do with all that its counter has no part in;
// and the constants in addresses, which have one in each copy: they go into the offsets of the accesses, so that the
// rest of the address is one value.
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/backend/machine_code.hpp"
#include "ptx/backend/single_definition.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

class Sharer {
 public:
  explicit Sharer(MachineFunction& function) : function_(function), single_(function) {}

  void run() {
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      for (std::size_t i = 0; i < function_.blocks[b].code.size(); ++i) {
        share(function_.blocks[b].code[i], {static_cast<int>(b), i});
      }
    }
  }

 private:
  using Key = std::tuple<Op, std::vector<VReg>, std::vector<bool>, bool, std::uint32_t, std::uint8_t, std::uint32_t>;
  struct Value {
    CodePoint at;
    VReg reg;
  };

  // Whether it is one value wherever the present instruction may stand.
  bool is_fixed(VReg reg, const CodePoint& use) const {
    if (reg == kNone) return true;
    const std::optional<CodePoint> made = single_.definition(reg);
    return made && single_.before(*made, use);
  }

  void share(MachineInstruction& instruction, const CodePoint& at) {
    const IrInstruction& in = instruction.in;
    if (instruction.copy || has_side_effect(instruction)) return;
    const isa::Unit unit = isa::info(in.op).unit;
    if (unit != isa::Unit::alu && unit != isa::Unit::complex) return;
    if (in.op == Op::MOV || in.op == Op::MOV64 || in.op == Op::S2R || in.op == Op::S2R64) return;
    const bool predicate = in.p != kNone;
    const VReg result = predicate ? in.p : in.dst;
    // A single definition has no guard.
    if (result == kNone || predicate == (in.dst != kNone) || in.q != kNone || !single_.definition(result)) return;
    std::vector<VReg> operands{in.a, in.b, in.c, in.d, in.pa.reg, in.pb.reg};
    for (VReg& reg : operands) {
      if (!is_fixed(reg, at)) return;
      if (const auto same = same_.find(reg); same != same_.end()) reg = same->second;
    }
    std::vector<Value>& values =
        values_[{in.op, operands, {in.pa.negated, in.pb.negated}, in.immediate, in.imm, in.sub, in.mods}];
    for (const Value& value : values) {
      if (!single_.before(value.at, at)) continue;
      instruction = predicate ? make_predicate(result, {value.reg, false}, {}, in.at)
                              : make_copy(result, 0, value.reg, 0, function_.words(result), {}, in.at);
      same_[result] = value.reg;
      return;
    }
    values.push_back({at, result});
  }

  MachineFunction& function_;
  const SingleDefinitions single_;
  std::map<Key, std::vector<Value>> values_;
  std::map<VReg, VReg> same_;  // registers that have become copies of others
};

class OffsetFinder {
 public:
  explicit OffsetFinder(MachineFunction& function)
      : function_(function), single_(function), uses_(count_uses(function)), address_uses_(function.registers.size()) {}

  void run() {
    for (const Block& block : function_.blocks) {
      for (const MachineInstruction& instruction : block.code) {
        if (const VReg reg = address_of(instruction); reg != kNone) ++address_uses_[static_cast<std::size_t>(reg)];
      }
    }
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      for (std::size_t i = 0; i < function_.blocks[b].code.size(); ++i) {
        MachineInstruction& instruction = function_.blocks[b].code[i];
        if (address_of(instruction) != kNone) move_offset(instruction.in, {static_cast<int>(b), i});
      }
    }
    if (more_.empty()) return;
    rewrite_code(function_, [this](const CodePoint& at, const MachineInstruction& instruction,
                                   std::vector<MachineInstruction>& code) {
      code.push_back(instruction);
      const auto more = more_.find({at.block, at.index});
      if (more == more_.end()) return;
      for (const MachineInstruction& one : more->second) code.push_back(one);
    });
  }

 private:
  static constexpr unsigned kFar = 8;  // operations that are looked back upon

  static VReg address_of(const MachineInstruction& instruction) {
    const IrInstruction& in = instruction.in;
    return !instruction.copy && (isa::is_load(in.op) || isa::is_store(in.op)) ? in.a : kNone;
  }
  static std::int64_t signed_value(std::uint32_t imm) { return static_cast<std::int32_t>(imm); }

  void move_offset(IrInstruction& in, const CodePoint& at) {
    const auto number = static_cast<std::size_t>(in.a);
    if (uses_[number] != address_uses_[number]) return;  // otherwise both would have to be kept
    // The value of an earlier round may come here; what it was made of has that of this round then.
    const std::optional<CodePoint> made = single_.definition(in.a);
    if (!made || !single_.before(*made, at)) return;
    auto found = splits_.find(in.a);
    if (found == splits_.end()) found = splits_.emplace(in.a, split(in.a, at, 0)).first;
    const Split& split = found->second;
    const std::int64_t all = wrapped(in.a, static_cast<std::int64_t>(split.offset)) + signed_value(in.imm);
    if (split.offset == 0 || (function_.words(in.a) == 2 && !fits_immediate(all))) return;
    in.a = split.rest;
    in.imm = static_cast<std::uint32_t>(all);
  }
  [[nodiscard]] std::int64_t wrapped(VReg reg, std::int64_t value) const {
    return function_.words(reg) == 2 ? value : static_cast<std::int32_t>(value);
  }

  // What makes the register, if the value of what it is made of is the same at the point of use.
  const IrInstruction* maker(VReg reg, const CodePoint& use) const {
    if (reg == kNone || function_.is_predicate(reg)) return nullptr;
    const std::optional<CodePoint> made = single_.definition(reg);
    if (!made || !single_.before(*made, use)) return nullptr;
    const MachineInstruction& instruction = function_.blocks[static_cast<std::size_t>(made->block)].code[made->index];
    if (instruction.copy) return nullptr;
    for (const VReg operand : {instruction.in.a, instruction.in.b, instruction.in.c}) {
      if (operand == kNone) continue;
      const std::optional<CodePoint> source = single_.definition(operand);
      if (!source || !single_.before(*source, *made)) return nullptr;
    }
    return &instruction.in;
  }

  // A register is `rest` + `offset`, modulo 2^32 or 2^64.
  struct Split {
    VReg rest = kNone;
    std::uint64_t offset = 0;
  };
  Split split(VReg reg, const CodePoint& use, unsigned far) {
    const IrInstruction* const in = far == kFar ? nullptr : maker(reg, use);
    if (in == nullptr || in->a == kNone) return {reg, 0};
    const CodePoint at = *single_.definition(reg);
    const bool sum = in->op == Op::ADD || in->op == Op::ADD64;
    if (sum && in->immediate) {
      const Split a = split(in->a, at, far + 1);
      return {a.rest, a.offset + static_cast<std::uint64_t>(signed_value(in->imm))};
    }
    // What is made for something else, too, is not made a second time.
    if (far != 0 && uses_[static_cast<std::size_t>(reg)] != 1) return {reg, 0};
    const bool adds = in->op == Op::MAD_LO || in->op == Op::MAD_LO64;
    const bool multiplies = adds || in->op == Op::MUL_LO || in->op == Op::MUL_LO64;
    const bool shifts = (in->op == Op::SHL || in->op == Op::SHL64) && in->immediate && in->imm < 32;
    if (!sum && !multiplies && !shifts) return {reg, 0};
    const std::uint64_t factor = sum                           ? 1
                                 : shifts                      ? std::uint64_t{1} << in->imm
                                 : multiplies && in->immediate ? static_cast<std::uint64_t>(signed_value(in->imm))
                                                               : 0;
    MachineInstruction rest;
    rest.in = *in;
    std::uint64_t offset = 0;
    const auto take = [&](VReg& part, std::uint64_t times) {
      if (part == kNone || times == 0) return;
      const Split one = split(part, at, far + 1);
      part = one.rest;
      offset += one.offset * times;
    };
    take(rest.in.a, factor);
    if (sum) take(rest.in.b, 1);
    if (adds) take(rest.in.c, 1);
    if (offset == 0) return {reg, 0};
    rest.in.dst = function_.make(function_.words(reg));
    more_[{at.block, at.index}].push_back(rest);
    return {rest.in.dst, offset};
  }

  MachineFunction& function_;
  const SingleDefinitions single_;
  const std::vector<unsigned> uses_;
  std::vector<unsigned> address_uses_;
  std::map<VReg, Split> splits_;                                                 // of addresses
  std::map<std::pair<int, std::size_t>, std::vector<MachineInstruction>> more_;  // behind the instruction there
};

}  // namespace

void share_values(MachineFunction& function) {
  OffsetFinder(function).run();
  Sharer(function).run();
}

}  // namespace heddle::ptx::backend
