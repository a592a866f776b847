// What the parser makes of PTX text: declarations with resolved sizes, and statements whose operands are resolved to
// registers, symbols, labels and constants. Which opcodes, modifiers and types exist is known to lowering, not here.
// Reference: PTX ISA 8.x, chapters 4 (syntax), 5 (state spaces, types, variables), 6 (operands), 11 (directives).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "isa/instruction.hpp"
#include "ptx/refusal.hpp"

namespace heddle::ptx {

struct Position {
  std::uint32_t line = 0, column = 0;              // in the PTX text, from 1
  std::uint32_t source_file = 0, source_line = 0;  // from the latest .loc; 0: none
  friend bool operator==(const Position&, const Position&) = default;
};

// A declared register of a function (after parameterised declarations like %r<13> have been expanded).
struct Register {
  std::string name;
  isa::Type type;  // as declared: .pred, .b8 ... .f64, .f16 (f16x2 counts as b32, b128 is refused)
};
using RegisterId = std::uint32_t;  // index into Function::registers

// A variable of any space; module level or function level. Multi-dimensional arrays are flattened.
struct Relocation {          // initial value that is a symbol's address
  std::uint64_t offset = 0;  // into the variable
  unsigned size = 4;         // 4 or 8 bytes
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;  // generic(symbol)
  Position at;
};
// .weak definitions of one name are one, whoever links several texts; a local name is its text's own. Declarations of
// what is defined elsewhere are external.
enum class Linkage : std::uint8_t { local, visible, weak, external };

struct VariableDecl {
  std::string name;
  isa::Space space = isa::Space::global;
  isa::Type type = isa::Type::b8;
  std::uint64_t count = 1;      // elements in all; 0: extern unsized array (dynamic scratchpad)
  unsigned vector = 1;          // .v2, .v4
  std::uint32_t alignment = 0;  // bytes; natural unless .align says otherwise
  bool is_extern = false;
  Linkage linkage = Linkage::local;
  bool is_array = false;
  bool is_handle = false;  // .texref, .surfref: holds the handle of a texture or surface, which its name stands for
  std::vector<std::uint8_t> initial;  // empty: none given; else size() bytes
  std::vector<Relocation> relocations;
  Position at;
  [[nodiscard]] std::uint64_t size() const { return std::uint64_t{isa::size_of(type)} * vector * count; }
};

struct Operand;
struct VectorOperand {
  std::vector<Operand> elements;
};

struct Operand {
  enum class Kind {
    reg,        // reg
    special,    // special (with .x .y .z folded in), e.g. %tid.x, %laneid, WARP_SZ (integer 32) is Kind::integer
    integer,    // integer (two's complement), is_unsigned when written with U or above the signed range
    real,       // real bits: 0f -> f32 bits in `integer` and is_f32; 0d or decimal -> f64 bits in `integer`
    symbol,     // name (+ offset): address of a variable, parameter or function; label names are Kind::label
    label,      // name of a label or of a .branchtargets list
    address,    // [base + offset]: base is reg (base_is_register), else symbol `name`, else none: offset is the address
    vector,     // {a, b, ...}
    sink,       // _
    predicate,  // !%p: a negated predicate source; a plain %p is Kind::reg
    call_list   // (a, b, ...) of a call: results (if any) before the function's name, arguments behind it
  };
  Kind kind = Kind::integer;
  Position at;
  RegisterId reg = 0;    // reg, predicate, address with register base
  bool negated = false;  // predicate; also "!%p" as source operand
  isa::Special special = isa::Special::tid_x;
  std::uint64_t integer = 0;  // integer value or float bits
  bool is_unsigned = false;
  bool is_f32 = false;
  std::string name;                            // symbol, label, address with symbol base
  std::int64_t offset = 0;                     // symbol, address
  bool base_is_register = false;               // address
  std::vector<Operand> elements;               // vector, call_list; address of tex, suld, sust: the coordinates
  std::optional<RegisterId> paired_predicate;  // "d|p" of setp, shfl, match, lop3: the second destination; sink: none
  bool paired_sink = false;                    // "d|_"
  bool paired() const { return paired_predicate.has_value() || paired_sink; }
};

struct Statement {
  enum class Kind { instruction, label, pragma, branch_targets, call_prototype };
  Kind kind = Kind::instruction;
  Position at;
  // instruction
  bool guarded = false;
  RegisterId guard = 0;
  bool guard_negated = false;
  std::string opcode;                  // "ld", "setp", "cond_acc"
  std::vector<std::string> modifiers;  // in order, without dots: "global", "v2", "f32", "relaxed", "L2::128B", ...
  std::vector<Operand> operands;
  // label: name; pragma: text; branch_targets: name and the labels it lists; call_prototype: name, of a prototype
  std::string name;
  std::vector<std::string> labels;
};

struct ParameterDecl {
  std::string name;
  isa::Type type = isa::Type::b32;
  std::uint64_t count = 1;  // elements (arrays: by-value structs)
  bool is_array = false;
  std::uint32_t alignment = 0;  // 0: natural
  bool is_register = false;     // .reg parameters of device functions
  RegisterId reg = 0;
  Position at;
};

// What a call through a register names behind its arguments: the form of the functions that it may call
// (.callprototype), or the functions themselves (.calltargets).
struct CallPrototype {
  std::string name;
  std::vector<ParameterDecl> returns;
  std::vector<ParameterDecl> parameters;
  std::vector<std::string> targets;  // empty: none are listed
};

// A nested { } scope renames registers, labels and variables to unique names while parsing ("%r1$2"), so that a
// function is one flat list. A name in an operand means the parameter of that name, else the function's variable, else
// the module's variable or function; only parameters can hide a name of the module. A vector register v becomes the
// registers v.x, v.y...
struct Function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;  // false: declaration only
  Linkage linkage = Linkage::local;
  Position at;
  std::vector<ParameterDecl> returns;
  std::vector<ParameterDecl> parameters;
  std::vector<Register> registers;
  std::vector<VariableDecl> variables;  // function-level .local, .shared, .param (of calls), .const, .global
  std::vector<CallPrototype> prototypes;
  std::vector<Statement> body;
  std::optional<std::uint32_t> maxnreg;
  std::vector<std::uint32_t> maxntid, reqntid;  // as given: 1 to 3 numbers
  // Module-wide declarations before the function, and declarations between its header and its body. The ones in the
  // body are statements.
  std::vector<std::pair<std::string, Position>> pragmas;
  std::optional<NotSupported> refusal;  // of Refusals::kept: why its body, which may be empty here, is refused
  bool is_library = false;  // Heddle's own (ptx/lower/library.hpp): its instructions count as the calling statement's
};

struct File {
  std::string name;
  unsigned version_major = 0, version_minor = 0;
  std::string target;  // "sm_60"
  unsigned address_size = 32;
  std::vector<std::string> source_files;  // index 0 "", then by .file number
  std::vector<VariableDecl> variables;    // one per name, likewise
  std::vector<Function> functions;        // one per name; a definition takes the place of its declaration
};

// What becomes of a function with something in it that is not supported: the error is thrown, or kept for who calls or
// launches the function. What is no PTX is always thrown.
enum class Refusals : std::uint8_t { thrown, kept };

// Parses PTX 3.0 to 9.x. Throws InputError with file:line:column. Debug sections (.section) are skipped, they carry no
// code. Limits, each refused with a message: 131072 registers a function, 4 GiB - 1 a variable, 64 MiB of initial
// values a file, 128 nested scopes.
[[nodiscard]] File parse(std::string_view text, const std::string& file, Refusals refusals = Refusals::thrown);

}  // namespace heddle::ptx
