// The memory spaces of one block, functionally: global through DeviceMemory, scratchpad, local, constants, parameters.
//
// The order of checks is part of the contract with the core model, so that both report the same fault: lanes from 0 up;
// for each lane alignment first (a vector is aligned to its whole size), then bounds, then whether it may be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/block_observer.hpp"
#include "isa/device_memory.hpp"
#include "isa/fault.hpp"
#include "isa/reference/decoded.hpp"

namespace heddle::isa::reference {

struct AccessFault {
  Fault::Kind kind = Fault::Kind::out_of_bounds;
  unsigned lane = 0;
  std::uint64_t address = 0;  // as the instruction's space counts it
  std::uint32_t size = 0;     // bytes
  std::string detail;
};

class BlockMemory {
 public:
  // `observer`: hears of accesses to global memory; null: none.
  BlockMemory(DeviceMemory& global, std::span<const std::uint8_t> constants, std::span<const std::uint8_t> parameters,
              std::size_t shared_bytes, std::size_t local_bytes, std::size_t threads,
              BlockObserver* observer = nullptr);

  void clear();  // zeroes scratchpad and local memory before the next block
  // The linear number of the block's first thread in a launch that uses the device heap.
  void number_threads(std::uint64_t first) { first_number_ = first; }

  // Each executes one instruction for the lanes of the mask; lane i is thread first_thread + i of the block. Operands
  // and results are in `values`; address_low receives the low words of the generic addresses.
  // With `strays` a load out of bounds reads 0, all of it, and is added there.
  [[nodiscard]] std::optional<AccessFault> load(const Instruction& instruction, LaneMask lanes,
                                                std::uint32_t first_thread, LaneValues& values, LaneWord& address_low,
                                                std::vector<AccessFault>* strays = nullptr);
  [[nodiscard]] std::optional<AccessFault> store(const Instruction& instruction, LaneMask lanes,
                                                 std::uint32_t first_thread, LaneValues& values, LaneWord& address_low);
  // What each lane copies to the scratchpad, at once: result[0] is the address there, result[1] how much is read, where
  // the operation says so (fills).
  [[nodiscard]] std::optional<AccessFault> copy(const Instruction& instruction, LaneMask lanes,
                                                std::uint32_t first_thread, LaneValues& values, LaneWord& address_low,
                                                std::vector<AccessFault>* strays = nullptr);
  // What each lane copies in bulk, at once, and the barrier object that counts the bytes: result[0] is the address in
  // the scratchpad, result[1] how many bytes, result[2] the address of the object.
  [[nodiscard]] std::optional<AccessFault> bulk_copy(const Instruction& instruction, LaneMask lanes,
                                                     std::uint32_t first_thread, LaneValues& values,
                                                     LaneWord& address_low);
  [[nodiscard]] std::optional<AccessFault> atomic(const Instruction& instruction, LaneMask lanes,
                                                  std::uint32_t first_thread, LaneValues& values,
                                                  LaneWord& address_low);

  // All of it or, with a fault, nothing.
  [[nodiscard]] std::optional<AccessFault> accumulate(const Instruction& instruction, LaneMask lanes,
                                                      std::uint32_t first_thread, LaneValues& values,
                                                      LaneWord& address_low);

  // A texture fetch. Its faults: the handle of no texture, and texels out of bounds, lane by lane, in their order.
  [[nodiscard]] std::optional<AccessFault> fetch(const Instruction& instruction, LaneMask lanes, LaneValues& values);

 private:
  enum class Access : std::uint8_t { load, store, atomic };
  struct Place {
    std::byte* data = nullptr;      // null: fault
    std::uint32_t generic_low = 0;  // also of a fault but a misaligned access
    std::uint64_t watched = 0;      // its address in global memory, if accesses there are observed; else 0
  };
  // Checks one lane's access and finds its bytes; fills `fault` and returns null data when it must not happen.
  Place locate(Access access, Space space, std::uint64_t address, std::uint32_t size, std::uint32_t thread,
               std::optional<AccessFault>& fault);
  Place locate_global(Access access, std::uint64_t address, std::uint32_t size, std::uint32_t thread, bool generic,
                      std::optional<AccessFault>& fault);
  // On the device heap.
  Place locate_on_heap(Access access, std::uint64_t address, std::uint32_t size, std::uint32_t thread,
                       std::optional<AccessFault>& fault);
  [[nodiscard]] std::uint64_t number_of(std::uint32_t thread) const;
  // All of it in one buffer or heap block.
  [[nodiscard]] bool in_one_piece(std::uint64_t address, std::uint64_t size, std::uint32_t thread);

  void store_bytes(const Place& place, const void* from, std::uint32_t bytes);

  DeviceMemory& global_;
  BlockObserver* const observer_;
  AllocationFinder allocations_;
  // Copies: a byte is a byte in every space, and a launch copies them once.
  std::vector<std::byte> constants_;
  std::vector<std::byte> parameters_;
  std::vector<std::byte> shared_;
  std::vector<std::byte> local_;  // thread after thread
  std::size_t local_bytes_;
  std::optional<std::uint64_t> first_number_;
};

}  // namespace heddle::isa::reference
