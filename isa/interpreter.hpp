// The reference interpreter: runs a whole grid without timing. It is the yardstick for every mechanism: plain, obvious
// code that shares nothing with the model but the operation semantics.
//
// Blocks run one after the other; within a block the warps (SIMD-width threads, consecutive thread ids, divergence by
// an immediate-post-dominator stack) take turns at barriers, at exit, and after a slice of instructions, so that
// threads which spin on a flag of their own block make progress. The blocks of a cooperative launch take turns
// likewise, and meet at the grid's barriers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/device_memory.hpp"
#include "isa/fault.hpp"
#include "isa/module.hpp"
#include "isa/print.hpp"
#include "isa/retirement.hpp"

namespace heddle::isa {

struct InterpreterOptions {
  unsigned warp_size = 32;  // 1..32
  bool trap_on_division_by_zero = false;
  bool trap_on_stray_load = true;                             // false: a load out of bounds reads 0
  std::uint64_t max_instructions_per_thread = 1'000'000'000;  // one more is a livelock fault
  PrintBuffer* prints = nullptr;  // where printed bytes go; null: nowhere. The caller begins and ends its launches
};

struct InterpreterResult {
  std::optional<Fault> fault;
  std::uint64_t thread_instructions = 0;    // active threads of each warp instruction, whatever their guards say
  std::uint64_t executed_instructions = 0;  // by threads whose guard was true
  std::uint64_t warp_instructions = 0;
  std::vector<StrayLoads> stray_loads;  // without the trap: by instruction, in the order of the first of each
};

// Runs one launch; the module's constant bank and global variables are as load_module and the host left them. Starts
// and ends a launch of `hash`; after a fault the launch's threads keep what they had folded and the total is unchanged.
// Registers, scratchpad and local memory start at zero in every block. Throws InputError for a launch that
// check_request() refuses, for a warp size that is not 1 to 32, and for a cooperative launch of more than
// kMaxTogether warps, whose registers it would all keep.
inline constexpr std::uint64_t kMaxTogether = 1U << 17U;
[[nodiscard]] InterpreterResult interpret(const Module& module, const LaunchRequest& launch, DeviceMemory& memory,
                                          RetirementHash& hash, const InterpreterOptions& options = {});

// Puts a module's code (read-only) and global variables with their initial values into device memory, in place of
// the code and variables of a module loaded before. Kernel k's code starts at code_address(module, k). Throws
// InputError when the code is larger than its place. Each instruction takes instruction_bytes, a multiple of 8, of
// which the first 8 are its word.
void load_module(const Module& module, DeviceMemory& memory, unsigned instruction_bytes = 8);
[[nodiscard]] std::uint64_t code_address(const Module& module, std::size_t kernel_index,
                                         unsigned instruction_bytes = 8);

}  // namespace heddle::isa
