#include "workloads/index_search/index_tree.hpp"

#include <array>

#include "base/random.hpp"

namespace heddle::workloads {

IndexTree::IndexTree(std::uint32_t levels, std::uint64_t seed) : seed_(seed) {
  std::uint32_t rows = 1;
  for (std::uint32_t level = 0; level < levels; ++level) {
    rows_ += rows;
    rows *= kRowWays;
  }
  keys_ = rows_ * kRowKeys;
}

std::uint32_t IndexTree::key(std::uint32_t rank) const {
  Random random(seed_);
  random.skip(rank);
  return 4 * rank + static_cast<std::uint32_t>(random.next() >> 62U);
}

IndexTree::Place IndexTree::place_of(std::uint32_t row) const {
  // Which child of its parent each node on the way from the root is, from the last one up.
  std::array<std::uint32_t, kMostLevels> child{};
  std::uint32_t depth = 0;
  for (std::uint32_t at = row; at != 0; at = (at - 1) / kRowWays) {
    child[depth++] = (at - 1) % kRowWays;
  }
  Place place{0, keys_};
  for (std::uint32_t level = 0;; ++level) {
    place.child_keys = (place.child_keys - kRowKeys) / kRowWays;
    if (level == depth) {
      return place;
    }
    place.first += child[depth - 1 - level] * (place.child_keys + 1);  // a child, then a key of this node
  }
}

std::uint32_t IndexTree::word(std::uint32_t index) const {
  const std::uint32_t line = index % kRowWords / kLineWords;
  const std::uint32_t slot = index % kLineWords;
  if (slot >= kLineKeys) {
    return kNoKey;
  }
  // In ascending order a row node has line 1, key 0 of line 0, line 2, key 1 of line 0...
  const std::uint32_t position = line == 0 ? slot * (kLineKeys + 1) + kLineKeys : (line - 1) * (kLineKeys + 1) + slot;
  const Place place = place_of(index / kRowWords);
  return key(place.first + (position + 1) * place.child_keys + position);
}

}  // namespace heddle::workloads
