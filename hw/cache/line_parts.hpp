// What payloads name of a line: the parts of LineRequest::parts, and the bytes of a read. No timing.
#pragma once

#include <cstdint>
#include <cstring>
#include <tlm>

#include "tlm/byte_enables.hpp"
#include "tlm/line_protocol.hpp"

namespace heddle::hw {

// What a payload names of the line, from the byte `offset` on.
[[nodiscard]] inline std::uint8_t parts_of(const ::tlm::tlm_generic_payload& payload, unsigned offset) {
  unsigned parts = 0;
  link::each_enabled_block(payload, offset, link::kPartBytes, [&parts](std::uint64_t part) { parts |= 1U << part; });
  return static_cast<std::uint8_t>(parts);
}
[[nodiscard]] inline std::uint8_t parts_of(const link::AtomicLanes& atomic, unsigned offset) {
  unsigned parts = 0;
  for (unsigned entry = 0; entry != atomic.count; ++entry) {
    parts |= 1U << ((offset + atomic.offset[entry]) / link::kPartBytes);  // aligned, so that it ends there too
  }
  return static_cast<std::uint8_t>(parts);
}

// The bytes that a read asks for.
inline void copy_read(::tlm::tlm_generic_payload& payload, const std::byte* from) {
  auto* const to = reinterpret_cast<std::byte*>(payload.get_data_ptr());
  const unsigned length = payload.get_data_length();
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() >= length) {
    link::merge_bytes(to, from, payload.get_byte_enable_ptr(), length);
  } else {
    std::memcpy(to, from, length);
  }
}

}  // namespace heddle::hw
