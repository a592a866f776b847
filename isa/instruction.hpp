// The machine instruction: its word, decoded form, modifiers.
//
// A word of 8 bytes names registers by 6 bits each: r0 to r62, and 63 for RZ. A word of 16 bytes, as GPUs have had
// since Volta, has two more bits for each of them behind it: r0 to r254, and 255 for RZ.
//
// Layout of the first 8 bytes (bit 63 is the most significant):
//
//   63      immediate flag; of bra: mark of a branch that may subdivide a warp, made by the compiler
//   62      mark of a scalar instruction; of a barrier: mark that no access to the scratchpad follows; made by the
//           compiler
//   61..54  operation (isa/operations.inc)
//   53..50  guard: bit 53 negates, bits 52..50 name a predicate register (7 = always true)
//   register form                          immediate form
//   49..44  destination                    49..44  destination
//   43..38  a                              43..38  a
//   37..32  c, or sub                      37..32  c, or sub
//   31..26  b                              31..0   b as a 32-bit immediate (loads, stores: address offset)
//   25..20  d
//   19..0   modifiers
//
//   bra: 49 mark that no access to the scratchpad follows, 24 mark of a branch that leads back where threads wait for
//   others, both made by the compiler; 48..25 re-convergence PC, 23..0 target PC (both count instructions from the
//   kernel's start).
//
// Layout of the second 8 bytes: 0, or
//
//   63      1
//   62      1: bits 57..41 are control bits; 0: so are they
//   57..52  dependence counters that must be 0 before it is issued, a bit for each
//   51..49  dependence counter that it holds until its operands have been read; 7: none
//   48..46  dependence counter that it holds until its results have been written; 7: none
//   45      yield
//   44..41  cycles until the warp's next instruction may be issued
//   9..0    bits 7 and 6 of the registers: 9..8 d, 7..6 b, 5..4 c, 3..2 a, 1..0 destination; 0 where a field names none
//
// Control bits lie where GPUs have had them since Volta (Jia and others, arXiv 1804.06826). Bits 61..58, which mark
// operands for reuse there, are 0: decode finds those by itself (hw/registers/reuse_marks.hpp).
//
// A program counter counts instructions. Registers 0..254 are general, RZ reads zero and ignores writes; a 64-bit value
// lives in an even register and the next one. Predicate registers 0..6 are general, 7 (PT) is always true.
// A vector of n values occupies n consecutive registers (64-bit elements: 2n), aligned to that count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::isa {

inline constexpr unsigned kLanes = 32;  // lanes of one sub-warp at most; SIMD widths of 1..32 use the first lanes
using LaneMask = std::uint32_t;         // bit i: lane i

inline constexpr unsigned kRegisters = 255;       // general registers
inline constexpr unsigned kNarrowRegisters = 63;  // that a word of 8 bytes can name
inline constexpr unsigned kRZ = 255;
inline constexpr unsigned kPredicates = 7;  // general predicate registers
inline constexpr unsigned kPT = 7;
inline constexpr std::uint32_t kMaxPc = (1U << 24) - 2;
inline constexpr std::uint32_t kNoReconvergence = (1U << 24) - 1;  // the paths meet only at the threads' exit

enum class Op : std::uint16_t {
#define HEDDLE_OPERATION(name, mnemonic, dst, a, b, c, d, unit) name,
#include "isa/operations.inc"
#undef HEDDLE_OPERATION
};

inline constexpr unsigned kOperations = 0
#define HEDDLE_OPERATION(name, mnemonic, dst, a, b, c, d, unit) +1
#include "isa/operations.inc"
#undef HEDDLE_OPERATION
    ;

enum class OperandKind : std::uint8_t { none, r, w, p, x };
enum class Unit : std::uint8_t { alu, complex, memory, control, barrier, warp, half, tensor };

struct OperationInfo {
  std::string_view mnemonic;
  OperandKind dst, a, b, c, d;
  Unit unit;
};

[[nodiscard]] const OperationInfo& info(Op op);

// Element types of conversions, atomics and parameters, as PTX names them.
enum class Type : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, f32, f64, b8, b16, b32, b64, pred };
[[nodiscard]] unsigned size_of(Type type);  // bytes; pred counts 1
[[nodiscard]] std::string_view name_of(Type type);

enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rni, rzi, rmi, rpi };
enum class Comparison : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,  // integers (signedness in the operation); ordered floats
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,  // floats: true when unordered; both numbers; either a NaN
  any   // setp.u32 only: a and b have a bit in common (as LOP3 writes a predicate, in NVIDIA's GPUs since Turing)
};
enum class BoolOp : std::uint8_t { none, and_, or_, xor_ };
enum class TestKind : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };
// add_halves: each half of a 32-bit word by itself, as two f16.
// Of a barrier object (isa/barrier_object.hpp), in shared memory: barrier, and after_copies, which happens when the
// copies have ended that the thread has asked for before, bulk ones apart.
enum class AtomicOp : std::uint8_t {
  add,
  and_,
  or_,
  xor_,
  min,
  max,
  inc,
  dec,
  exch,
  cas,
  add_halves,
  barrier,
  after_copies
};
[[nodiscard]] constexpr bool is_of_barrier_object(AtomicOp op) {
  return op == AtomicOp::barrier || op == AtomicOp::after_copies;
}
enum class Space : std::uint8_t { global, shared, local, constant, param, generic };
// Elements of the factors of a matrix product. tf32: the upper 19 bits of a binary32.
enum class Factor : std::uint8_t { f16, bf16, tf32, s8, u8, f64 };
// Width of one element in memory. Loads of u8..s16 extend to 32 bits; stores use the low bits.
enum class Width : std::uint8_t { u8, s8, u16, s16, b32, b64 };

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  clock,
  clock_hi,
  clock64,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  is_cooperative,  // 1: the launch is cooperative
  envreg1,         // high and low word of the address of what grids keep in memory to synchronise by; 0: there is none
  envreg2
};
inline constexpr unsigned kSpecials = static_cast<unsigned>(Special::envreg2) + 1;

// An instruction's word in memory. Of 8 bytes: `high` is 0. A narrow one is the same in 16 bytes, the second 8 being 0.
struct InstructionWord {
  constexpr InstructionWord(std::uint64_t low = 0, std::uint64_t high = 0) : low(low), high(high) {}
  std::uint64_t low, high;
  friend constexpr bool operator==(const InstructionWord&, const InstructionWord&) = default;
};
// "0123456789abcdef", the second 8 bytes before it where they are not 0.
[[nodiscard]] std::string text_of(const InstructionWord& word);

// A predicate operand: register and negation, packed as bits 2..0 and 3.
struct Pred {
  std::uint8_t reg = kPT;
  bool negated = false;
  [[nodiscard]] constexpr unsigned bits() const { return reg | (negated ? 8U : 0U); }
  [[nodiscard]] static constexpr Pred from(unsigned bits) {
    return {static_cast<std::uint8_t>(bits & 7U), (bits & 8U) != 0};
  }
  [[nodiscard]] constexpr bool always() const { return reg == kPT && !negated; }
  friend constexpr bool operator==(Pred, Pred) = default;
};

// What the compiler tells a warp's issue of dependences, where no hardware finds them (MICRO 2025, section 4). Six
// counters per warp: an instruction counts one up when it is issued, and down again when its operands have been read or
// its results written.
struct ControlBits {
  static constexpr unsigned kCounters = 6;
  static constexpr unsigned kNoCounter = 7;
  static constexpr unsigned kMostStall = 15;
  bool there = false;               // false: the instruction has none, and the others are at their defaults
  bool yield = false;               // other warps go first
  std::uint8_t stall = 0;           // cycles from its issue to that of the warp's next instruction, at least
  std::uint8_t write = kNoCounter;  // until its results have been written (read after write, write after write)
  std::uint8_t read = kNoCounter;   // until its operands have been read (write after read)
  std::uint8_t wait = 0;            // bit i: counter i must be 0 before it is issued
  friend bool operator==(const ControlBits&, const ControlBits&) = default;
};

// Decoded instruction. Fields that an operation does not use are zero, registers RZ, predicates PT.
struct Instruction {
  Op op = Op::NOP;
  bool immediate = false;
  Pred guard;
  std::uint8_t dst = kRZ;  // predicate results: p in bits 2..0, q in bits 5..3
  std::uint8_t a = kRZ;
  std::uint8_t b = kRZ;
  std::uint8_t c = kRZ;  // or sub(): comparison, predicate operand, memory form...
  std::uint8_t d = kRZ;
  std::uint32_t imm = 0;
  std::uint32_t mods = 0;                          // 20 bits
  std::uint32_t target = 0;                        // bra
  std::uint32_t reconvergence = kNoReconvergence;  // bra
  // Whenever it executes, all living threads of its warp execute it, with equal operands (thesis 9.2.1). A promise of
  // the compiler's (ptx/uniformity.hpp) that changes nothing of what it does. Only where accepts_uniform().
  bool uniform = false;
  // bra: a short basic block begins at its re-convergence point, so that a warp may be subdivided here (DWS
  // report 4.3). The compiler's mark (ptx/subdivision.hpp), which changes nothing of what the branch does.
  bool subdivides = false;
  // bra, barriers: from here on, this included, no thread can come to an access to the scratchpad, so that nothing but
  // its barriers binds it to its block's core (ODGS paper 3.8). The compiler's mark (ptx/last_access.hpp), which
  // changes nothing of what the instruction does. Only where carries_past_scratchpad().
  bool past_scratchpad = false;
  // bra: leads back to the beginning of a loop that ends by what other threads write, so that a warp whose threads are
  // scheduled independently lets the others of its threads run here. The compiler's mark (ptx/yields.hpp), which
  // changes nothing of what the branch does.
  bool yields = false;
  // The compiler's, for a machine whose warps know their dependences by them (ptx/control_bits.hpp). They change
  // nothing of what the instruction does.
  ControlBits control;

  friend bool operator==(const Instruction&, const Instruction&) = default;

  // ---- sub() forms
  [[nodiscard]] Comparison comparison() const { return static_cast<Comparison>(c); }  // setp
  [[nodiscard]] Pred sub_predicate() const { return Pred::from(c); }                  // sel, vote, bar.red, cond_acc...
  [[nodiscard]] Space sub_space() const { return static_cast<Space>(c); }             // isspacep
  [[nodiscard]] TestKind test() const { return static_cast<TestKind>(c); }            // testp
  [[nodiscard]] Width width() const { return static_cast<Width>(c & 7U); }            // ld, st
  [[nodiscard]] unsigned vector() const { return 1U << ((c >> 3U) & 3U); }            // ld, st: 1, 2, 4
  [[nodiscard]] bool row_hint() const { return (c & 32U) != 0; }                      // ld
  [[nodiscard]] bool past_l1() const { return (c & 32U) != 0; }                       // cp_async: not kept in the L1
  [[nodiscard]] unsigned matrices() const { return vector(); }                        // ldmatrix: 1, 2, 4
  [[nodiscard]] bool transposed() const { return (c & 32U) != 0; }                    // ldmatrix
  // ---- modifiers
  [[nodiscard]] Rounding float_rounding() const { return static_cast<Rounding>(1U + (mods & 3U)); }  // rn rz rm rp
  [[nodiscard]] bool ftz() const { return (mods & 4U) != 0; }                                        // float arithmetic
  [[nodiscard]] bool saturate() const { return (mods & 8U) != 0; }                                   // float arithmetic
  [[nodiscard]] bool approximate() const { return (mods & 16U) != 0; }                               // float arithmetic
  [[nodiscard]] bool propagate_nan() const { return (mods & 32U) != 0; }                             // min, max
  // 16-bit floating point: two in a register; bfloat16 instead of binary16; negative results become zero; min and max
  // of magnitudes, with the product of the signs.
  [[nodiscard]] bool packed() const { return (mods & 128U) != 0; }
  [[nodiscard]] bool bfloat() const { return (mods & 256U) != 0; }
  [[nodiscard]] bool relu() const { return (mods & 512U) != 0; }
  [[nodiscard]] bool magnitudes() const { return (mods & 1024U) != 0; }
  [[nodiscard]] Type cvt_to() const { return static_cast<Type>(mods & 15U); }
  [[nodiscard]] Type cvt_from() const { return static_cast<Type>((mods >> 4U) & 15U); }
  [[nodiscard]] Rounding cvt_rounding() const { return static_cast<Rounding>((mods >> 8U) & 15U); }
  [[nodiscard]] bool cvt_ftz() const { return (mods & (1U << 12U)) != 0; }
  [[nodiscard]] bool cvt_saturate() const { return (mods & (1U << 13U)) != 0; }
  [[nodiscard]] BoolOp setp_combine() const { return static_cast<BoolOp>(mods & 3U); }
  [[nodiscard]] Pred setp_predicate() const { return Pred::from((mods >> 2U) & 15U); }
  [[nodiscard]] bool setp_ftz() const { return (mods & 64U) != 0; }
  [[nodiscard]] Pred plop_a() const { return Pred::from(mods & 15U); }
  [[nodiscard]] Pred plop_b() const { return Pred::from((mods >> 4U) & 15U); }
  [[nodiscard]] BoolOp plop_op() const { return static_cast<BoolOp>((mods >> 8U) & 3U); }
  [[nodiscard]] Pred carry_in() const { return Pred::from(mods & 15U); }  // addc, subc
  [[nodiscard]] unsigned carry_out() const { return (mods >> 4U) & 7U; }  // addc, subc: predicate, PT = none
  // shfl: a is the value, b the lane or offset, c the clamp and segment mask, d the member mask. A d of RZ makes every
  // lane a member: the form without .sync, which needs no register for its mask. Any other register that holds zero
  // names no lane, and each lane reads its own value.
  // shfl, match.all: predicate result. The register form names it in the modifiers; the immediate form has none.
  [[nodiscard]] unsigned pred_out() const { return immediate ? kPT : (mods & 7U); }
  [[nodiscard]] unsigned lop3_lut() const { return mods & 255U; }
  [[nodiscard]] unsigned prmt_mode() const { return mods & 7U; }  // index f4e b4e rc8 ecl ecr rc16
  [[nodiscard]] bool bfind_shift_amount() const { return (mods & 1U) != 0; }
  [[nodiscard]] AtomicOp atomic_op() const { return static_cast<AtomicOp>(mods & 15U); }
  [[nodiscard]] Type atomic_type() const { return static_cast<Type>((mods >> 4U) & 15U); }
  [[nodiscard]] unsigned element_bytes() const { return 1U << (mods & 3U); }  // cond_acc
  [[nodiscard]] bool texture_real() const { return (mods & 1U) != 0; }        // tex: coordinates are binary32
  [[nodiscard]] unsigned texture_channels() const { return 1U << ((mods >> 1U) & 3U); }  // tex: 1, 2 or 4 results
  // mma: elements of a and b, how many registers of a lane hold its part of a (pairs for f64), and what the sum is of.
  [[nodiscard]] Factor factor_a() const { return static_cast<Factor>(mods & 7U); }
  [[nodiscard]] Factor factor_b() const { return static_cast<Factor>((mods >> 3U) & 7U); }
  [[nodiscard]] unsigned matrix_parts() const { return 1U << (((mods >> 6U) & 3U) % 3U); }  // 1, 2 or 4
  [[nodiscard]] bool half_sum() const { return (mods & 256U) != 0; }    // binary16 instead of binary32
  [[nodiscard]] bool clamps_sum() const { return (mods & 512U) != 0; }  // of integers
  // ---- predicate results
  [[nodiscard]] unsigned pred_p() const { return dst & 7U; }
  [[nodiscard]] unsigned pred_q() const { return (dst >> 3U) & 7U; }
};

// Modifier and sub() composers, the inverses of the accessors above.
[[nodiscard]] constexpr std::uint8_t memory_sub(Width width, unsigned vector, bool row_hint = false) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(width) |
                                   ((vector == 4   ? 2U
                                     : vector == 2 ? 1U
                                                   : 0U)
                                    << 3U) |
                                   (row_hint ? 32U : 0U));
}
[[nodiscard]] constexpr std::uint8_t pred_pair(unsigned p, unsigned q = kPT) {
  return static_cast<std::uint8_t>(p | (q << 3U));
}
[[nodiscard]] constexpr std::uint32_t float_mods(Rounding rounding, bool ftz = false, bool saturate = false,
                                                 bool approximate = false, bool nan = false) {
  return (rounding == Rounding::none ? 0U : static_cast<unsigned>(rounding) - 1U) | (ftz ? 4U : 0U) |
         (saturate ? 8U : 0U) | (approximate ? 16U : 0U) | (nan ? 32U : 0U);
}
// Added to float_mods() or setp_mods().
[[nodiscard]] constexpr std::uint32_t half_mods(bool packed, bool bfloat, bool relu = false, bool magnitudes = false) {
  return (packed ? 128U : 0U) | (bfloat ? 256U : 0U) | (relu ? 512U : 0U) | (magnitudes ? 1024U : 0U);
}
[[nodiscard]] constexpr std::uint32_t cvt_mods(Type to, Type from, Rounding rounding, bool ftz, bool saturate) {
  return static_cast<unsigned>(to) | (static_cast<unsigned>(from) << 4U) | (static_cast<unsigned>(rounding) << 8U) |
         (ftz ? 1U << 12U : 0U) | (saturate ? 1U << 13U : 0U);
}
[[nodiscard]] constexpr std::uint32_t setp_mods(BoolOp combine, Pred with, bool ftz) {
  return static_cast<unsigned>(combine) | (with.bits() << 2U) | (ftz ? 64U : 0U);
}
[[nodiscard]] constexpr std::uint32_t plop_mods(Pred a, BoolOp op, Pred b) {
  return a.bits() | (b.bits() << 4U) | (static_cast<unsigned>(op) << 8U);
}
[[nodiscard]] constexpr std::uint32_t carry_mods(Pred in, unsigned out) {
  return in.bits() | (out << 4U);
}
[[nodiscard]] constexpr std::uint32_t atomic_mods(AtomicOp op, Type type) {
  return static_cast<unsigned>(op) | (static_cast<unsigned>(type) << 4U);
}

[[nodiscard]] constexpr std::uint32_t element_mods(unsigned bytes) {  // of 1, 2, 4 or 8
  return bytes == 8 ? 3U : bytes / 2;
}

[[nodiscard]] constexpr std::uint32_t texture_mods(bool real, unsigned channels) {
  return (real ? 1U : 0U) | (channels / 2) << 1U;
}

[[nodiscard]] constexpr std::uint32_t mma_mods(Factor a, Factor b, unsigned parts, bool half_sum, bool clamps) {
  return static_cast<unsigned>(a) | static_cast<unsigned>(b) << 3U | (parts / 2) << 6U | (half_sum ? 256U : 0U) |
         (clamps ? 512U : 0U);
}
[[nodiscard]] constexpr std::uint8_t ldmatrix_sub(unsigned matrices, bool transposed) {
  return memory_sub(Width::b32, matrices, transposed);
}

// What is wrong with an instruction, empty when it is well formed: every used field in range (64-bit operands in even
// pairs, vectors aligned), every unused one at its default. Well-formed instructions are exactly what decode()
// yields, after canonical().
[[nodiscard]] std::string_view why_malformed(const Instruction& instruction);
// The same instruction with what has no meaning at its default: the predicate of a setp or plop that combines nothing;
// the modifiers of an immediate form when they ask for nothing; the immediate flag of a load or store (always set).
[[nodiscard]] Instruction canonical(const Instruction& instruction);
// Whether b may be an immediate: the immediate form has neither modifiers nor d, so that a setp which combines, an
// addc, a bfi or a float operation with .ftz needs its b in a register.
[[nodiscard]] bool accepts_immediate(const Instruction& instruction);

// Whether threads with equal operands get equal results by it and nothing else comes of it, so that one of them can
// execute it for all: arithmetic, comparisons, moves, branches, special registers that are the same for a whole block,
// loads of parameters and constants by ld.param and ld.const. Not what memory may change meanwhile (other loads),
// what acts once per thread (stores, atomics, print, malloc, exit, barriers), or what looks at lanes.
[[nodiscard]] bool accepts_uniform(const Instruction& instruction);

// Whether the operation has room for the mark past_scratchpad: bra and barriers.
[[nodiscard]] bool carries_past_scratchpad(Op op);

// Encodes canonical(instruction), in 8 bytes where it has no control bits and names no register beyond them. Throws
// InternalError with why_malformed()'s reason.
[[nodiscard]] InstructionWord encode(const Instruction& instruction);
// Empty for a word that encodes no well-formed instruction: unknown operation, malformed or non-default unused field,
// 16 bytes for what 8 can say.
[[nodiscard]] std::optional<Instruction> decode(const InstructionWord& word);

// ---- what an instruction reads and writes (in 32-bit registers), derived from the table and the modifiers
[[nodiscard]] unsigned destination_registers(const Instruction& instruction);  // 0 when the result is no register
[[nodiscard]] unsigned a_registers(const Instruction& instruction);            // 0, 1, 2, 4
[[nodiscard]] unsigned b_registers(const Instruction& instruction);            // as if b were a register
[[nodiscard]] unsigned c_registers(const Instruction& instruction);
[[nodiscard]] unsigned d_registers(const Instruction& instruction);
[[nodiscard]] unsigned stored_registers(const Instruction& instruction);  // stores: registers from dst on that are read

// Arithmetic, comparisons and conversions of f16, f32 and f64 in the functional units; no atomics, which are memory's.
[[nodiscard]] bool is_floating_point(const Instruction& instruction);
// Which lanes a GPU executes it in, of those that have lanes of several kinds: every operation of the unit `alu` that
// is not floating point counts as integer, but for multiplications, which NVIDIA's GPUs have in the lanes of single
// precision (Nsight Compute's guide, pipelines FMA and ALU). Operations of the unit `half` are `other`.
enum class LaneKind : std::uint8_t { integer, single_precision, double_precision, other };
inline constexpr std::size_t kLaneKinds = 3;  // without `other`
[[nodiscard]] LaneKind lane_kind(const Instruction& instruction);
// Whether NVIDIA's GPUs have it in the unit of their special functions, although it is none (Nsight Compute's guide,
// pipeline XU; Mesa's latencies of sm_80, among what needs a counter): conversions between integers, f32 and f64,
// rounding to whole numbers, counting and searching bits, reversing their order.
[[nodiscard]] bool is_conversion_or_count(const Instruction& instruction);
[[nodiscard]] bool is_load(Op op);  // ld.*, ldv.*
// st.*, and copies, which read the register in the destination's field too: it is the address in the scratchpad.
[[nodiscard]] bool is_store(Op op);
[[nodiscard]] bool is_copy(Op op);  // cp_async.*, bulk_copy.*
[[nodiscard]] constexpr bool is_bulk_copy(Op op) {
  return op == Op::BULK_COPY || op == Op::BULK_COPY_E;
}
[[nodiscard]] constexpr bool fills(Op op) {
  return op == Op::CP_ASYNC_FILL || op == Op::CP_ASYNC_FILL_E;
}
// It computes nothing, and takes its place in the code and in time.
[[nodiscard]] constexpr bool is_note(Op op) {
  return op == Op::NOP || op == Op::BSSY || op == Op::BSYNC || op == Op::ASYNC_COMMIT || op == Op::ASYNC_WAIT;
}
inline constexpr std::uint32_t kEveryCopy = ~std::uint32_t{0};  // b of async.wait: no copy may be under way
[[nodiscard]] bool is_atomic(Op op);                            // atom.*
[[nodiscard]] bool is_accumulate(Op op);                        // cond_acc.*
[[nodiscard]] bool is_vote(Op op);                              // vote.*
[[nodiscard]] constexpr bool is_tree_traverse(Op op) {
  return op == Op::TREE_TRAVERSE || op == Op::TREE_TRAVERSE_SIZE;
}
// Each lane holds a part of its operands or results, and all lanes of a warp take part.
[[nodiscard]] constexpr bool is_matrix(Op op) {
  return op == Op::MMA || op == Op::LD_MATRIX;
}
// What a lane gets depends on other lanes: vote, shfl, match, activemask, tree_traverse, cond_acc, mma, ldmatrix.
[[nodiscard]] bool looks_at_lanes(Op op);
// Of mma: rows of a and of the sum, columns of a and rows of b (b has 8 columns), and multiply-adds.
struct MatrixShape {
  unsigned rows = 0, depth = 0;
  [[nodiscard]] constexpr unsigned products() const { return rows * depth * 8; }
};
[[nodiscard]] MatrixShape matrix_shape(const Instruction& instruction);
[[nodiscard]] unsigned elements_per_register(Factor factor);  // 1 (tf32, f64: of a pair), 2 or 4
[[nodiscard]] bool is_texture(Op op);                         // tex.*
[[nodiscard]] bool is_heap(Op op);                            // heap.*
[[nodiscard]] bool is_volatile(Op op);
[[nodiscard]] bool has_wide_address(Op op);                           // ".e" forms
[[nodiscard]] Space space_of(Op op);                                  // of loads, stores, atomics, cond_acc
[[nodiscard]] bool writes_predicate(const Instruction& instruction);  // p (and q) or carry or pred_out

// ---- text. The assembler reads what the disassembler writes (labels not needed: targets are numbers).
[[nodiscard]] std::string disassemble(const Instruction& instruction);
// Throws InputError with the column of what it did not understand.
[[nodiscard]] Instruction assemble(std::string_view text);

}  // namespace heddle::isa
