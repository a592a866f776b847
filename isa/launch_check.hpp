// What must hold before a kernel can be launched, on any machine.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/fault.hpp"
#include "isa/module.hpp"

namespace heddle::isa {

inline constexpr std::uint32_t kMaxBlockThreads = 1024;
inline constexpr std::uint32_t kMaxGridX = 0x7fff'ffff;
inline constexpr std::uint32_t kMaxGridYZ = 65535;
inline constexpr std::uint64_t kMaxLaunchThreads = std::uint64_t{1} << 28U;  // one retirement hash each: 1 GiB
inline constexpr std::uint32_t kMaxLocalBytes = 512 * 1024;                  // local memory per thread

// Bytes of a block's scratchpad: static part rounded up to 16, then the dynamic part.
[[nodiscard]] constexpr std::uint64_t total_shared_bytes(const Kernel& kernel, const LaunchRequest& launch) {
  return ((std::uint64_t{kernel.shared_bytes} + 15U) & ~std::uint64_t{15}) + launch.dynamic_shared;
}

// Throws InputError for a request that contradicts itself or the kernel: zero or too large dimensions, parameter bytes
// that are not what the kernel declares, a block that breaks .reqntid or .maxntid.
void check_request(const Kernel& kernel, const LaunchRequest& launch);

// A fault for a request that no machine has room for: more than kMaxBlockThreads threads per block, a scratchpad larger
// than its window, more than kMaxLocalBytes of local memory.
[[nodiscard]] std::optional<Fault> check_resources(const Kernel& kernel, const LaunchRequest& launch);

// The kernel that a request names. Throws InputError that lists the module's kernels when there is none.
[[nodiscard]] const Kernel& kernel_of(const Module& module, const LaunchRequest& launch);

}  // namespace heddle::isa
