// The way of local accesses: where in device memory each lane's bytes lie, and which of them its thread has written.
// Both are a matter of the thread's home (hw/state/local_memory.hpp), wherever it is executed.
#pragma once

#include "hw/core/memory/memory_access.hpp"

namespace heddle::hw {

class LocalPath {
 public:
  explicit LocalPath(const CoreState& state) : state_(state) {}
  // Finds access.addresses of all lanes that go to memory, global ones too: in pieces of 32 bits where some are local.
  void translate(MemoryAccess& access) const;
  // Of a store that begins: notes what it writes. Of a load that has its bytes: zeroes those that were never written.
  void follow(MemoryAccess& access) const;

 private:
  const CoreState& state_;
};

}  // namespace heddle::hw
