// Hears of every access of the reference interpreter to global memory, textures' texels among them, block by block: who
// wants to know what the blocks of a launch have to do with each other.
#pragma once

#include <cstdint>
#include <optional>

#include "isa/interpreter.hpp"

namespace heddle::isa {

class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  // Blocks begin and end one after the other; `number` is the block-linear index.
  virtual void begins(std::uint64_t number) = 0;
  // Of the block that ends: instructions of all threads whose guards were true.
  virtual void ends(std::uint64_t executed_instructions) = 0;
  // What a thread of the present block does to [address, address + bytes), which lie within an allocation.
  virtual void loads(std::uint64_t address, std::uint32_t bytes) = 0;
  // `changes`: the bytes hold something else yet.
  // Told before it happens, as of atomics.
  virtual void stores(std::uint64_t address, std::uint32_t bytes, bool changes) = 0;
  // An atomic. `returns`: the thread learns what was there.
  virtual void updates(std::uint64_t address, AtomicOp op, Type type, bool returns) = 0;
  // False: the rest is not wanted. Asked often, but not after every instruction.
  [[nodiscard]] virtual bool goes_on() const = 0;
};

// interpret() for an observer. None: it did not want the rest; memory is as far as that has come, and the hash's total
// unchanged.
[[nodiscard]] std::optional<InterpreterResult> interpret_observed(const Module& module, const LaunchRequest& launch,
                                                                  DeviceMemory& memory, RetirementHash& hash,
                                                                  const InterpreterOptions& options,
                                                                  BlockObserver& observer);

}  // namespace heddle::isa
