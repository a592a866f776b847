// The way of copies in bulk to the unit that does them (section [bulk_copy]), which answers when all bytes have come
// and the barrier object has counted them.
//
//   socket    initiator, BulkCopyProtocol: to the core's unit (hw/core/share/bulk_copies.hpp)
//   make      of a checked instruction: nothing has been asked for
//   send      a copy for each of its lanes, in their order, all in one cycle, until the unit has no room
//   take      of a copy that has ended: a line that the memory refused is a bus error of its lane
#pragma once

#include <memory>
#include <vector>

#include "hw/core/memory/memory_access.hpp"
#include "hw/core/share/bulk_copy_protocol.hpp"

namespace heddle::hw {

class BulkCopyPath {
 public:
  explicit BulkCopyPath(CoreState& state) : socket("bulk_copies"), state_(state) {}
  BulkCopyInitiatorSocket socket;

  static void make(MemoryAccess& access) { access.in_bulk = true; }
  // True: all have been sent. False: the core's block_cause says what the next one waits for.
  [[nodiscard]] bool send(MemoryAccess& access);
  // Whose it was.
  MemoryAccess& take(BulkCopy& copy);

 private:
  struct OfLane : BulkCopy {
    MemoryAccess* access = nullptr;
    unsigned lane = 0;
  };
  CoreState& state_;
  std::vector<std::unique_ptr<OfLane>> all_;
  std::vector<OfLane*> free_;
};

}  // namespace heddle::hw
