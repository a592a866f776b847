// Where the buffers of a LAUNCH.toml are on an executor: in memory of their own, or in a variable of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tb/device/executor.hpp"
#include "tb/launch/description.hpp"

namespace heddle::tb::launch {

class Storage {
 public:
  // Finds the variables that buffers name in executor.module(). Throws InputError for one that is not there, is
  // ambiguous, or is smaller than its buffer. Nothing is allocated yet.
  Storage(const Description& description, Executor& executor);

  void allocate();
  // The generic address of a buffer's first byte, as a kernel uses it.
  [[nodiscard]] std::uint64_t address(std::size_t buffer) const;
  // The bytes of a buffer from byte `offset` on.
  void read(std::size_t buffer, std::uint64_t offset, std::span<std::byte> out) const;
  void write(std::size_t buffer, std::uint64_t offset, std::span<const std::byte> in);
  // Gives a buffer what the file says it holds at first: its fill, and the pointers in it.
  void initialise(std::size_t buffer);
  // Fills `bytes` bytes from byte `offset` on.
  void fill(std::size_t buffer, std::uint64_t offset, std::uint64_t bytes, const Fill& fill);

 private:
  struct Place {
    isa::Space space = isa::Space::global;
    bool is_variable = false;
    std::uint64_t address = 0;  // constant: offset into the constant bank
  };
  void find_variable(const Buffer& buffer, Place& place) const;

  const Description& description_;
  Executor& executor_;
  std::vector<Place> places_;  // of the buffers
};

}  // namespace heddle::tb::launch
