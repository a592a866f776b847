// Results of joins: pairs of rows in no particular order, as two columns of `room` words and the count of pairs.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "workloads/support.hpp"

namespace heddle::workloads {

using RowPair = std::pair<std::uint32_t, std::uint32_t>;

// Are they the same pairs, each as often?
[[nodiscard]] inline tb::Verdict compare_pairs(std::vector<RowPair> found, std::vector<RowPair> expected) {
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  const auto [ours, theirs] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (found.size() != expected.size()) {
    return {false, fmt::format("{} pairs are joined instead of {}", found.size(), expected.size())};
  }
  if (ours != found.end()) {
    return {false, fmt::format("rows {} and {} are joined where the host joins {} and {}", ours->first, ours->second,
                               theirs->first, theirs->second)};
  }
  return {true, fmt::format("{} joined pairs equal the host's", found.size())};
}

// output: two columns of `room` words; used: how many pairs there are. Of a count beyond the room, the room and one.
[[nodiscard]] inline std::vector<RowPair> download_pairs(tb::Executor& executor, std::uint64_t output,
                                                         std::uint32_t room, std::uint64_t used) {
  const auto read = [&](std::uint64_t address, std::size_t count) {
    std::vector<std::uint32_t> words(count);
    executor.memory().read(address, std::as_writable_bytes(std::span(words)));
    return words;
  };
  const std::uint32_t count = read(used, 1)[0];
  if (count > room) {
    return std::vector<RowPair>(std::size_t{room} + 1);
  }
  const std::vector<std::uint32_t> left = read(output, count);
  const std::vector<std::uint32_t> right = read(output + std::uint64_t{room} * sizeof(std::uint32_t), count);
  std::vector<RowPair> pairs;
  for (std::uint32_t i = 0; i < count; ++i) {
    pairs.emplace_back(left[i], right[i]);
  }
  return pairs;
}

}  // namespace heddle::workloads
