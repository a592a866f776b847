// Instruction selection for one kernel: the state that the handlers of the PTX instructions share, the operands they
// read and the machine operations they write.
//
// Invariants
// - 8- and 16-bit PTX values (f16 among them: its raw bits) live in the low bits of a word; the upper bits are
//   arbitrary. An operation whose result depends on them takes its sources through number(), which extends them.
//   Loads extend as their type says, stores drop the upper bits.
// - A register without a name is a temporary: written once, read in the same PTX instruction. The guard of a PTX
//   instruction goes to the operations that write named registers or have any other effect (memory, barriers, faults,
//   exchange between lanes); operations that only compute temporaries run unguarded, so that no temporary is
//   conditionally defined. Where an operation with an effect must write a temporary, guard_by_branch() is used.
// - A destination is written by the last operation only, so that it may be one of the sources.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ptx/ir.hpp"
#include "ptx/lower/layout.hpp"
#include "ptx/lower/modifiers.hpp"
#include "ptx/lower/recursion.hpp"
#include "ptx/lower/types.hpp"

namespace heddle::ptx {

// A source operand: a virtual register (kNone reads as zero) or a constant, with the type it is read as.
struct Value {
  VReg reg = kNone;
  bool constant = false;
  std::uint64_t bits = 0;  // constant; two's complement, floats as their bits
  Type type = Type::b32;

  [[nodiscard]] static Value of(VReg reg, Type type) { return {reg, false, 0, type}; }
  [[nodiscard]] static Value imm(std::uint64_t bits, Type type) { return {kNone, true, bits, type}; }
  [[nodiscard]] Value as(Type other) const { return {reg, constant, bits, other}; }
};

// Where a .param variable of a call, or a parameter of an inlined function, lives.
struct ParamSlot {
  bool in_memory = false;  // arrays: local memory; scalars: a register
  VReg reg = kNone;
  Type type = Type::b32;
  std::uint64_t size = 4;
  VReg base = kNone;  // in local memory: a register and an offset; kNone: the offset alone
  std::uint32_t offset = 0;
};

// One function being lowered: the entry, or a device function inlined at one call.
struct Frame {
  const Function* function = nullptr;
  std::string prefix;           // of register names: "" or "callee/"
  std::vector<VReg> registers;  // by RegisterId; kUnmade until first used
  struct Label {
    LabelId id = 0;
    bool bound = false;
    Position first_use;
  };
  std::map<std::string, Label> labels;
  std::map<std::string, ParamSlot> parameters;  // of the inlined function: parameters, returns, .param variables
  std::map<std::string, const Statement*> branch_targets;
  std::optional<LabelId> exit;     // of an inlined function
  CircleMember* member = nullptr;  // of a function that may be active several times (ptx/lower/recursion.hpp)
  VReg carry = kNone;              // CC.CF
};

// What a symbol stands for.
struct Resolved {
  isa::Space space = isa::Space::global;
  std::uint64_t address = 0;              // within the space
  VReg base = kNone;                      // in local memory: to be added
  const ParamSlot* slot = nullptr;        // parameter in a register
  const isa::Parameter* entry = nullptr;  // entry parameter
  bool handle = false;                    // of a texture or surface: the variable's value is meant
};

inline constexpr std::uint64_t kEveryLane = 0xffffffffU;  // of a warp: a mask of members

class Selector {
 public:
  Selector(const File& file, const ModuleLayout& layout, IrFunction& out, const Interruption& interruption,
           std::uint32_t stack_bytes);

  // Lowers an entry into the IrFunction.
  void lower_entry(const Function& entry);

  // ---- the instruction at hand
  [[nodiscard]] const Statement& statement() const { return *statement_; }
  [[nodiscard]] Modifiers modifiers() const { return {file_.name, *statement_}; }
  [[nodiscard]] const Operand& operand(std::size_t index) const { return statement_->operands[index]; }
  [[nodiscard]] std::size_t operand_count() const { return statement_->operands.size(); }
  void expect_operands(std::size_t least, std::size_t most) const;
  void expect_operands(std::size_t count) const { expect_operands(count, count); }
  [[noreturn]] void refuse(const std::string& message, const std::string& hint) const;
  [[noreturn]] void refuse(const Position& at, const std::string& message, const std::string& hint) const;
  [[nodiscard]] unsigned address_size() const { return file_.address_size; }
  [[nodiscard]] Type address_type() const { return file_.address_size == 64 ? Type::u64 : Type::u32; }
  [[nodiscard]] bool in_entry() const { return !frame_->exit.has_value(); }
  [[nodiscard]] Frame& frame() { return *frame_; }
  [[nodiscard]] const ModuleLayout& layout() const { return layout_; }
  [[nodiscard]] const CodeOptions& code() const { return out_.code; }
  // The present statement depends on which threads form a warp.
  void note_warp_operation();
  // The operation between lanes waits for the lanes of `members`.
  void wait_for_lanes(const Value& members);
  // The hint bit that a preceding .pragma "row_hint" gives to this load.
  [[nodiscard]] bool row_hint() const { return hinted_; }

  // ---- registers
  VReg temp(Type type) { return out_.make(class_of(type)); }
  VReg named(Type type, const std::string& name) { return out_.make(class_of(type), frame_->prefix + name); }
  VReg vreg(RegisterId id) { return vreg(*frame_, id); }
  VReg vreg(Frame& frame, RegisterId id);
  [[nodiscard]] Type declared(RegisterId id) const { return frame_->function->registers[id].type; }

  // ---- operands
  // A register or constant of exactly this type's size and kind.
  Value source(const Operand& operand, Type type);
  // As source(), with 8- and 16-bit values extended to the 32 bits of the word; type becomes u32 or s32.
  Value number(const Operand& operand, Type type) { return extended(source(operand, type)); }
  Value extended(const Value& value);
  // The address of a symbol as a constant: within its space, or generic (the space's window added).
  Value symbol_address(const Operand& operand, Type type, bool generic);
  VPred predicate(const Operand& operand);
  // The register that receives a result of this type; "_" gives kNone.
  VReg destination(const Operand& operand, Type type);
  VReg destination_predicate(const Operand& operand);
  // p of "d|p", or kNone.
  VReg paired(const Operand& operand);
  void expect_unpaired(const Operand& operand) const;
  // The address of what lies in a frame of the stack, `offset` behind it.
  VReg frame_address(const Resolved& symbol, std::int64_t offset, bool wide, bool generic);
  // A register that holds the value; constants are materialised (zero needs no register).
  VReg in_register(const Value& value);
  // An integer constant in [low, high].
  std::uint64_t constant(const Operand& operand, std::uint64_t low, std::uint64_t high, const std::string& what) const;

  // ---- addresses
  struct Address {
    VReg base = kNone;
    std::int32_t offset = 0;
    bool wide = false;  // base is a pair: the ".e" forms
    isa::Space space = isa::Space::generic;
    const ParamSlot* slot = nullptr;  // a parameter that lives in a register; nothing else applies
  };
  // [..] for an access of so many bytes in this space; a symbol of a known space refines generic.
  Address address(const Operand& operand, isa::Space space, unsigned bytes = 1);
  // The address of an atomic, which has no offset.
  Address flat_address(const Operand& operand, isa::Space space);
  // `as_value`: its address is wanted, which a function has too.
  Resolved resolve(const std::string& name, const Position& at, bool as_value = false);
  // What a .texref or .surfref variable holds, loaded by code without a guard.
  VReg load_handle(const Resolved& variable);
  // Where a variable of the frame's function is in local memory, allocated at first use.
  struct LocalPlace {
    VReg base = kNone;  // ParamSlot::base
    std::uint32_t offset = 0;
  };
  LocalPlace local_place(Frame& frame, const VariableDecl& variable);

  // ---- machine operations
  void write(IrInstruction instruction);
  // `guard`: of the operation alone, in a statement without one (guard_by_branch()).
  void emit(isa::Op op, VReg dst, const Value& a, const Value& b = {}, const Value& c = {}, std::uint32_t mods = 0,
            const VPred& guard = {});
  // dst = op(b), for the operations whose only source is b.
  void emit_b(isa::Op op, VReg dst, const Value& b, std::uint32_t mods = 0) { emit(op, dst, {}, b, {}, mods); }
  void move(VReg dst, const Value& value);
  void convert(VReg dst, Type to, const Value& from, isa::Rounding rounding = isa::Rounding::none, bool ftz = false,
               bool saturate = false);
  void pack(VReg dst, VReg low, VReg high);
  void unpack(VReg low, VReg high, VReg pair);
  [[nodiscard]] VReg low_half(VReg pair);
  void plop(VReg p, const VPred& a, isa::BoolOp op, const VPred& b = {});
  struct Compare {
    isa::Op op = isa::Op::SETP_S32;
    isa::Comparison comparison = isa::Comparison::eq;
    isa::BoolOp combine = isa::BoolOp::none;
    VPred with;
    bool ftz = false;
    std::uint32_t format = 0;  // isa::half_mods
  };
  void setp(const Compare& compare, VReg p, VReg q, Value a, Value b);
  // dst = p ? a : b, of the operands' width.
  void select(VReg dst, const VPred& p, const Value& a, const Value& b);
  void load(isa::Op op, VReg dst, VReg base, std::int32_t offset, isa::Width width);
  void special(VReg dst, isa::Special special, bool wide);
  void branch(LabelId target, const VPred& guard);

  // ---- control
  LabelId new_label() { return out_.label_count++; }
  LabelId label(const std::string& name, const Position& use);
  void bind(LabelId label);
  // From here on the instruction runs unguarded; a branch around it does the guard's work.
  void guard_by_branch();
  [[nodiscard]] const VPred& guard() const { return guard_; }
  // Inlines a call; the frame holds the callee's parameters.
  void inline_body(Frame& callee);
  // A scalar parameter of a frame, in a register.
  ParamSlot make_slot(Frame& frame, Type type, const std::string& name);
  // A frame for a call of this function: its labels, registers and .param variables; parameters are for the caller.
  Frame open_frame(const Function& function, CircleMember* member = nullptr);
  // ---- functions that call each other in a circle
  // The function's place in the circle in which the present statement stands, made when it is called for the first
  // time; null: the function belongs to no circle that is open here, and the call comes from outside.
  CircleMember* member(const Function& function);
  // Begins a circle with this function, for a call from outside.
  CircleMember& open_circle(const Function& function);
  // The call from outside, when arguments are in their places: the bodies of all members, and the way out.
  void close_circle();
  // A call from a member to a member: before arguments are written into their places, then the call itself, and then,
  // when results have been read into these registers.
  void begin_member_call();
  void call_member(CircleMember& callee);
  void end_member_call(std::vector<VReg> results);
  [[nodiscard]] bool last_statement() const { return last_statement_; }
  std::uint32_t allocate_local(std::uint64_t size, std::uint32_t alignment, const Position& at,
                               const std::string& name);

 private:
  CircleMember& add_member(const Function& function);
  void fail_without_room(CircleMember& callee);
  void step_stack(CircleMember& over, bool up);
  void lower_body();
  void lower_statement(const Statement& statement);
  void keep_loops(bool statement_level);
  void lower_pragma(const std::string& text, const Position& at, bool statement_level);
  // The number from `from` on to the pragma's end, from 1 to `most`.
  [[nodiscard]] unsigned pragma_number(const std::string& text, std::size_t from, const Position& at, const char* wrong,
                                       unsigned most) const;
  void declare(Frame& frame, const Function& function);
  [[nodiscard]] bool named_register(VReg reg) const {
    return reg != kNone && !out_.register_names[static_cast<std::size_t>(reg)].empty();
  }
  Value real_constant(const Operand& operand, Type type) const;

  const File& file_;
  const ModuleLayout& layout_;
  IrFunction& out_;
  Interruption interruption_;
  SharedLayout shared_;
  Frame* frame_ = nullptr;
  std::vector<const Function*> calls_;
  std::map<const VariableDecl*, std::uint32_t> locals_;      // looked up only, never walked
  std::vector<Circle> circles_;                              // innermost last
  std::vector<std::unique_ptr<CircleMember>> past_members_;  // of circles that are closed
  std::uint32_t stack_bytes_;
  VReg stack_ = kNone;                            // the stack pointer, where there is a stack
  std::uint32_t stack_base_ = 0, stack_end_ = 0;  // in local memory
  const Statement* statement_ = nullptr;
  VPred guard_;
  std::optional<LabelId> after_;  // where guard_by_branch() goes
  bool hinted_ = false;
  std::optional<Position> pending_hint_;
  std::optional<Position> library_call_;  // within a function of the library: the statement that calls it
  bool last_statement_ = false;
  bool keeps_loops_ = false;  // no loop of the function is to be unrolled
  // Lanes that have waited for each other, with nothing since at which they could part.
  std::optional<std::uint32_t> together_;
};

inline constexpr VReg kUnmade = -2;

}  // namespace heddle::ptx
