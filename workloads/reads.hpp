// Reads of a genome, for the workloads that match them to a reference (suffix_tree, suffix_array): letters, what they
// are drawn from, and how far each matches, by sorted text on the host.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/support.hpp"

namespace heddle::workloads::reads {

inline constexpr std::uint32_t kLength = 25;                    // letters of a read
inline constexpr std::uint32_t kLeast = 20;                     // of a match that is looked for
inline constexpr std::uint32_t kPlaces = kLength - kLeast + 1;  // of a read at which one can begin

// Letters 0 to 3. A tenth repeats what came before, as genomes do.
[[nodiscard]] inline std::vector<std::uint8_t> reference(std::uint32_t letters, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint8_t> text;
  text.reserve(letters + 200);
  while (text.size() < letters) {
    const std::size_t length = 50 + random.below(100);
    const bool repeats = text.size() > 1000 && random.below(10) == 0;
    const std::size_t from = repeats ? random.below(static_cast<std::uint32_t>(text.size() - 200)) : 0;
    for (std::size_t i = 0; i < length; ++i) {
      text.push_back(repeats ? text[from + i] : static_cast<std::uint8_t>(random.below(4)));
    }
  }
  text.resize(letters);
  return text;
}

// Reads of the reference, a letter in a hundred misread.
[[nodiscard]] inline std::vector<std::uint8_t> draw(const std::vector<std::uint8_t>& reference, std::uint32_t count,
                                                    std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint8_t> all;
  all.reserve(std::size_t{count} * kLength);
  for (std::uint32_t read = 0; read < count; ++read) {
    const std::uint32_t from = random.below(static_cast<std::uint32_t>(reference.size()) - kLength + 1);
    for (std::uint32_t i = 0; i < kLength; ++i) {
      const std::uint8_t letter = reference[from + i];
      all.push_back(random.below(100) == 0 ? static_cast<std::uint8_t>((letter + 1 + random.below(3)) % 4) : letter);
    }
  }
  return all;
}

// Of each read and each place in it, how many letters from there on stand somewhere in the reference.
[[nodiscard]] inline std::vector<std::uint32_t> matches(const std::vector<std::uint8_t>& reference,
                                                        const std::vector<std::uint8_t>& reads) {
  const std::string_view text(reinterpret_cast<const char*>(reference.data()), reference.size());
  std::vector<std::string_view> pieces;
  pieces.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    pieces.push_back(text.substr(i, kLength));
  }
  std::sort(pieces.begin(), pieces.end());
  const auto common = [](std::string_view a, std::string_view b) {
    return static_cast<std::uint32_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  };
  std::vector<std::uint32_t> all;
  for (std::size_t read = 0; read < reads.size() / kLength; ++read) {
    const std::string_view letters(reinterpret_cast<const char*>(reads.data()) + read * kLength, kLength);
    for (std::uint32_t place = 0; place < kPlaces; ++place) {
      const std::string_view wanted = letters.substr(place);
      const auto after = std::lower_bound(pieces.begin(), pieces.end(), wanted);
      std::uint32_t most = after != pieces.end() ? common(*after, wanted) : 0;
      most = after != pieces.begin() ? std::max(most, common(*(after - 1), wanted)) : most;
      all.push_back(most);
    }
  }
  return all;
}

}  // namespace heddle::workloads::reads
