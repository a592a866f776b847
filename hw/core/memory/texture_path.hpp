// The way of texture fetches: which texels each lane reads, the lines that hold them, and what comes of them
// (isa/texture.hpp). The texels of all lanes are the accesses of the instruction: up to four pieces of each lane, which
// the coalescer joins by line, and which go to the texture cache as other lines go to the L1.
// Descriptors are in the host's table, which does not change while a kernel runs: finding one takes no time, as if a
// core had them all in its texture unit.
#pragma once

#include "hw/core/memory/memory_access.hpp"

namespace heddle::hw {

class TexturePath {
 public:
  explicit TexturePath(CoreState& state) : state_(state) {}
  // Checks every lane of a fetch, from lane 0 up, and finds its texels. False: the core has a fault, as after
  // AddressCheck::passes().
  [[nodiscard]] bool find(MemoryAccess& access);
  // A lane with fewer texels than another one reads its last one again, which costs nothing; one without any none.
  static void address(MemoryAccess& access);
  static void take(MemoryAccess& access, const link::LineRequest& request, std::uint64_t line_bytes);
  // Turns the texels into result registers after the last one has come.
  static void finish(const MemoryAccess& access);

 private:
  CoreState& state_;
};

}  // namespace heddle::hw
