// Contents of buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "isa/device_memory.hpp"
#include "tb/launch/description.hpp"

namespace heddle::tb::launch {

// Gives newly allocated device memory at `address` the contents of `buffer`: a file's at once, others where and when
// they are first touched. Throws InputError when the file cannot be read.
void fill_fresh(const Fill& fill, const Buffer& buffer, std::uint64_t address, isa::DeviceMemory& memory);

// Hands `bytes` bytes of elements of the buffer's type to `write`, piece by piece, with the offset of each. Throws
// InputError when the file cannot be read.
using WritePiece = std::function<void(std::uint64_t offset, std::span<const std::byte> piece)>;
void fill_now(const Fill& fill, const Buffer& buffer, std::uint64_t bytes, const WritePiece& write);

}  // namespace heddle::tb::launch
