#include "tb/device/kept_buffers.hpp"

namespace heddle::tb {

void KeptBuffers::keep(std::uint64_t address) {
  const isa::Allocation* const buffer = memory_.find(address, 1);
  if (buffer == nullptr) {
    return;
  }
  latest_begin_ = buffer->address;
  latest_size_ = buffer->size;
  if (const auto [place, is_new] = buffers_.try_emplace(buffer->address); is_new) {
    place->second.resize(buffer->size);
    memory_.read(buffer->address, place->second);
  }
}

void KeptBuffers::exchange() {
  std::vector<std::byte> present;
  for (auto& [address, bytes] : buffers_) {
    present.resize(bytes.size());
    memory_.read(address, present);
    memory_.write(address, bytes);
    bytes.swap(present);
  }
}

}  // namespace heddle::tb
