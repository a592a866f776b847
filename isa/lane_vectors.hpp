// Lanes in vectors, for code that moves and blends words of all lanes: half of the lanes at a time, which is what the
// widest vector registers hold, so that all steps on them stay there (speed.md: Lanes).
#pragma once

#include <cstdint>
#include <cstring>

#include "isa/semantics.hpp"

namespace heddle::isa::vectors {

inline constexpr unsigned kHalf = kLanes / 2;
using Half [[gnu::vector_size(kHalf * sizeof(std::uint32_t))]] = std::uint32_t;
inline constexpr Half kBit = {1U << 0U, 1U << 1U, 1U << 2U,  1U << 3U,  1U << 4U,  1U << 5U,  1U << 6U,  1U << 7U,
                              1U << 8U, 1U << 9U, 1U << 10U, 1U << 11U, 1U << 12U, 1U << 13U, 1U << 14U, 1U << 15U};

// Of the word's lanes, those from `first` on, which is 0 or kHalf.
inline Half load(const std::uint32_t* word, unsigned first) {
  Half half;
  std::memcpy(&half, word + first, sizeof half);
  return half;
}
inline void store(std::uint32_t* word, unsigned first, Half half) {
  std::memcpy(word + first, &half, sizeof half);
}

// One of two values per lane, by the mask of all lanes.
inline Half select(LaneMask lanes, unsigned first, Half then, Half otherwise) {
  return ((Half{} + (lanes >> first)) & kBit) != 0 ? then : otherwise;
}

// Some of an array of lanes' numbers become `value`.
inline void fill(std::uint16_t* into, std::uint16_t value, LaneMask lanes) {
  using Numbers [[gnu::vector_size(kHalf * sizeof(std::uint16_t))]] = std::uint16_t;
  const Numbers bit = __builtin_convertvector(kBit, Numbers);
  for (unsigned first = 0; first != kLanes; first += kHalf) {
    Numbers numbers;
    std::memcpy(&numbers, into + first, sizeof numbers);
    const Numbers chosen = (Numbers{} + static_cast<std::uint16_t>(lanes >> first)) & bit;
    numbers = chosen != 0 ? Numbers{} + value : numbers;
    std::memcpy(into + first, &numbers, sizeof numbers);
  }
}

// The lanes whose number is `value`.
inline LaneMask equal(const std::uint16_t* numbers, std::uint16_t value) {
  using Numbers [[gnu::vector_size(kHalf * sizeof(std::uint16_t))]] = std::uint16_t;
  using Bytes [[gnu::vector_size(kHalf)]] = std::uint8_t;
  // Eight bytes of 0 or 1, the first one lowest, become eight bits at the top: no two of the products' bits meet.
  constexpr std::uint64_t kBytesToBits = 0x0102'0408'1020'4080;
  LaneMask lanes = 0;
  for (unsigned first = 0; first != kLanes; first += kHalf) {
    Numbers of;
    std::memcpy(&of, numbers + first, sizeof of);
    const Numbers same = of == value ? Numbers{} + 1 : Numbers{};
    const Bytes bytes = __builtin_convertvector(same, Bytes);
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::memcpy(&low, &bytes, sizeof low);
    std::memcpy(&high, reinterpret_cast<const std::uint8_t*>(&bytes) + sizeof low, sizeof high);
    lanes |= static_cast<LaneMask>(low * kBytesToBits >> 56U | high * kBytesToBits >> 56U << 8U) << first;
  }
  return lanes;
}

// Some lanes of a word become those of another one.
inline void blend(std::uint32_t* into, const std::uint32_t* from, LaneMask lanes) {
  for (unsigned first = 0; first != kLanes; first += kHalf) {
    store(into, first, select(lanes, first, load(from, first), load(into, first)));
  }
}

// A word of lanes of several ones: part(index, lanes) gives the word of which it takes `lanes`, for each index below
// `count`. No two of them have a lane in common; lanes of none are zero.
template <class Part>
inline void gather(unsigned count, Part part, std::uint32_t* out) {
  Half low{};
  Half high{};
  for (unsigned index = 0; index != count; ++index) {
    LaneMask lanes = 0;
    const std::uint32_t* const word = part(index, lanes);
    low |= select(lanes, 0, load(word, 0), Half{});
    high |= select(lanes, kHalf, load(word, kHalf), Half{});
  }
  store(out, 0, low);
  store(out, kHalf, high);
}

}  // namespace heddle::isa::vectors
