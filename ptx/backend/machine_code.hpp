// The back end's own form of a function: basic blocks of machine operations on virtual registers.
//
// It differs from ptx/ir.hpp in three ways: every register has a size in 32-bit words (a vector load or store owns one
// register of 2, 4 or 8 words, its tuple); PACK, UNPACK and register moves are copies between parts of registers, so
// that they can be coalesced; unconditional jumps and fall-through are edges of a block, not instructions.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "isa/instruction.hpp"
#include "ptx/backend/dominator_spans.hpp"
#include "ptx/ir.hpp"

namespace heddle::ptx::backend {

struct Register {
  std::uint8_t words = 1;  // 1, 2, 4 or 8: also the alignment; predicates: 1
  bool predicate = false;
  bool temporary = false;   // made by spilling or for a vector: too short-lived to gain from a spill
  bool keep_apart = false;  // not to be coalesced with a part of a wider register
};

// A machine operation, or a copy. IrInstruction::elements is empty here: dst is what a load writes and a store reads.
struct MachineInstruction {
  IrInstruction in;
  // A copy moves `words` words from in.b, word src_word on, to in.dst, word dst_word on. Without in.b it writes the
  // constant in.imm. Only in.guard, in.dst, in.b, in.imm and in.at count then.
  bool copy = false;
  std::uint8_t dst_word = 0, src_word = 0, words = 0;
  bool inserted = false;  // made by the allocator: belongs to no PTX line
  // Although guarded, it begins the live ranges of its results: no thread whose guard is false reads their old values.
  bool begins_range = false;
};

inline constexpr int kNoBlock = -1;

// A conditional branch is the last instruction (BRA, to `taken`). A block without `next` ends in EXIT or TRAP.
struct Block {
  std::vector<MachineInstruction> code;
  int taken = kNoBlock;
  int next = kNoBlock;
  unsigned depth = 0;  // loops around it
  Position jump_at;    // of the unconditional branch to next, for its line
  bool removed = false;
  bool keep_loop = false;  // where a loop begins: it is not to be unrolled
};

struct MachineFunction {
  std::string name;
  std::string file;
  std::vector<Register> registers;
  std::vector<Block> blocks;  // in source order; 0 is the entry
  std::uint32_t local_bytes = 0;
  unsigned spilled = 0;  // virtual registers that went to local memory
  Interruption interruption;

  VReg make(unsigned words, bool predicate = false, bool temporary = false);
  VReg make_like(VReg reg);
  [[nodiscard]] unsigned words(VReg reg) const { return registers[static_cast<std::size_t>(reg)].words; }
  [[nodiscard]] bool is_predicate(VReg reg) const { return registers[static_cast<std::size_t>(reg)].predicate; }
};

// What a virtual register operand covers: words first .. first + count - 1.
template <typename Visit>
void for_each_use(const MachineFunction& function, const MachineInstruction& instruction, Visit visit) {
  const IrInstruction& in = instruction.in;
  const auto whole = [&](VReg reg) {
    if (reg != kNone) visit(reg, 0U, function.words(reg));
  };
  whole(in.guard.reg);
  if (instruction.copy) {
    if (in.b != kNone)
      visit(in.b, static_cast<unsigned>(instruction.src_word), static_cast<unsigned>(instruction.words));
    return;
  }
  if (isa::is_store(in.op)) whole(in.dst);
  for (const VReg reg : {in.a, in.b, in.c, in.d, in.pa.reg, in.pb.reg}) whole(reg);
}

// Also tells which result it is: 0 for dst and p, 1 for q.
template <typename Visit>
void for_each_definition(const MachineFunction& function, const MachineInstruction& instruction, Visit visit) {
  const IrInstruction& in = instruction.in;
  if (instruction.copy) {
    visit(in.dst, static_cast<unsigned>(instruction.dst_word), static_cast<unsigned>(instruction.words), 0U);
    return;
  }
  if (in.dst != kNone && !isa::is_store(in.op)) visit(in.dst, 0U, function.words(in.dst), 0U);
  if (in.p != kNone) visit(in.p, 0U, 1U, 0U);
  if (in.q != kNone) visit(in.q, 0U, 1U, 1U);
}

// Register fields that an instruction reads, for rewriting.
template <typename Visit>
void for_each_use_field(MachineInstruction& instruction, Visit visit) {
  IrInstruction& in = instruction.in;
  visit(in.guard.reg);
  if (!instruction.copy && isa::is_store(in.op)) visit(in.dst);
  visit(in.b);
  if (instruction.copy) return;
  visit(in.a);
  visit(in.c);
  visit(in.d);
  visit(in.pa.reg);
  visit(in.pb.reg);
}

// Register fields that an instruction writes.
template <typename Visit>
void for_each_definition_field(MachineInstruction& instruction, Visit visit) {
  IrInstruction& in = instruction.in;
  if (instruction.copy || !isa::is_store(in.op)) visit(in.dst);
  if (instruction.copy) return;
  visit(in.p);
  visit(in.q);
}

// By register: how many operands it is.
[[nodiscard]] std::vector<unsigned> count_uses(const MachineFunction& function);

[[nodiscard]] inline bool guarded(const MachineInstruction& instruction) {
  return instruction.in.guard.reg != kNone || instruction.in.guard.negated;
}
// An immediate of 32 bits, which operations on 64 bits extend by its sign, has the value.
[[nodiscard]] inline bool fits_immediate(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}
[[nodiscard]] bool has_side_effect(const MachineInstruction& instruction);
// A division, reciprocal or root that is not approximate: where they are done in software (ptx/lower/division.hpp) what
// is left for the operands that need it, to which hardly a thread comes.
[[nodiscard]] bool divides(const MachineInstruction& instruction);

// Without a guard, a whole register of one word gets the lower one of a register of two.
[[nodiscard]] bool copies_lower_word(const MachineFunction& function, const MachineInstruction& instruction);

// Of integers: what holds where the comparison does not.
[[nodiscard]] isa::Comparison opposite(isa::Comparison comparison);

// A whole or partial register copy.
[[nodiscard]] MachineInstruction make_copy(VReg dst, unsigned dst_word, VReg src, unsigned src_word, unsigned words,
                                           VPred guard, const Position& at);

// A predicate is another one, its inverse or, without a register, a constant.
[[nodiscard]] MachineInstruction make_predicate(VReg to, VPred from, VPred guard, const Position& at);
// The words of a constant.
void append_constant(VReg to, unsigned words, std::uint64_t value, const Position& at,
                     std::vector<MachineInstruction>& code);

// IR to blocks: splits at labels and branches, gives vectors their tuples, turns moves into copies.
// Throws InternalError for IR that breaks the contract of ptx/ir.hpp.
[[nodiscard]] MachineFunction import_function(const IrFunction& function, const std::string& file);

// ptx/backend/control_flow.cpp
// Removes unreachable blocks, threads jumps to jumps, merges straight-line blocks, drops branches that go nowhere else,
// and turns a branch to a lone EXIT into a guarded EXIT.
void simplify_control_flow(MachineFunction& function);
// The block is an unguarded EXIT and nothing else.
[[nodiscard]] bool is_lone_exit(const MachineFunction& function, int at);
[[nodiscard]] std::vector<std::vector<int>> predecessors(const MachineFunction& function);
[[nodiscard]] std::vector<int> successors(const Block& block);
// What can be reached, each block behind one that leads to it, and behind all of them where nothing goes round.
[[nodiscard]] std::vector<int> reverse_post_order(const MachineFunction& function);

// ptx/backend/early_exits.cpp
// Where one way of a branch ends without a barrier and the other one may come to some, that way has an EXIT of its own
// and goes first. `lockstep`: synchronizations of warps are left out (Kernel::needs_lockstep).
void exit_early(MachineFunction& function, bool lockstep);

// ptx/backend/dominators.cpp
class Dominators {
 public:
  explicit Dominators(const MachineFunction& function);
  // As DominatorSpans::dominates(); a removed block is not reached.
  [[nodiscard]] bool dominates(int above, int below) const {
    return spans_.dominates(static_cast<std::size_t>(above), static_cast<std::size_t>(below));
  }

 private:
  DominatorSpans spans_;
};
// What reaches one of the header's back edges without passing the header.
struct NaturalLoop {
  int header = kNoBlock;
  std::vector<int> latches;  // from which the back edges are
  std::vector<int> blocks;   // the header is the first one
};
// By the header's number, rising.
[[nodiscard]] std::vector<NaturalLoop> natural_loops(const MachineFunction& function, const Dominators& dominators);
void find_loop_depths(MachineFunction& function);

// ptx/backend/clean_up.cpp: constant and copy propagation, immediates, multiply-add fusion, dead code.
void clean_up(MachineFunction& function);
// Also in clean_up.cpp: a multiply-add for each sum of a product that is used in sums alone.
void fuse_sums(MachineFunction& function);
// ptx/backend/predicates.cpp: predicates that are others or their inverses; true: something changed. And: those that
// are constants, too.
bool forward_predicates(MachineFunction& function);
void fold_predicates(MachineFunction& function);
void remove_dead_code(MachineFunction& function);
// ptx/backend/constants.cpp: operations on constants, and branches that they decide.
void fold_constants(MachineFunction& function);
// ptx/backend/combine.cpp: sums of sums, and lower words of sums.
void combine_constants(MachineFunction& function);
void narrow_sums(MachineFunction& function);
// ptx/backend/share.cpp: values that are computed again; constants in addresses.
void share_values(MachineFunction& function);
// ptx/backend/narrow.cpp: operations on two words of which only lower ones are needed.
void narrow_words(MachineFunction& function);

// ptx/backend/if_conversion.cpp: makes guarded straight-line code of the branches around at most `most` operations on
// each side (counted before registers are allocated, an inner region as what has become of it); see CodeOptions.
void convert_ifs(MachineFunction& function, const CodeOptions& code);

// ptx/backend/unroll.cpp: makes loops go through code.unroll iterations at a time, or all where their count is known.
// 0, 1: leaves them alone. `lockstep`: lanes of a warp wait for each other without saying so (Kernel::needs_lockstep).
void unroll(MachineFunction& function, const CodeOptions& code, bool lockstep);
// ptx/backend/unroll_blocks.cpp: of the loops of several blocks whose count is known, makes those that are short enough
// as many copies of their blocks. `growth`: instructions that the kernel may still gain. True: some have been changed.
bool unroll_blocks(MachineFunction& function, std::size_t& growth);

// ptx/backend/peephole.cpp: what is joined, and left out, in code as it will be, but for its order; join_logic() too.
void optimise_peepholes(MachineFunction& function);
// ptx/backend/logic.cpp: bitwise operations of up to three values become one, and tests of bits one comparison.
void join_logic(MachineFunction& function);

// ptx/backend/schedule.cpp: orders the instructions of each block so that what takes its time begins early. At most
// `limit` words of registers, and one predicate less than there are, are live at once, or as many as the block had. 0:
// leaves the order alone.
void schedule(MachineFunction& function, unsigned limit);

// ptx/backend/pressure.cpp: spills values until at most `limit` 32-bit words of general registers (or predicates) are
// live at any point; leaves code within the limit alone. Throws InputError, at the point of highest pressure, when what
// cannot be spilled exceeds the limit.
inline constexpr unsigned kMostLive = 1024;  // far above isa::kRegisters; bounds the interference graph
void limit_pressure(MachineFunction& function, bool predicates, unsigned limit = kMostLive);

// ptx/backend/allocate.cpp: physical register of every virtual one (its first word). Inserts spill code.
// Throws InputError when the limit is too low for some instruction.
struct Assignment {
  std::vector<std::uint8_t> place;  // by virtual register; kRZ / kPT when unused
};
[[nodiscard]] Assignment allocate(MachineFunction& function, unsigned limit);

// Removes copies from a place to itself; blocks that become empty can then be threaded.
void drop_identity_copies(MachineFunction& function, const Assignment& assignment);

// ptx/backend/emit.cpp
void emit(const MachineFunction& function, const Assignment& assignment, const CodeOptions& code, isa::Kernel& kernel);

}  // namespace heddle::ptx::backend
