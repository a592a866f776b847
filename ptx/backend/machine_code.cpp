#include "ptx/backend/machine_code.hpp"

#include <map>

#include "base/error.hpp"
#include "isa/instruction_fields.hpp"

namespace heddle::ptx::backend {

using isa::Op;

VReg MachineFunction::make(unsigned words, bool predicate, bool temporary) {
  registers.push_back({static_cast<std::uint8_t>(words), predicate, temporary, false});
  return static_cast<VReg>(registers.size() - 1);
}

VReg MachineFunction::make_like(VReg reg) {
  const Register like = registers[static_cast<std::size_t>(reg)];
  registers.push_back(like);
  return static_cast<VReg>(registers.size() - 1);
}

bool has_side_effect(const MachineInstruction& instruction) {
  if (instruction.copy) return false;
  const Op op = instruction.in.op;
  switch (op) {
    case Op::BRA:
    case Op::EXIT:
    case Op::TRAP:
    case Op::WARP_SYNC:
    case Op::PRINT:
    case Op::PROGRESS:
    case Op::MEMBAR:
    case Op::BAR_SYNC:
    case Op::BAR_ARRIVE:
    case Op::BAR_RED_POPC:
    case Op::BAR_RED_AND:
    case Op::BAR_RED_OR:
    case Op::BAR_GRID:
      return true;
    case Op::NOP:
      return false;
    default:
      return isa::is_store(op) || isa::is_atomic(op) || isa::is_accumulate(op) || isa::is_volatile(op) ||
             isa::is_heap(op) || isa::info(op).unit == isa::Unit::barrier;
  }
}

bool divides(const MachineInstruction& instruction) {
  if (instruction.copy) return false;
  switch (instruction.in.op) {
    case Op::FDIV:
    case Op::FRCP:
    case Op::FSQRT:
    case Op::DDIV:
    case Op::DRCP:
    case Op::DSQRT:
    case Op::DRSQRT:
      return (instruction.in.mods & isa::kFtzBit) == 0 || (instruction.in.mods & isa::kApproximateBit) == 0;
    default:
      return false;
  }
}

std::vector<unsigned> count_uses(const MachineFunction& function) {
  std::vector<unsigned> uses(function.registers.size());
  for (const Block& block : function.blocks) {
    for (const MachineInstruction& instruction : block.code) {
      for_each_use(function, instruction, [&](VReg reg, unsigned, unsigned) { ++uses[static_cast<std::size_t>(reg)]; });
    }
  }
  return uses;
}

bool copies_lower_word(const MachineFunction& function, const MachineInstruction& instruction) {
  const IrInstruction& in = instruction.in;
  return instruction.copy && !guarded(instruction) && in.b != kNone && instruction.words == 1 &&
         instruction.src_word == 0 && function.words(in.dst) == 1 && function.words(in.b) == 2;
}

isa::Comparison opposite(isa::Comparison comparison) {
  using isa::Comparison;
  switch (comparison) {
    case Comparison::eq:
      return Comparison::ne;
    case Comparison::ne:
      return Comparison::eq;
    case Comparison::lt:
      return Comparison::ge;
    case Comparison::le:
      return Comparison::gt;
    case Comparison::gt:
      return Comparison::le;
    default:
      return Comparison::lt;
  }
}

MachineInstruction make_copy(VReg dst, unsigned dst_word, VReg src, unsigned src_word, unsigned words, VPred guard,
                             const Position& at) {
  MachineInstruction copy;
  copy.in.op = words == 2 ? Op::MOV64 : Op::MOV;
  copy.in.guard = guard;
  copy.in.dst = dst;
  copy.in.b = src;
  copy.in.at = at;
  copy.copy = true;
  copy.dst_word = static_cast<std::uint8_t>(dst_word);
  copy.src_word = static_cast<std::uint8_t>(src_word);
  copy.words = static_cast<std::uint8_t>(words);
  return copy;
}

MachineInstruction make_predicate(VReg to, VPred from, VPred guard, const Position& at) {
  MachineInstruction predicate;
  predicate.in.op = Op::PLOP;
  predicate.in.guard = guard;
  predicate.in.p = to;
  predicate.in.pa = from;
  predicate.in.at = at;
  return predicate;
}

void append_constant(VReg to, unsigned words, std::uint64_t value, const Position& at,
                     std::vector<MachineInstruction>& code) {
  for (unsigned word = 0; word != words; ++word) {
    MachineInstruction& copy = code.emplace_back(make_copy(to, word, kNone, 0, 1, {}, at));
    copy.in.imm = static_cast<std::uint32_t>(value >> (32U * word));
  }
}

namespace {

class Importer {
 public:
  Importer(const IrFunction& source, const std::string& file) : source_(source) {
    function_.name = source.name;
    function_.file = file;
    function_.local_bytes = source.local_bytes;
    for (const RegClass cls : source.registers) {
      function_.make(cls == RegClass::pair ? 2 : 1, cls == RegClass::predicate);
    }
  }

  MachineFunction run() {
    open_block();
    bool ended = false;
    for (const IrBlockItem& item : source_.items) {
      if (item.is_label) {
        if (ended || !block().code.empty()) start_block(ended);
        ended = false;
        labels_[item.label] = current();
        block().keep_loop |= item.keep_loop;
        continue;
      }
      if (ended) start_block(true);
      ended = false;
      const IrInstruction& in = item.instruction;
      if (in.op == Op::BRA) {
        branch(in);
        ended = true;
      } else {
        add(in);
        ended = (in.op == Op::EXIT || in.op == Op::TRAP) && in.guard.reg == kNone && !in.guard.negated;
        if (ended) closed_ = true;
      }
    }
    if (!closed_) throw InternalError("intermediate code of " + source_.name + " runs off its end");
    resolve();
    return std::move(function_);
  }

 private:
  Block& block() { return function_.blocks.back(); }
  int current() const { return static_cast<int>(function_.blocks.size()) - 1; }

  void open_block() {
    function_.blocks.emplace_back();
    targets_.push_back(kNoTarget);
    taken_.push_back(kNoTarget);
    closed_ = false;
  }

  // after_end: the current block has a terminator. Otherwise, and after a conditional branch, it falls through.
  void start_block(bool after_end) {
    const bool falls_through = !after_end || !closed_;
    const int before = current();
    open_block();
    if (falls_through) function_.blocks[static_cast<std::size_t>(before)].next = current();
  }

  void branch(const IrInstruction& in) {
    if (in.target >= source_.label_count) throw InternalError("branch to an unknown label in " + source_.name);
    const auto index = static_cast<std::size_t>(current());
    if (in.guard.reg == kNone) {
      if (in.guard.negated) {  // never taken
        closed_ = false;
        return;
      }
      targets_[index] = in.target;
      block().jump_at = in.at;
      closed_ = true;
    } else {
      MachineInstruction instruction;
      instruction.in = in;
      block().code.push_back(std::move(instruction));
      taken_[index] = in.target;
      closed_ = false;
    }
  }

  void add(const IrInstruction& in) {
    if (in.op == Op::NOP || (in.guard.reg == kNone && in.guard.negated)) return;
    if (in.op == Op::MOV64 && !in.elements.empty()) return pack(in);
    if (in.op == Op::MOV && in.dst == kNone && !in.elements.empty()) return unpack(in);
    if ((in.op == Op::MOV || in.op == Op::MOV64) && !in.immediate && in.dst != kNone) {
      const unsigned words = function_.words(in.dst);
      block().code.push_back(make_copy(in.dst, 0, in.b, 0, words, in.guard, in.at));
      return;
    }
    if (isa::is_load(in.op) || isa::is_store(in.op) || isa::is_texture(in.op)) return memory(in);
    MachineInstruction instruction;
    instruction.in = in;
    block().code.push_back(std::move(instruction));
  }

  void pack(const IrInstruction& in) {
    for (unsigned word = 0; word < 2; ++word) {
      const VReg part = word < in.elements.size() ? in.elements[word] : kNone;
      block().code.push_back(make_copy(in.dst, word, part, 0, 1, in.guard, in.at));
    }
  }

  void unpack(const IrInstruction& in) {
    for (unsigned word = 0; word < 2 && word < in.elements.size(); ++word) {
      if (in.elements[word] == kNone) continue;
      block().code.push_back(make_copy(in.elements[word], 0, in.a, word, 1, in.guard, in.at));
    }
  }

  void memory(const IrInstruction& in) {
    MachineInstruction instruction;
    instruction.in = in;
    instruction.in.elements.clear();
    if (in.elements.size() == 1) instruction.in.dst = in.elements[0];
    if (in.elements.size() <= 1) {
      block().code.push_back(std::move(instruction));
      return;
    }
    unsigned element_words = 1;
    for (const VReg element : in.elements) {
      if (element != kNone) element_words = function_.words(element);
    }
    const auto count = static_cast<unsigned>(in.elements.size());
    const VReg tuple = function_.make(count * element_words, false, true);
    instruction.in.dst = tuple;
    const bool store = isa::is_store(in.op);
    if (!store) block().code.push_back(instruction);
    for (unsigned i = 0; i < count; ++i) {
      const VReg element = in.elements[i];
      if (store) {
        block().code.push_back(make_copy(tuple, i * element_words, element, 0, element_words, in.guard, in.at));
      } else if (element != kNone) {
        block().code.push_back(make_copy(element, 0, tuple, i * element_words, element_words, in.guard, in.at));
      }
    }
    if (store) block().code.push_back(std::move(instruction));
  }

  int find(std::uint32_t label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) throw InternalError("branch to a label that is nowhere in " + source_.name);
    return found->second;
  }

  void resolve() {
    for (std::size_t i = 0; i < function_.blocks.size(); ++i) {
      if (targets_[i] != kNoTarget) function_.blocks[i].next = find(targets_[i]);
      if (taken_[i] != kNoTarget) function_.blocks[i].taken = find(taken_[i]);
    }
  }

  static constexpr std::uint32_t kNoTarget = ~std::uint32_t{0};
  const IrFunction& source_;
  MachineFunction function_;
  std::map<std::uint32_t, int> labels_;
  std::vector<std::uint32_t> targets_, taken_;  // labels by block
  bool closed_ = false;                         // the current block does not fall through
};

}  // namespace

MachineFunction import_function(const IrFunction& function, const std::string& file) {
  return Importer(function, file).run();
}

}  // namespace heddle::ptx::backend
