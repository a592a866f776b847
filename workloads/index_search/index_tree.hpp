// The index tree of thesis 6.2.3.2: row nodes of 960 keys, laid out breadth first, whose contents are known from the
// address alone. Key number r, counted in ascending order, is one of 4r to 4r+3: keys are unique, and absent numbers
// lie everywhere between them.
#pragma once

#include <cstdint>

namespace heddle::workloads {

class IndexTree {
 public:
  static constexpr std::uint32_t kLineWords = 32;
  static constexpr std::uint32_t kLineKeys = 30;
  static constexpr std::uint32_t kRowWords = 1024;
  static constexpr std::uint32_t kRowKeys = 960;
  static constexpr std::uint32_t kRowWays = 961;
  static constexpr std::uint32_t kNoKey = 0xffffffff;  // the two words of a line that hold no key
  static constexpr std::uint32_t kMostLevels = 3;      // of row nodes: 887 503 680 keys, 3.8 GB

  IndexTree(std::uint32_t levels, std::uint64_t seed);

  [[nodiscard]] std::uint32_t keys() const { return keys_; }
  [[nodiscard]] std::uint32_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t words() const { return std::uint64_t{rows_} * kRowWords; }
  // Key number `rank` in ascending order, and a number between keys that is none, near it.
  [[nodiscard]] std::uint32_t key(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t absent(std::uint32_t rank) const { return key(rank) ^ 1U; }
  // What stands in a word of the tree.
  [[nodiscard]] std::uint32_t word(std::uint32_t index) const;

 private:
  // The number of the first key below a row node, and the keys below each of its children.
  struct Place {
    std::uint32_t first;
    std::uint32_t child_keys;
  };
  [[nodiscard]] Place place_of(std::uint32_t row) const;

  std::uint64_t seed_;
  std::uint32_t keys_ = 0;
  std::uint32_t rows_ = 0;
};

}  // namespace heddle::workloads
