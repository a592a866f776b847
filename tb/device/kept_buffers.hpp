// What buffers in device memory held, to be there again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "isa/device_memory.hpp"

namespace heddle::tb {

class KeptBuffers {
 public:
  // The memory outlives it; allocations stay as they are meanwhile.
  explicit KeptBuffers(isa::DeviceMemory& memory) : memory_(memory) {}
  // The buffer that the address lies in, if it does in one, is about to be written: keeps what it holds, once.
  void about_to_write(std::uint64_t address) {
    if (address - latest_begin_ >= latest_size_) {
      keep(address);
    }
  }
  // Of all buffers that are kept: what was kept and what is there change places.
  void exchange();

 private:
  void keep(std::uint64_t address);

  isa::DeviceMemory& memory_;
  std::map<std::uint64_t, std::vector<std::byte>> buffers_;  // by address
  std::uint64_t latest_begin_ = 0;
  std::uint64_t latest_size_ = 0;
};

}  // namespace heddle::tb
