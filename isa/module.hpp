// Compiled programs: what the PTX front end makes and what the interpreter and the model run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/instruction.hpp"

namespace heddle::isa {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct Parameter {
  std::string name;
  Type type = Type::b32;     // element type
  std::uint32_t offset = 0;  // bytes into the parameter block
  std::uint32_t size = 4;    // bytes; larger than the type's for arrays (by-value structs)
  std::uint32_t alignment = 4;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// Where one machine instruction comes from.
struct LineInfo {
  std::uint32_t ptx_line = 0;     // 0: made by the compiler
  std::uint32_t source_file = 0;  // index into Module::source_files, from .loc; 0: unknown
  std::uint32_t source_line = 0;
  std::uint16_t live_registers = 0;  // 32-bit registers live before the instruction
  friend bool operator==(const LineInfo&, const LineInfo&) = default;
};

// A trap that the compiler has put in.
struct TrapCause {
  enum class Kind : std::uint8_t {
    stack,    // a call finds no room on the stack
    pointer,  // a call goes through a pointer to no function that it could call
    surface   // an access lies outside its surface
  };
  std::uint32_t pc = 0;
  Kind kind = Kind::stack;
  // Of Kind::pointer: the first register that holds it there, and how many do; 0: not known.
  std::uint8_t pointer = kRZ;
  std::uint8_t pointer_words = 0;
  friend bool operator==(const TrapCause&, const TrapCause&) = default;
};

struct Kernel {
  std::string name;
  std::vector<InstructionWord> words;  // encoded instructions; PC i is words[i]
  std::vector<LineInfo> lines;         // one per instruction
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  unsigned registers = 0;          // 32-bit registers per thread
  unsigned predicates = 0;         // predicate registers per thread
  std::uint32_t shared_bytes = 0;  // static scratchpad; dynamic scratchpad starts there, aligned to 16
  std::uint32_t local_bytes = 0;   // local memory per thread: .local variables and spills
  unsigned spilled_registers = 0;  // virtual registers that the allocator put into local memory
  unsigned address_bits = 32;
  bool uses_warp_operations = false;  // vote, shfl, match, activemask, laneid, lanemask...
  // It has operations between lanes that wait for those that they name (.sync), and has been compiled for machines on
  // which these are there (ptx::CompileOptions::warp_syncs).
  bool needs_lockstep = false;
  bool reads_grid_workspace = false;         // %envreg1, %envreg2
  std::optional<Dim3> required_block;        // .reqntid
  std::optional<std::uint32_t> max_threads;  // .maxntid, product
  std::optional<unsigned> warp_size;         // .pragma "warp_size N"
  std::uint32_t warp_size_line = 0;          // PTX line of the pragma; 0: none
  unsigned lane_groups = 1;                  // .pragma "lane_groups N": the largest; a group lies in one warp
  std::uint32_t lane_groups_line = 0;        // PTX line of that pragma; 0: none
  std::uint32_t warp_operation_line = 0;     // PTX line of the first warp-level operation; 0: none
  std::vector<TrapCause> traps;              // by PC
  std::uint32_t stack_bytes = 0;             // per thread, for recursion; of local_bytes
  // It is the kernel before it, which has the same name, with more registers: for blocks that leave room for them
  // (ptx::CompileOptions::roomier).
  bool more_registers = false;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

// Whether an instruction of the kernel takes 16 bytes.
[[nodiscard]] bool is_wide(const Kernel& kernel);

// Lets `change` alter a kernel's instructions, all of them decoded; their number must stay. Throws InternalError for a
// word that is no instruction.
void rewrite(Kernel& kernel, const std::function<void(std::vector<Instruction>&)>& change);

// A module-level variable. Global variables have final addresses (from kModuleBase on); constant ones are offsets into
// the constant bank; shared ones (static) offsets into the block's scratchpad.
struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t alignment = 4;
  std::vector<std::uint8_t> initial;  // empty: zero; else exactly size bytes
};

struct Module {
  std::string name;                       // file it came from
  std::vector<std::string> source_files;  // index 0 is "", then .file entries in order of their numbers
  std::vector<Kernel> kernels;
  std::vector<Variable> variables;          // global and constant
  std::vector<std::uint8_t> constant_bank;  // initial contents

  // The kernel of that name: as in the PTX, or as in the C++ source when only one kernel has it
  // (isa/symbol_names.hpp), never one with more_registers. None: nullptr.
  [[nodiscard]] const Kernel* find(std::string_view kernel) const;
};

// Whether the kernel has malloc or free in it (isa/device_heap.hpp). Looks at every instruction.
[[nodiscard]] bool uses_heap(const Kernel& kernel);
// The PC of its first operation on matrices (is_matrix); none: it has none.
[[nodiscard]] std::optional<std::uint32_t> first_matrix_operation(const Kernel& kernel);

// What code of nvcc's keeps in memory to wait for its grid: zero at first, and again whenever no launch uses it but for
// a bit that changes with every barrier.
inline constexpr std::uint64_t kGridWorkspaceBytes = 64;

// One kernel launch.
struct LaunchRequest {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::uint32_t dynamic_shared = 0;      // bytes
  std::vector<std::uint8_t> parameters;  // Kernel::parameter_bytes bytes, laid out as Kernel::parameters says
  std::uint64_t grid_workspace = 0;      // of a cooperative launch: memory by which code of nvcc's waits for the grid
  bool cooperative = false;              // all blocks are resident at once and may wait for each other (bar.grid)
  bool more_registers = false;           // Kernel::more_registers is wanted, which is there
  int carve_out = -1;                    // part of a core's scratchpad that is preferred, in percent; -1: none
};

// "saxpy.ptx:41 (saxpy.cu:12)" for a PC of a kernel.
[[nodiscard]] std::string describe_pc(const Module& module, const Kernel& kernel, std::uint32_t pc);

// The listing of `heddle compile --listing`: per instruction PC, word, text, PTX line, live registers, re-convergence.
[[nodiscard]] std::string listing(const Module& module, const Kernel& kernel);

}  // namespace heddle::isa
