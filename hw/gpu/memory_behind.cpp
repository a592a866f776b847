#include "hw/gpu/memory_behind.hpp"

#include <algorithm>
#include <array>

#include "tlm/payload_pool.hpp"

namespace heddle::hw {

bool MemoryBehind::transfer(::tlm::tlm_command command, std::uint64_t address, std::byte* data, unsigned bytes) {
  ::tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(data));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  return sockets_[map_.channel(address)]->transport_dbg(payload) == bytes;
}

bool MemoryBehind::read(std::uint64_t address, std::byte* to, unsigned bytes) {
  return transfer(::tlm::TLM_READ_COMMAND, address, to, bytes);
}

// Debug transport knows no byte enables: a transfer for each run of bytes.
bool MemoryBehind::write(std::uint64_t address, const std::byte* from, const std::uint8_t* enable, unsigned bytes) {
  std::array<std::byte, link::kMaxLineBytes> data;
  std::copy_n(from, bytes, data.begin());
  for (unsigned at = 0; at != bytes;) {
    if (enable != nullptr && enable[at] == 0) {
      ++at;
      continue;
    }
    unsigned end = at + 1;
    while (end != bytes && (enable == nullptr || enable[end] != 0)) {
      ++end;
    }
    if (!transfer(::tlm::TLM_WRITE_COMMAND, address + at, data.data() + at, end - at)) {
      return false;
    }
    at = end;
  }
  return true;
}

}  // namespace heddle::hw
