// Byte enables as TLM-2.0 has them (0x00 or 0xff per byte), over whole lines: loops that the compiler vectorises.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tlm>

namespace heddle::link {

// target[i] = enable[i] ? source[i] : target[i]
inline void merge_bytes(std::byte* target, const std::byte* source, const std::uint8_t* enable, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const auto mask = static_cast<std::byte>(enable[i]);
    target[i] = (source[i] & mask) | (target[i] & ~mask);
  }
}

inline void add_enables(std::uint8_t* target, const std::uint8_t* more, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    target[i] |= more[i];
  }
}

[[nodiscard]] inline bool all_enabled(const std::uint8_t* enable, unsigned count) {
  std::uint8_t all = 0xff;
  for (unsigned i = 0; i < count; ++i) {
    all &= enable[i];
  }
  return all == 0xff;
}

[[nodiscard]] inline bool any_enabled(const std::uint8_t* enable, unsigned count) {
  std::uint64_t any = 0;
  unsigned at = 0;
  for (std::uint64_t eight = 0; at + sizeof eight <= count; at += sizeof eight) {
    std::memcpy(&eight, enable + at, sizeof eight);
    any |= eight;
  }
  for (; at != count; ++at) {
    any |= enable[at];
  }
  return any != 0;
}

// visit(number) for each block of `bytes` bytes that has an enabled byte of the payload, in their order. Block 0 begins
// `offset` bytes before the payload's first byte. Enables that are shorter than the data repeat.
template <class Visit>
void each_enabled_block(const ::tlm::tlm_generic_payload& payload, std::uint64_t offset, unsigned bytes, Visit visit) {
  const unsigned length = payload.get_data_length();
  const std::uint8_t* const enable = payload.get_byte_enable_ptr();
  const unsigned enables = enable != nullptr ? payload.get_byte_enable_length() : 0;
  for (unsigned at = 0; at != length;) {
    const std::uint64_t number = (offset + at) / bytes;
    const auto end = static_cast<unsigned>(std::min<std::uint64_t>(length, (number + 1) * bytes - offset));
    bool any = enables == 0;
    if (enables >= length) {
      any = any || any_enabled(enable + at, end - at);
    } else {
      for (unsigned byte = at; byte != end && !any; ++byte) {
        any = enable[byte % enables] != 0;
      }
    }
    if (any) {
      visit(number);
    }
    at = end;
  }
}

}  // namespace heddle::link
