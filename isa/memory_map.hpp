// The device's address space. Generic addresses below kGlobalBase fall into windows; the same map serves 32-bit and
// 64-bit programs, so that a 32-bit pointer is a zero-extended 64-bit one.
//
//   0x0000_0000  null page: every access faults
//   0x0100_0000  shared window    (shared addresses are offsets into it)
//   0x0200_0000  local window     (local addresses are offsets into it)
//   0x0300_0000  constant window  (constant addresses are offsets into it)
//   0x0400_0000  code             (64-bit instruction words of the loaded module)
//   0x0500_0000  module variables (.global), laid out by the PTX front end
//   0x1000_0000  buffers, allocated by the host; above 4 GiB for 64-bit programs only
//   0x8000_0000  the device heap of 32-bit programs, only while one that has kernels with malloc is loaded
//   0x20_0000_0000 memory of a CUDA program's host that kernels may reach, at its own addresses
//   0x40_0000_0000 backing store of local memory (never addressed by programs directly)
//   0x4000_0000_0000 launches' parameters and constants, for constant caches (likewise)
//   0x8000_0000_0000 the device heap of 64-bit programs (isa/device_heap.hpp)
#pragma once

#include <cstdint>

namespace heddle::isa {

inline constexpr std::uint64_t kSharedWindow = 0x0100'0000;
inline constexpr std::uint64_t kLocalWindow = 0x0200'0000;
inline constexpr std::uint64_t kConstantWindow = 0x0300'0000;
inline constexpr std::uint64_t kWindowSize = 0x0100'0000;
inline constexpr std::uint64_t kCodeBase = 0x0400'0000;
inline constexpr std::uint64_t kModuleBase = 0x0500'0000;
inline constexpr std::uint64_t kGlobalBase = 0x1000'0000;
inline constexpr std::uint64_t kBuffersEnd = 0x20'0000'0000;
inline constexpr std::uint64_t kLocalBacking = 0x40'0000'0000;
inline constexpr std::uint64_t kBankBacking = 0x4000'0000'0000;
inline constexpr std::uint64_t kBankBackingBytes = 0x0400'0000;

// Generic address to space; addresses outside every window are global.
enum class Window : std::uint8_t { global, shared, local, constant };
[[nodiscard]] constexpr Window window_of(std::uint64_t generic) {
  if (generic - kSharedWindow < kWindowSize) return Window::shared;
  if (generic - kLocalWindow < kWindowSize) return Window::local;
  if (generic - kConstantWindow < kWindowSize) return Window::constant;
  return Window::global;
}

}  // namespace heddle::isa
