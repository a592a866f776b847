// Byte enables as TLM-2.0 has them (0x00 or 0xff per byte), over whole lines: loops that the compiler vectorises.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace heddle::link
