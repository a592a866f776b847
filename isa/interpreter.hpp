// The reference interpreter: runs a whole grid without timing. It is the yardstick for every mechanism: plain, obvious
// code that shares nothing with the model but the operation semantics.
//
// Blocks run one after the other; within a block the warps (SIMD-width threads, consecutive thread ids, divergence by
// an immediate-post-dominator stack) take turns at barriers, at exit, and after a slice of instructions, so that
// threads which spin on a flag of their own block make progress.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "isa/device_memory.hpp"
#include "isa/fault.hpp"
#include "isa/program.hpp"
#include "isa/retirement.hpp"

namespace heddle::isa {

struct InterpreterOptions {
  unsigned warp_size = 32;  // 1..32
  bool trap_on_division_by_zero = false;
  std::uint64_t max_instructions_per_thread = 1'000'000'000;  // beyond: livelock
};

struct InterpreterResult {
  std::optional<Fault> fault;
  std::uint64_t thread_instructions = 0;
  std::uint64_t warp_instructions = 0;
};

// Runs one launch. `constants` is the module's constant bank (initial contents or what the host wrote since).
[[nodiscard]] InterpreterResult interpret(const Module& module, const LaunchRequest& launch, DeviceMemory& memory,
                                          RetirementHash& hash, const InterpreterOptions& options = {});

// Puts a module's code, variables and their initial values into device memory.
// Kernel k's code starts at code_address(module, k).
void load_module(const Module& module, DeviceMemory& memory);
[[nodiscard]] std::uint64_t code_address(const Module& module, std::size_t kernel_index);

}  // namespace heddle::isa
