// What caches answer from where memory is perfect (gpu.perfect_memory; ODGS paper 3.3): the memory's content without
// its time. Every access is answered as a hit.
//
// Within a cycle the content is what it was at the cycle's start: loads read it in their cache's turn, and stores and
// atomics are performed when all caches have had theirs (Clock::at_cycle_end), those of one cache in their order, the
// caches by number. Plain C++.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::hw {

class PerfectMemory {
 public:
  virtual ~PerfectMemory() = default;
  // `bytes` at `address`, which lie within one line. False: the memory refuses, and nothing has happened.
  [[nodiscard]] virtual bool read(std::uint64_t address, std::byte* to, unsigned bytes) = 0;
  // The bytes that are enabled (0x00 or 0xff per byte; null: all).
  [[nodiscard]] virtual bool write(std::uint64_t address, const std::byte* from, const std::uint8_t* enable,
                                   unsigned bytes) = 0;
};

}  // namespace heddle::hw
