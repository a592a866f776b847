// The intermediate form between instruction selection (lowering) and the back end (control flow, register allocation,
// emission): machine operations on virtual registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/instruction.hpp"
#include "isa/module.hpp"
#include "ptx/ast.hpp"
#include "ptx/code_options.hpp"

namespace heddle::ptx {

// Virtual registers. Class word: one 32-bit register; pair: 64-bit, an even register and the next; predicate.
enum class RegClass : std::uint8_t { word, pair, predicate };
using VReg = std::int32_t;  // index into IrFunction::registers; kNone: RZ / PT / absent
inline constexpr VReg kNone = -1;

struct VPred {  // predicate operand: kNone is PT
  VReg reg = kNone;
  bool negated = false;
  friend bool operator==(const VPred&, const VPred&) = default;
};

using LabelId = std::uint32_t;

struct IrInstruction {
  isa::Op op = isa::Op::NOP;
  VPred guard;
  // Register operands by their field. Predicate results are p and q below, not dst.
  VReg dst = kNone, a = kNone, b = kNone, c = kNone, d = kNone;
  bool immediate = false;  // b is imm
  std::uint32_t imm = 0;
  std::uint8_t sub = 0;    // the c field where it is sub() and holds no predicate: comparison, memory form, space...
  std::uint32_t mods = 0;  // modifiers without their predicate fields (the back end fills those in)
  // Predicate operands, placed into the fields that isa/instruction.hpp defines for op:
  VPred pa;        // setp combine, sel, vote, bar.red, cond_acc, tree_traverse source, plop a, addc/subc carry in
  VPred pb;        // plop b
  VReg p = kNone;  // setp/plop/testp/isspacep/vote/bar.red result, carry out, shfl/match predicate
  VReg q = kNone;  // setp second result
  // Loads and stores of vectors: the element registers (1, 2 or 4; words, or pairs for b64), kept in this order in
  // consecutive registers by the allocator. For stores these are the values. kNone elements: RZ is impossible inside
  // a vector, so lowering uses a scratch register. Scalars use one element here, never dst.
  // mma: those of the result, then of a, b and c, so many of each as the instruction has registers, or pairs for f64.
  std::vector<VReg> elements;
  LabelId target = 0;                        // bra
  std::optional<isa::TrapCause::Kind> trap;  // of a trap that the program has not asked for
  Position at;
  friend bool operator==(const IrInstruction&, const IrInstruction&) = default;
};

struct IrBlockItem {
  bool is_label = false;
  LabelId label = 0;
  IrInstruction instruction;
  bool keep_loop = false;  // of a label: the loop that begins there is not to be unrolled
  friend bool operator==(const IrBlockItem&, const IrBlockItem&) = default;
};

// Of mma with these modifiers: elements of each matrix in a lane, of registers or pairs. The sum's are those of c, too.
struct MatrixElements {
  unsigned a = 0, b = 0, sum = 0;
};
[[nodiscard]] MatrixElements matrix_elements(std::uint32_t mods);

// Of the elements of what is no store, how many at the begin of the list are results.
[[nodiscard]] std::size_t written_elements(const IrInstruction& instruction);

// A function after lowering: calls inlined, PTX predicates, vectors, small types and immediates legalised.
struct IrFunction {
  std::string name;
  std::vector<RegClass> registers;
  std::vector<std::string> register_names;  // PTX name, or "" for temporaries
  std::vector<IrBlockItem> items;
  std::uint32_t label_count = 0;
  std::uint32_t local_bytes = 0;  // .local variables; spill slots are added behind them
  CodeOptions code;               // max_registers is .maxnreg, where that is lower
  isa::Kernel kernel;             // everything but words, lines, registers, predicates, spills

  VReg make(RegClass cls, std::string name_of_it = {}) {
    registers.push_back(cls);
    register_names.push_back(std::move(name_of_it));
    return static_cast<VReg>(registers.size() - 1);
  }
  friend bool operator==(const IrFunction&, const IrFunction&) = default;
};

struct IrModule {
  isa::Module module;  // variables, constant bank, source files; kernels come from the back end
  std::vector<IrFunction> kernels;
  std::vector<RefusedKernel> refused;
};

// Lowering (ptx/lower/): parsed file to IR. Every fall-through path ends in EXIT or BRA. Throws InputError; with
// Refusals::kept only for what is wrong with the file as a whole.
[[nodiscard]] IrModule lower(const File& file, const CodeOptions& code, Refusals refusals = Refusals::thrown,
                             const Interruption& interruption = Interruption(), std::uint32_t stack_bytes = 1024);

// The back end (ptx/backend/): IR to machine code.
[[nodiscard]] isa::Kernel generate(const IrFunction& function, const std::string& file,
                                   const Interruption& interruption = Interruption());

}  // namespace heddle::ptx
