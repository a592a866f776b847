#include "ptx/backend/machine_code.hpp"

#include <algorithm>
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
    case Op::ASYNC_COMMIT:
    case Op::ASYNC_WAIT:
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
    std::vector<bool> wanted(source_.label_count);
    for (const IrBlockItem& item : source_.items) {
      if (!item.is_label && item.instruction.op == Op::BRA && item.instruction.target < wanted.size()) {
        wanted[item.instruction.target] = true;
      }
    }
    open_block();
    bool ended = false;
    for (const IrBlockItem& item : source_.items) {
      if (item.is_label) {
        if (!wanted[item.label] && !item.keep_loop) continue;  // of a debugger's
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
    tuples_.clear();
    together_.reset();
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
    add_operation(in);
    if (!isa::is_store(in.op)) forget(in.dst);
    forget(in.p);
    forget(in.q);
  }

  // The lanes have waited for each other, and nothing since then lets them part.
  bool waits_again(const IrInstruction& in) {
    const isa::Unit unit = isa::info(in.op).unit;
    const bool waits = in.op == Op::WARP_SYNC && in.immediate && in.guard.reg == kNone;
    if (waits && together_ == in.imm) return true;
    if (waits) {
      together_ = in.imm;
    } else if (unit == isa::Unit::control || unit == isa::Unit::barrier) {
      together_.reset();
    }
    return false;
  }

  void add_operation(const IrInstruction& in) {
    if (waits_again(in)) return;
    if (in.op == Op::MOV64 && !in.elements.empty()) return pack(in);
    if (in.op == Op::MOV && in.dst == kNone && !in.elements.empty()) return unpack(in);
    if ((in.op == Op::MOV || in.op == Op::MOV64) && !in.immediate && in.dst != kNone) {
      const unsigned words = function_.words(in.dst);
      block().code.push_back(make_copy(in.dst, 0, in.b, 0, words, in.guard, in.at));
      return;
    }
    if (isa::is_load(in.op) || isa::is_store(in.op) || isa::is_texture(in.op)) return memory(in);
    if (in.op == Op::MMA) return matrices(in);
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
      forget(in.elements[word]);
    }
  }

  void memory(const IrInstruction& in) {
    MachineInstruction instruction;
    instruction.in = in;
    instruction.in.elements.clear();
    if (in.elements.size() == 1) {
      instruction.in.dst = in.elements[0];
      if (!isa::is_store(in.op)) forget(in.elements[0]);
    }
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
    if (!isa::is_store(in.op)) {
      block().code.push_back(std::move(instruction));
      take_apart(in.elements, element_words, tuple, in);
      return;
    }
    for (unsigned i = 0; i < count; ++i) {
      block().code.push_back(make_copy(tuple, i * element_words, in.elements[i], 0, element_words, in.guard, in.at));
    }
    block().code.push_back(std::move(instruction));
  }

  // A register for each matrix, of as many words as it has in a lane: the one in which its elements are already, where
  // an instruction before it in the block has left or taken them so.
  void matrices(const IrInstruction& in) {
    MachineInstruction instruction;
    instruction.in = in;
    instruction.in.elements.clear();
    const MatrixElements counts = matrix_elements(in.mods);
    const auto elements = [&](std::size_t first, unsigned count) {
      const auto begin = in.elements.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<VReg>(begin, begin + count);
    };
    instruction.in.a = together(elements(counts.sum, counts.a), in);
    instruction.in.b = together(elements(counts.sum + counts.a, counts.b), in);
    instruction.in.c = together(elements(counts.sum + counts.a + counts.b, counts.sum), in);
    const unsigned words = function_.words(in.elements[0]);
    const VReg result = function_.make(counts.sum * words, false, true);
    instruction.in.dst = result;
    block().code.push_back(std::move(instruction));
    take_apart(elements(0, counts.sum), words, result, in);
  }

  // The elements, which are words or pairs, in neighbouring registers.
  VReg together(const std::vector<VReg>& elements, const IrInstruction& in) {
    if (elements.size() == 1) return elements[0];
    if (const auto known = tuples_.find(elements); known != tuples_.end() && in.guard.reg == kNone) {
      function_.registers[static_cast<std::size_t>(known->second)].temporary = false;  // it lives longer now
      return known->second;
    }
    unsigned words = 1;
    for (const VReg element : elements) words = element == kNone ? words : function_.words(element);
    const VReg tuple = function_.make(static_cast<unsigned>(elements.size()) * words, false, true);
    for (unsigned i = 0; i < elements.size(); ++i) {
      block().code.push_back(make_copy(tuple, i * words, elements[i], 0, words, in.guard, in.at));
    }
    if (in.guard.reg == kNone) tuples_[elements] = tuple;
    return tuple;
  }

  void take_apart(const std::vector<VReg>& elements, unsigned words, VReg tuple, const IrInstruction& in) {
    for (unsigned i = 0; i < elements.size(); ++i) {
      if (elements[i] == kNone) continue;
      block().code.push_back(make_copy(elements[i], 0, tuple, i * words, words, in.guard, in.at));
      forget(elements[i]);
    }
    if (in.guard.reg == kNone) tuples_[elements] = tuple;
  }

  // It has another value: what has been put together of it is no longer that.
  void forget(VReg reg) {
    if (reg == kNone || tuples_.empty()) return;
    std::erase_if(tuples_,
                  [reg](const auto& known) { return std::ranges::find(known.first, reg) != known.first.end(); });
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
  std::optional<std::uint32_t> together_;       // of the block so far: lanes that have waited for each other
  std::map<std::vector<VReg>, VReg> tuples_;    // of the block so far: elements that are in neighbouring registers
  std::vector<std::uint32_t> targets_, taken_;  // labels by block
  bool closed_ = false;                         // the current block does not fall through
};

}  // namespace

MachineFunction import_function(const IrFunction& function, const std::string& file) {
  return Importer(function, file).run();
}

}  // namespace heddle::ptx::backend
