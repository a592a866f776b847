// Huffman's prefix codes as DEFLATE has them (RFC 1951, 3.2.2).
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::os {

inline constexpr unsigned kLongestCode = 15;

// Lengths of a prefix code for symbols that come so often, no length above `most`; 0: the symbol does not come. At
// least two have one.
[[nodiscard]] std::vector<std::uint8_t> code_lengths(std::vector<std::uint32_t> counts, unsigned most);

// Bits as they are written, from the lowest.
struct PrefixBits {
  std::uint32_t bits = 0;
  std::uint32_t count = 0;
};

// The codes of these lengths, at most kLongestCode; no bits: the symbol does not come.
[[nodiscard]] std::vector<PrefixBits> codes_of(const std::vector<std::uint8_t>& lengths);

}  // namespace heddle::os
