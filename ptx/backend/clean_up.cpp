// Clean-ups that shrink the dynamic instruction count, as a GPU's own compiler would: constants into immediates, copies
// propagated, multiply and add fused, dead code removed. They rely on registers with one unguarded definition, which is
// what PTX of optimising compilers consists of but for the variables of loops.
#include <limits>
#include <optional>

#include "ptx/backend/machine_code.hpp"
#include "ptx/backend/single_definition.hpp"

namespace heddle::ptx::backend {

using isa::Op;

namespace {

bool takes_double(Op op) {
  return (op >= Op::DADD && op <= Op::DRSQRT) || op == Op::SETP_F64;
}

// a and b may be exchanged.
bool is_commutative(Op op) {
  switch (op) {
    case Op::ADD:
    case Op::ADD_SAT:
    case Op::MUL_LO:
    case Op::MUL_HI_S:
    case Op::MUL_HI_U:
    case Op::MUL_WIDE_S:
    case Op::MUL_WIDE_U:
    case Op::MAD_LO:
    case Op::MAD_HI_S:
    case Op::MAD_HI_U:
    case Op::MAD_WIDE_S:
    case Op::MAD_WIDE_U:
    case Op::MIN_S:
    case Op::MIN_U:
    case Op::MAX_S:
    case Op::MAX_U:
    case Op::AND:
    case Op::OR:
    case Op::XOR:
    case Op::ADD64:
    case Op::MUL_LO64:
    case Op::MAD_LO64:
    case Op::AND64:
    case Op::OR64:
    case Op::XOR64:
    case Op::FADD:
    case Op::FMUL:
    case Op::FFMA:
    case Op::DADD:
    case Op::DMUL:
    case Op::DFMA:
      return true;
    default:
      return false;
  }
}

bool may_take_immediate(const IrInstruction& in) {
  if (in.immediate || in.d != kNone || isa::is_load(in.op) || isa::is_store(in.op)) return false;
  if (isa::info(in.op).b != isa::OperandKind::r && isa::info(in.op).b != isa::OperandKind::w) return false;
  isa::Instruction form;
  form.op = in.op;
  form.mods = in.mods;
  // Predicate fields live in the modifiers, which the immediate form does not have (sel and vote have theirs in sub).
  const bool predicate_in_sub = in.op == Op::SEL || in.op == Op::SEL64 || isa::info(in.op).unit == isa::Unit::barrier ||
                                in.op == Op::BALLOT || isa::is_tree_traverse(in.op) ||
                                (in.op >= Op::VOTE_ALL && in.op <= Op::VOTE_UNI);
  if (!predicate_in_sub && (in.pa.reg != kNone || in.pa.negated || in.pb.reg != kNone || in.pb.negated)) return false;
  if (isa::info(in.op).dst != isa::OperandKind::p && in.p != kNone) return false;
  return isa::accepts_immediate(form);
}

// The immediate field that makes operand b of this value, if there is one.
std::optional<std::uint32_t> immediate_for(const IrInstruction& in, std::uint64_t value) {
  const auto low = static_cast<std::uint32_t>(value);
  if (isa::info(in.op).b == isa::OperandKind::r) return low;
  if (takes_double(in.op)) {
    if (low != 0) return std::nullopt;
    return static_cast<std::uint32_t>(value >> 32U);
  }
  const auto extended = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(low)));
  if (extended != value) return std::nullopt;
  return low;
}

class Propagator {
 public:
  explicit Propagator(MachineFunction& function) : function_(function), single_(function) {}

  bool run() {
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      for (std::size_t i = 0; i < function_.blocks[b].code.size(); ++i) {
        at_ = {static_cast<int>(b), i};
        MachineInstruction& instruction = function_.blocks[b].code[i];
        if (instruction.copy) {
          forward_copy(instruction);
        } else {
          forward_operands(instruction);
        }
      }
    }
    return changed_;
  }

 private:
  void forward_copy(MachineInstruction& copy) {
    if (copy.in.b == kNone) return;
    if (const auto value = single_.constant(copy.in.b, copy.src_word, copy.words)) {
      if (copy.words == 1) {
        copy.in.b = kNone;
        copy.src_word = 0;
        copy.in.imm = static_cast<std::uint32_t>(*value);
        changed_ = true;
      } else if (copy.words == 2 && function_.words(copy.in.dst) == 2) {
        MachineInstruction move;
        move.in = copy.in;
        move.in.op = Op::MOV64;
        move.in.b = kNone;
        if (const auto immediate = immediate_for(move.in, *value)) {
          move.in.immediate = true;
          move.in.imm = *immediate;
          copy = std::move(move);
          changed_ = true;
        }
      }
      return;
    }
    if (const auto source = single_.source(copy.in.b, copy.src_word, copy.words, at_)) {
      copy.in.b = source->reg;
      copy.src_word = static_cast<std::uint8_t>(source->word);
      changed_ = true;
    }
  }

  void forward_operands(MachineInstruction& instruction) {
    IrInstruction& in = instruction.in;
    const auto forward = [&](VReg& reg) {
      if (reg == kNone || function_.is_predicate(reg)) return;
      const auto source = single_.source(reg, 0, function_.words(reg), at_);
      if (!source || source->word != 0 || function_.words(source->reg) != function_.words(reg)) return;
      reg = source->reg;
      changed_ = true;
    };
    if (isa::is_store(in.op)) forward(in.dst);
    for (VReg* reg : {&in.a, &in.b, &in.c, &in.d}) forward(*reg);
    take_immediate(in);
    fold_address(in);
    use_zero_register(in);
    if ((in.op == Op::ADD || in.op == Op::ADD64) && in.immediate && in.imm == 0 && in.a != kNone) {
      instruction = make_copy(in.dst, 0, in.a, 0, function_.words(in.dst), in.guard, in.at);
      changed_ = true;
    }
    if ((in.op == Op::ADD || in.op == Op::ADD64) && in.immediate && in.a == kNone) make_constant(instruction);
  }

  // Zero and a constant.
  void make_constant(MachineInstruction& instruction) {
    IrInstruction& in = instruction.in;
    if (in.op == Op::ADD64) {
      in.op = Op::MOV64;
    } else {
      const std::uint32_t value = in.imm;
      instruction = make_copy(in.dst, 0, kNone, 0, 1, in.guard, in.at);
      instruction.in.imm = value;
    }
    changed_ = true;
  }

  std::optional<std::uint64_t> constant(VReg reg) const {
    if (reg == kNone || function_.is_predicate(reg)) return std::nullopt;
    return single_.constant(reg, 0, function_.words(reg));
  }

  void take_immediate(IrInstruction& in) {
    if (!may_take_immediate(in)) return;
    if (is_commutative(in.op) && constant(in.a) && !constant(in.b)) std::swap(in.a, in.b);
    const auto value = constant(in.b);
    if (!value) return;
    const auto immediate = immediate_for(in, *value);
    if (!immediate) return;
    in.b = kNone;
    in.immediate = true;
    in.imm = *immediate;
    changed_ = true;
  }

  // A fixed address goes into the offset, where it stays below the sign bit.
  void fold_address(IrInstruction& in) {
    if ((!isa::is_load(in.op) && !isa::is_store(in.op)) || isa::has_wide_address(in.op)) return;
    const auto base = constant(in.a);
    if (!base) return;
    const auto address = static_cast<std::int64_t>(*base) + static_cast<std::int32_t>(in.imm);
    if (address < 0 || address > std::numeric_limits<std::int32_t>::max()) return;
    in.a = kNone;
    in.imm = static_cast<std::uint32_t>(address);
    changed_ = true;
  }

  void use_zero_register(IrInstruction& in) {
    const auto zero = [&](VReg& reg) {
      if (constant(reg) != std::optional<std::uint64_t>(0)) return;
      reg = kNone;
      changed_ = true;
    };
    // A vector of registers cannot be RZ; neither is an address that the loads above did not fold.
    if (isa::is_store(in.op)) {
      if (in.dst != kNone && !function_.registers[static_cast<std::size_t>(in.dst)].temporary) zero(in.dst);
      return;
    }
    if (isa::is_load(in.op)) return;
    if (!isa::is_atomic(in.op) && !isa::is_accumulate(in.op)) zero(in.a);
    for (VReg* reg : {&in.b, &in.c, &in.d}) zero(*reg);
  }

  MachineFunction& function_;
  SingleDefinitions single_;
  CodePoint at_;
  bool changed_ = false;
};

// x = a * b (or a << n); y = x + c, where x is used nowhere else: y = a * b + c. `several`: or in sums alone.
class Fuser {
 public:
  Fuser(MachineFunction& function, bool several)
      : function_(function), several_(several), uses_(count_uses(function)), sums_(function.registers.size()) {
    for (const Block& block : function.blocks) {
      for (const MachineInstruction& instruction : block.code) {
        if (!adds_registers(instruction)) continue;
        for (const VReg reg : {instruction.in.a, instruction.in.b}) {
          if (reg != kNone) ++sums_[static_cast<std::size_t>(reg)];
        }
      }
    }
  }

  void run() {
    const SingleDefinitions single(function_);
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      std::vector<MachineInstruction>& code = function_.blocks[b].code;
      for (std::size_t i = 0; i < code.size(); ++i) {
        IrInstruction& add = code[i].in;
        if (!adds_registers(code[i])) continue;
        for (const bool first : {false, true}) {
          const VReg product = first ? add.a : add.b;
          if (product == kNone || add.a == add.b || !is_for_sums(product)) continue;
          const auto at = single.definition(product);
          if (!at || at->block != static_cast<int>(b) || at->index >= i) continue;
          if (fuse(code, at->index, i, first ? add.b : add.a)) break;
        }
      }
    }
  }

 private:
  static bool adds_registers(const MachineInstruction& instruction) {
    const IrInstruction& in = instruction.in;
    return !instruction.copy && (in.op == Op::ADD || in.op == Op::ADD64) && !in.immediate;
  }
  bool is_for_sums(VReg product) const {
    const auto at = static_cast<std::size_t>(product);
    return uses_[at] == 1 || (several_ && uses_[at] == sums_[at]);
  }

  bool fuse(std::vector<MachineInstruction>& code, std::size_t from, std::size_t to, VReg addend) const {
    const IrInstruction& product = code[from].in;
    if (code[from].copy) return false;
    Op op = Op::MAD_LO;
    std::uint32_t imm = product.imm;
    switch (product.op) {
      case Op::SHL:
        if (!product.immediate || product.imm > 31) return false;
        imm = 1U << product.imm;
        break;
      case Op::SHL64:
        if (!product.immediate || product.imm > 30) return false;
        imm = 1U << product.imm;
        op = Op::MAD_LO64;
        break;
      case Op::MUL_LO:
        break;
      case Op::MUL_LO64:
        op = Op::MAD_LO64;
        break;
      case Op::MUL_WIDE_S:
        op = Op::MAD_WIDE_S;
        break;
      case Op::MUL_WIDE_U:
        op = Op::MAD_WIDE_U;
        break;
      default:
        return false;
    }
    for (std::size_t i = from + 1; i < to; ++i) {
      bool overwritten = false;
      for_each_definition(function_, code[i], [&](VReg reg, unsigned, unsigned, unsigned) {
        overwritten |= reg == product.a || (!product.immediate && reg == product.b);
      });
      if (overwritten) return false;
    }
    IrInstruction& sum = code[to].in;
    sum.op = op;
    sum.a = product.a;
    sum.b = product.immediate ? kNone : product.b;
    sum.immediate = product.immediate;
    sum.imm = product.immediate ? imm : 0;
    sum.c = addend;
    return true;
  }

  MachineFunction& function_;
  bool several_;
  std::vector<unsigned> uses_, sums_;
};

}  // namespace

void remove_dead_code(MachineFunction& function) {
  struct Where {
    std::size_t block, index;
  };
  std::vector<std::vector<Where>> definitions(function.registers.size());
  std::vector<std::vector<bool>> needed(function.blocks.size());
  std::vector<bool> read(function.registers.size());
  std::vector<Where> work;
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    needed[b].resize(function.blocks[b].code.size());
    for (std::size_t i = 0; i < needed[b].size(); ++i) {
      const MachineInstruction& instruction = function.blocks[b].code[i];
      for_each_definition(function, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
        definitions[static_cast<std::size_t>(reg)].push_back({b, i});
      });
      if (!has_side_effect(instruction)) continue;
      needed[b][i] = true;
      work.push_back({b, i});
    }
  }
  while (!work.empty()) {
    const Where at = work.back();
    work.pop_back();
    for_each_use(function, function.blocks[at.block].code[at.index], [&](VReg reg, unsigned, unsigned) {
      if (read[static_cast<std::size_t>(reg)]) return;
      read[static_cast<std::size_t>(reg)] = true;
      for (const Where& definition : definitions[static_cast<std::size_t>(reg)]) {
        if (needed[definition.block][definition.index]) continue;
        needed[definition.block][definition.index] = true;
        work.push_back(definition);
      }
    });
  }
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    std::vector<MachineInstruction> kept;
    for (std::size_t i = 0; i < needed[b].size(); ++i) {
      if (!needed[b][i]) continue;
      MachineInstruction& instruction = function.blocks[b].code[i];
      // Results that no instruction reads: an atomic becomes a reduction.
      const auto drop = [&](VReg& reg) {
        if (reg != kNone && !read[static_cast<std::size_t>(reg)]) reg = kNone;
      };
      if (!instruction.copy && !isa::is_store(instruction.in.op) && !isa::is_load(instruction.in.op)) {
        drop(instruction.in.dst);
        drop(instruction.in.p);
        drop(instruction.in.q);
      }
      kept.push_back(std::move(instruction));
    }
    function.blocks[b].code = std::move(kept);
  }
}

namespace {

void propagate(MachineFunction& function) {
  // Every round can only make chains of copies shorter; what a few rounds leave, coalescing handles.
  for (int round = 0; round < 4; ++round) {
    const bool forwarded = forward_predicates(function);
    const bool changed = Propagator(function).run() || forwarded;
    remove_dead_code(function);
    if (!changed) break;
  }
}

}  // namespace

void clean_up(MachineFunction& function) {
  propagate(function);
  combine_constants(function);
  propagate(function);
  Fuser(function, false).run();
  remove_dead_code(function);
}

void fuse_sums(MachineFunction& function) {
  Fuser(function, true).run();
  remove_dead_code(function);
}

}  // namespace heddle::ptx::backend
