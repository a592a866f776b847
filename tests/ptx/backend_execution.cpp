#include "backend_execution.hpp"

#include <array>

namespace heddle::ptx::test {

namespace {

using isa::Comparison;
using isa::Op;

std::uint64_t sign_extend(std::uint32_t value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(value)));
}

// Words of operand b when it is an immediate.
std::uint64_t immediate(Op op, std::uint32_t imm) {
  return isa::info(op).b == isa::OperandKind::w ? sign_extend(imm) : imm;
}

std::uint64_t evaluate(Op op, std::uint64_t a, std::uint64_t b, std::uint64_t c, bool predicate) {
  const auto a32 = static_cast<std::uint32_t>(a), b32 = static_cast<std::uint32_t>(b),
             c32 = static_cast<std::uint32_t>(c);
  switch (op) {
    case Op::MOV:
      return b32;
    case Op::MOV64:
      return b;
    case Op::SEL:
      return predicate ? a32 : b32;
    case Op::SEL64:
      return predicate ? a : b;
    case Op::S2R:
      return (b32 + 1) * 7;
    case Op::ADD:
      return a32 + b32;
    case Op::SUB:
      return a32 - b32;
    case Op::XOR:
      return a32 ^ b32;
    case Op::SHL:
      return b32 > 31 ? 0 : a32 << b32;
    case Op::MUL_LO:
      return a32 * b32;
    case Op::MAD_LO:
      return a32 * b32 + c32;
    case Op::BFI:  // no bit field here: four operands are what matters
      return a32 * 3 + b32 * 5 + c32 * 7;
    case Op::MUL_WIDE_U:
      return std::uint64_t{a32} * b32;
    case Op::MAD_WIDE_U:
      return std::uint64_t{a32} * b32 + c;
    case Op::ADD64:
      return a + b;
    case Op::SUB64:
      return a - b;
    case Op::SHL64:
      return b32 > 63 ? 0 : a << b32;
    case Op::MAD_LO64:
      return a * b + c;
    default:
      throw std::logic_error("operation " + std::string(isa::info(op).mnemonic) + " is not evaluated here");
  }
}

bool compare(Comparison comparison, std::uint32_t a, std::uint32_t b) {
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::lt:
      return a < b;
    default:
      return a >= b;
  }
}

bool combine(isa::BoolOp op, bool a, bool b) {
  switch (op) {
    case isa::BoolOp::and_:
      return a && b;
    case isa::BoolOp::or_:
      return a || b;
    case isa::BoolOp::xor_:
      return a != b;
    default:
      return a;
  }
}

// What memory holds where nothing was stored.
std::uint32_t initial_word(std::uint64_t address) {
  return static_cast<std::uint32_t>(address * 2654435761U + 12345);
}

struct Memory {
  std::map<std::uint32_t, std::uint32_t> words;
  std::uint32_t load(std::uint32_t address) const {
    const auto found = words.find(address);
    return found == words.end() ? initial_word(address) : found->second;
  }
};

class IrRunner {
 public:
  explicit IrRunner(const IrFunction& function)
      : function_(function), values_(function.registers.size()), written_(function.registers.size()) {}

  Trace run(std::size_t steps) {
    std::map<LabelId, std::size_t> labels;
    for (std::size_t i = 0; i < function_.items.size(); ++i) {
      if (function_.items[i].is_label) labels[function_.items[i].label] = i;
    }
    for (std::size_t at = 0; steps-- > 0;) {
      const IrBlockItem& item = function_.items.at(at++);
      if (item.is_label) continue;
      const IrInstruction& in = item.instruction;
      if (!holds(in.guard)) continue;
      if (in.op == Op::EXIT) {
        trace_.finished = true;
        break;
      }
      if (in.op == Op::BRA) {
        at = labels.at(in.target);
      } else {
        step(in);
      }
    }
    return trace_;
  }

 private:
  std::uint64_t get(VReg reg) const {
    if (reg == kNone) return 0;
    if (!written_[static_cast<std::size_t>(reg)])
      throw std::logic_error("the test program reads an unwritten register");
    return values_[static_cast<std::size_t>(reg)];
  }
  bool holds(VPred predicate) const { return (predicate.reg == kNone || get(predicate.reg) != 0) != predicate.negated; }
  void set(VReg reg, std::uint64_t value) {
    if (reg == kNone) return;
    written_[static_cast<std::size_t>(reg)] = true;
    values_[static_cast<std::size_t>(reg)] = value;
  }
  bool wide(VReg reg) const {
    return reg != kNone && function_.registers[static_cast<std::size_t>(reg)] == RegClass::pair;
  }

  void step(const IrInstruction& in) {
    if (in.op == Op::MOV64 && !in.elements.empty()) {
      return set(in.dst, get(in.elements[0]) | get(in.elements[1]) << 32U);
    }
    if (in.op == Op::MOV && in.dst == kNone) {
      const std::uint64_t value = get(in.a);
      set(in.elements[0], static_cast<std::uint32_t>(value));
      set(in.elements[1], value >> 32U);
      return;
    }
    if (isa::is_load(in.op) || isa::is_store(in.op)) return access(in);
    const std::uint64_t b = in.immediate ? immediate(in.op, in.imm) : get(in.b);
    if (in.op == Op::SETP_U32) {
      const auto op = static_cast<isa::BoolOp>(in.mods & 3U);
      const bool result = compare(static_cast<Comparison>(in.sub), static_cast<std::uint32_t>(get(in.a)),
                                  static_cast<std::uint32_t>(b));
      const bool with = holds(in.pa);
      set(in.p, combine(op, result, with));
      set(in.q, combine(op, !result, with));
      return;
    }
    if (in.op == Op::PLOP) {
      const bool result = combine(static_cast<isa::BoolOp>(in.mods >> 8U), holds(in.pa), holds(in.pb));
      set(in.p, result);
      set(in.q, !result);
      return;
    }
    std::uint64_t c = get(in.c);
    if (in.d != kNone) c += get(in.d) * 11;
    set(in.dst, evaluate(in.op, get(in.a), b, c, holds(in.pa)));
  }

  void access(const IrInstruction& in) {
    const auto address = static_cast<std::uint32_t>(get(in.a)) + in.imm;
    std::uint32_t at = address;
    if (isa::is_store(in.op)) trace_.stores.push_back(address);
    for (const VReg element : in.elements) {
      const unsigned words = wide(element) ? 2 : 1;
      if (isa::is_store(in.op)) {
        const std::uint64_t value = get(element);
        for (unsigned i = 0; i < words; ++i) {
          trace_.stores.push_back(static_cast<std::uint32_t>(value >> (32 * i)));
          memory_.words[at + 4 * i] = static_cast<std::uint32_t>(value >> (32 * i));
        }
      } else {
        std::uint64_t value = memory_.load(at);
        if (words == 2) value |= std::uint64_t{memory_.load(at + 4)} << 32U;
        set(element, value);
      }
      at += 4 * words;
    }
  }

  const IrFunction& function_;
  std::vector<std::uint64_t> values_;
  std::vector<bool> written_;
  Memory memory_;
  Trace trace_;
};

class MachineRunner {
 public:
  MachineRunner(const isa::Kernel& kernel, unsigned limit) : kernel_(kernel) {
    if (kernel.registers > limit) throw std::logic_error("more registers than allowed");
    for (unsigned i = 0; i < registers_.size(); ++i) registers_[i] = 0xDEAD0000U + i;
    for (unsigned i = 0; i < predicates_.size(); ++i) predicates_[i] = i % 2 == 0;
  }

  Trace run(std::size_t steps) {
    for (std::size_t pc = 0; steps-- > 0;) {
      const auto decoded = isa::decode(kernel_.words.at(pc++));
      if (!decoded) throw std::logic_error("machine code that does not decode");
      if (!holds(decoded->guard)) continue;
      if (decoded->op == Op::EXIT) {
        trace_.finished = true;
        break;
      }
      if (decoded->op == Op::BRA) {
        pc = decoded->target;
      } else if (decoded->op != Op::BSSY && decoded->op != Op::BSYNC) {
        step(*decoded);
      }
    }
    return trace_;
  }

 private:
  std::uint64_t get(unsigned reg, unsigned words) const {
    if (reg == isa::kRZ) return 0;
    if (reg + words > kernel_.registers) throw std::logic_error("register beyond the kernel's count");
    return words == 2 ? registers_[reg] | std::uint64_t{registers_[reg + 1]} << 32U : registers_[reg];
  }
  void set(unsigned reg, unsigned words, std::uint64_t value) {
    if (reg == isa::kRZ) return;
    if (reg + words > kernel_.registers) throw std::logic_error("register beyond the kernel's count");
    for (unsigned i = 0; i < words; ++i) registers_[reg + i] = static_cast<std::uint32_t>(value >> (32 * i));
  }
  bool holds(isa::Pred predicate) const {
    return (predicate.reg == isa::kPT || predicates_.at(predicate.reg)) != predicate.negated;
  }
  void set_predicate(unsigned reg, bool value) {
    if (reg == isa::kPT) return;
    if (reg >= kernel_.predicates) throw std::logic_error("predicate beyond the kernel's count");
    predicates_.at(reg) = value;
  }

  void step(const isa::Instruction& in) {
    if (isa::is_load(in.op) || isa::is_store(in.op)) return access(in);
    const std::uint64_t a = get(in.a, isa::a_registers(in));
    const std::uint64_t b = in.immediate ? immediate(in.op, in.imm) : get(in.b, isa::b_registers(in));
    if (in.op == Op::SETP_U32) {
      const bool result = compare(in.comparison(), static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
      const bool with = in.immediate || holds(in.setp_predicate());
      set_predicate(in.pred_p(), combine(in.setp_combine(), result, with));
      set_predicate(in.pred_q(), combine(in.setp_combine(), !result, with));
      return;
    }
    if (in.op == Op::PLOP) {
      const bool result = combine(in.plop_op(), holds(in.plop_a()), holds(in.plop_b()));
      set_predicate(in.pred_p(), result);
      set_predicate(in.pred_q(), !result);
      return;
    }
    std::uint64_t c = isa::c_registers(in) == 0 ? 0 : get(in.c, isa::c_registers(in));
    if (isa::d_registers(in) != 0 && in.d != isa::kRZ) c += get(in.d, 1) * 11;
    const bool predicate = in.op == Op::SEL || in.op == Op::SEL64 ? holds(in.sub_predicate()) : true;
    set(in.dst, isa::destination_registers(in), evaluate(in.op, a, b, c, predicate));
  }

  void access(const isa::Instruction& in) {
    const bool local = isa::space_of(in.op) == isa::Space::local;
    const auto address = static_cast<std::uint32_t>(get(in.a, 1)) + in.imm;
    const unsigned element = in.width() == isa::Width::b64 ? 2 : 1;
    const unsigned words = element * in.vector();
    if (local && (address % (4 * words) != 0 || address + 4 * words > kernel_.local_bytes)) {
      throw std::logic_error("local access outside the kernel's local memory, or misaligned");
    }
    if (in.dst != isa::kRZ && in.dst % words != 0) throw std::logic_error("misaligned registers");
    Memory& memory = local ? local_ : memory_;
    if (isa::is_store(in.op) && !local) trace_.stores.push_back(address);
    for (unsigned i = 0; i < words; ++i) {
      if (isa::is_store(in.op)) {
        const auto value = in.dst == isa::kRZ ? 0 : static_cast<std::uint32_t>(get(in.dst + i, 1));
        memory.words[address + 4 * i] = value;
        if (!local) trace_.stores.push_back(value);
      } else {
        set(in.dst + i, 1, memory.load(address + 4 * i));
      }
    }
  }

  const isa::Kernel& kernel_;
  std::array<std::uint32_t, isa::kRegisters> registers_{};
  std::array<bool, isa::kPredicates> predicates_{};
  Memory memory_, local_;
  Trace trace_;
};

}  // namespace

Trace run_ir(const IrFunction& function, std::size_t steps) {
  return IrRunner(function).run(steps);
}

Trace run_machine(const isa::Kernel& kernel, std::size_t steps, unsigned limit) {
  return MachineRunner(kernel, limit).run(steps);
}

}  // namespace heddle::ptx::test
