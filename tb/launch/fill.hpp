// Initial contents of a buffer.
#pragma once

#include <cstdint>

#include "isa/device_memory.hpp"
#include "tb/launch/description.hpp"

namespace heddle::tb::launch {

// Gives device memory at `address` the buffer's contents: a file's at once, others where and when they are first
// touched. Throws InputError when its file cannot be read.
void fill_buffer(const Buffer& buffer, std::uint64_t address, isa::DeviceMemory& memory);

}  // namespace heddle::tb::launch
