// The GPU's launch registers, reached through its control socket: 64 bits each, little endian, at these byte offsets.
// A host writes the launch, then 1 to CONTROL; STATUS (or the interrupt port) tells when it is done.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle::hw {

// HEDDLE_REGISTER(Enumerator, offset, writable, "meaning"): the one declaration.
#define HEDDLE_REGISTERS(HEDDLE_REGISTER)                                                                      \
  HEDDLE_REGISTER(control, 0x00, true, "write 1: start the launch, beside those that run (gpu.kernels)")       \
  HEDDLE_REGISTER(status, 0x08, false, "0 idle, 1 running, 2 done, 3 stopped by a fault")                      \
  HEDDLE_REGISTER(code_address, 0x10, true, "address of the kernel's first instruction word; a multiple of 8") \
  HEDDLE_REGISTER(code_words, 0x18, true, "instruction words of the kernel")                                   \
  HEDDLE_REGISTER(grid_x, 0x20, true, "thread blocks in x")                                                    \
  HEDDLE_REGISTER(grid_y, 0x28, true, "thread blocks in y")                                                    \
  HEDDLE_REGISTER(grid_z, 0x30, true, "thread blocks in z")                                                    \
  HEDDLE_REGISTER(block_x, 0x38, true, "threads of a block in x")                                              \
  HEDDLE_REGISTER(block_y, 0x40, true, "threads of a block in y")                                              \
  HEDDLE_REGISTER(block_z, 0x48, true, "threads of a block in z")                                              \
  HEDDLE_REGISTER(registers, 0x50, true, "32-bit registers per thread")                                        \
  HEDDLE_REGISTER(shared_bytes, 0x58, true, "scratchpad bytes per block, static and dynamic")                  \
  HEDDLE_REGISTER(dynamic_shared, 0x60, true, "of those, the dynamic ones")                                    \
  HEDDLE_REGISTER(local_bytes, 0x68, true, "local memory per thread")                                          \
  HEDDLE_REGISTER(local_base, 0x70, true, "address of the local memory of all resident threads")               \
  HEDDLE_REGISTER(parameter_bytes, 0x78, true, "size of the kernel's parameters")                              \
  HEDDLE_REGISTER(constant_bytes, 0x80, true, "size of the constant bank")                                     \
  HEDDLE_REGISTER(cycles, 0x88, false, "cycles since launches run, or of the latest time")                     \
  HEDDLE_REGISTER(fault_kind, 0x90, false, "what stopped the launch: isa::Fault::Kind plus 1; 0: nothing")     \
  HEDDLE_REGISTER(fault_pc, 0x98, false, "instruction index of the fault")                                     \
  HEDDLE_REGISTER(fault_address, 0xa0, false, "address of the fault")                                          \
  HEDDLE_REGISTER(fault_block, 0xa8, false, "linear index of the block of the fault")                          \
  HEDDLE_REGISTER(fault_thread, 0xb0, false, "linear index of the thread in its block")                        \
  HEDDLE_REGISTER(warp_size, 0xb8, true, "threads of a warp in this launch; 0: core.warp_size")                \
  HEDDLE_REGISTER(cooperative, 0xc0, true, "1: all blocks at once, which may meet at the grid's barrier")      \
  HEDDLE_REGISTER(grid_workspace, 0xc8, true, "what %envreg1 and %envreg2 read: high and low word")            \
  HEDDLE_REGISTER(carve_out, 0xd0, true, "preferred part of the scratchpad, in percent, plus 1; 0: none")      \
  HEDDLE_REGISTER(parameter_base, 0xd8, true, "address of a copy of the parameters; for constant caches")      \
  HEDDLE_REGISTER(constant_base, 0xe0, true, "address of a copy of the constant bank; for constant caches")    \
  HEDDLE_REGISTER(code_version, 0xe8, true, "another number whenever code has changed; 0: not told (icache.kept)")

enum class RegisterOffset : std::uint32_t {
#define HEDDLE_REGISTER(enumerator, offset, writable, meaning) enumerator = offset,
  HEDDLE_REGISTERS(HEDDLE_REGISTER)
#undef HEDDLE_REGISTER
};

struct RegisterInfo {
  std::string_view name;
  std::uint32_t offset;
  bool writable;
  std::string_view meaning;
};
inline constexpr std::array kRegisters = {
#define HEDDLE_REGISTER(enumerator, offset, writable, meaning) RegisterInfo{#enumerator, offset, writable, meaning},
    HEDDLE_REGISTERS(HEDDLE_REGISTER)
#undef HEDDLE_REGISTER
};

// Windows behind the registers: the kernel's parameters and the constant bank are written here.
inline constexpr std::uint32_t kRegisterBytes = kRegisters.back().offset + 8;
inline constexpr std::uint32_t kParameterWindow = 0x1000;
inline constexpr std::uint32_t kParameterWindowBytes = 0x8000;
inline constexpr std::uint32_t kConstantWindow = 0x10000;
inline constexpr std::uint32_t kConstantWindowBytes = 0x10000;
inline constexpr std::uint32_t kControlBytes = kConstantWindow + kConstantWindowBytes;

enum class LaunchStatus : std::uint64_t { idle = 0, running = 1, done = 2, fault = 3 };

}  // namespace heddle::hw
