// Barrier objects in shared memory (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"): what
// the 64 bits of one are, which PTX leaves open.
//
//   bit 0        the phase's parity
//   bits 1-20    arrivals that the phase still waits for
//   bits 22-41   arrivals that a phase waits for
//   bits 43-63   bytes that the phase still waits for (tx-count), two's complement
//
// So every arrival and count of bytes is one atomic addition, as in hardware (AtomicOp::barrier). What leaves nothing
// to wait for begins the next phase with it.
#pragma once

#include <cstdint>

namespace heddle::isa::barrier_object {

inline constexpr unsigned kLeft = 1, kExpected = 22, kBytes = 43;
inline constexpr std::uint64_t kArrivals = 0xF'FFFF;
// All that a phase waits for.
inline constexpr std::uint64_t kAwaited = (kArrivals << kLeft) | (~std::uint64_t{0} << kBytes);

// The object after an addition.
[[nodiscard]] constexpr std::uint64_t after(std::uint64_t object, std::uint64_t sum) {
  const std::uint64_t now = object + sum;
  if ((now & kAwaited) != 0) {
    return now;
  }
  const std::uint64_t arrivals = ((now >> kExpected) & kArrivals) << kLeft;
  return (now ^ 1U) + arrivals;
}

// What is added when so many bytes have come (complete_tx).
[[nodiscard]] constexpr std::uint64_t bytes_come(std::uint32_t bytes) {
  return 0 - (std::uint64_t{bytes} << kBytes);
}

}  // namespace heddle::isa::barrier_object
