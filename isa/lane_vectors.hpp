// Lanes in vectors, for code that moves and blends words of all lanes: as many lanes at a time as one vector register
// of the host holds, so that every step on them stays in registers (docs/performance.md). A wider vector would be right
// too, but g++ takes a choice by mask on it apart, lane by lane.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "isa/semantics.hpp"

namespace heddle::isa::vectors {

// Bytes of the widest vector register.
#if defined(__AVX512F__)
inline constexpr unsigned kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr unsigned kRegisterBytes = 32;
#else
inline constexpr unsigned kRegisterBytes = 16;
#endif

// Lanes of 32 bits in a register: all vectors below begin at a multiple of that.
inline constexpr unsigned kPart = kRegisterBytes / sizeof(std::uint32_t);
static_assert(kLanes % kPart == 0);
using Part [[gnu::vector_size(kPart * sizeof(std::uint32_t))]] = std::uint32_t;

// Lane numbers of 16 bits: twice as many in a register, but no more than a mask of 16 bits chooses from.
inline constexpr unsigned kNumbers = kPart * 2 < 16 ? kPart * 2 : 16;
static_assert(kLanes % kNumbers == 0 && kNumbers % 8 == 0);
using Numbers [[gnu::vector_size(kNumbers * sizeof(std::uint16_t))]] = std::uint16_t;

// Bit n in element n.
template <class Vector, unsigned... element>
consteval Vector bit_of_each(std::integer_sequence<unsigned, element...> /*all*/) {
  return Vector{static_cast<std::uint16_t>(1U << element)...};
}
inline constexpr Part kBit = bit_of_each<Part>(std::make_integer_sequence<unsigned, kPart>());
inline constexpr Numbers kNumberBit = bit_of_each<Numbers>(std::make_integer_sequence<unsigned, kNumbers>());

// Of the word's lanes, the kPart from `first` on.
inline Part load(const std::uint32_t* word, unsigned first) {
  Part part;
  std::memcpy(&part, word + first, sizeof part);
  return part;
}
inline void store(std::uint32_t* word, unsigned first, Part part) {
  std::memcpy(word + first, &part, sizeof part);
}

// One of two values per lane, by the mask of all lanes. (The lanes are the same vector for every `first`, and the bits
// constants where `first` is one.)
inline Part select(LaneMask lanes, unsigned first, Part then, Part otherwise) {
  return ((Part{} + lanes) & (kBit << first)) != 0 ? then : otherwise;
}

// Some of an array of lanes' numbers become `value`.
inline void fill(std::uint16_t* into, std::uint16_t value, LaneMask lanes) {
  for (unsigned first = 0; first != kLanes; first += kNumbers) {
    Numbers numbers;
    std::memcpy(&numbers, into + first, sizeof numbers);
    const Numbers chosen = (Numbers{} + static_cast<std::uint16_t>(lanes >> first)) & kNumberBit;
    numbers = chosen != 0 ? Numbers{} + value : numbers;
    std::memcpy(into + first, &numbers, sizeof numbers);
  }
}

// The lanes whose number is `value`.
inline LaneMask equal(const std::uint16_t* numbers, std::uint16_t value) {
  using Bytes [[gnu::vector_size(kNumbers)]] = std::uint8_t;
  // Eight bytes of 0 or 1, the first one lowest, become eight bits at the top: no two of the products' bits meet.
  constexpr std::uint64_t kBytesToBits = 0x0102'0408'1020'4080;
  LaneMask lanes = 0;
  for (unsigned first = 0; first != kLanes; first += kNumbers) {
    Numbers of;
    std::memcpy(&of, numbers + first, sizeof of);
    const Numbers same = of == value ? Numbers{} + 1 : Numbers{};
    const Bytes bytes = __builtin_convertvector(same, Bytes);
    for (unsigned eight = 0; eight != kNumbers; eight += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, reinterpret_cast<const std::uint8_t*>(&bytes) + eight, sizeof word);
      lanes |= static_cast<LaneMask>(word * kBytesToBits >> 56U) << (first + eight);
    }
  }
  return lanes;
}

// All lanes of a word.
inline void copy(std::uint32_t* into, const std::uint32_t* from) {
  for (unsigned first = 0; first != kLanes; first += kPart) {
    store(into, first, load(from, first));
  }
}
inline void set(std::uint32_t* into, std::uint32_t value) {
  for (unsigned first = 0; first != kLanes; first += kPart) {
    store(into, first, Part{} + value);
  }
}

// Some lanes of a word become the lanes of another word.
inline void blend(std::uint32_t* into, const std::uint32_t* from, LaneMask lanes) {
  for (unsigned first = 0; first != kLanes; first += kPart) {
    store(into, first, select(lanes, first, load(from, first), load(into, first)));
  }
}

// A word of lanes of several ones: part(index, lanes) gives the word of which it takes `lanes`, for each index below
// `count`. No two of them have a lane in common; lanes of none are zero.
template <class Source>
inline void gather(unsigned count, Source part, std::uint32_t* out) {
  std::array<Part, kLanes / kPart> parts{};
  for (unsigned index = 0; index != count; ++index) {
    LaneMask lanes = 0;
    const std::uint32_t* const word = part(index, lanes);
    for (unsigned at = 0; at != parts.size(); ++at) {
      parts[at] |= select(lanes, at * kPart, load(word, at * kPart), Part{});
    }
  }
  for (unsigned at = 0; at != parts.size(); ++at) {
    store(out, at * kPart, parts[at]);
  }
}

}  // namespace heddle::isa::vectors
