#include "os/files/prefix_code.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace heddle::os {

std::vector<std::uint8_t> code_lengths(std::vector<std::uint32_t> counts, unsigned most) {
  for (std::size_t symbol = 0; std::count(counts.begin(), counts.end(), 0U) + 2 > std::ssize(counts); ++symbol) {
    counts[symbol] = std::max(counts[symbol], 1U);
  }
  std::vector<std::uint32_t> order;  // of those that come, from the rarest
  for (std::uint32_t symbol = 0; symbol != counts.size(); ++symbol) {
    if (counts[symbol] != 0) {
      order.push_back(symbol);
    }
  }
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return counts[a] != counts[b] ? counts[a] < counts[b] : a < b; });
  // Huffman's tree: its leaves in this order, then its inner nodes, whose weights ascend too.
  const std::size_t leaves = order.size();
  std::vector<std::uint64_t> weight(2 * leaves - 1);
  std::vector<std::size_t> parent(2 * leaves - 1);
  for (std::size_t leaf = 0; leaf != leaves; ++leaf) {
    weight[leaf] = counts[order[leaf]];
  }
  std::size_t next_leaf = 0;
  std::size_t next_node = leaves;
  for (std::size_t node = leaves; node != weight.size(); ++node) {
    for (int child = 0; child != 2; ++child) {
      const bool leaf = next_leaf != leaves && (next_node == node || weight[next_leaf] <= weight[next_node]);
      const std::size_t lighter = leaf ? next_leaf++ : next_node++;
      weight[node] += weight[lighter];
      parent[lighter] = node;
    }
  }
  std::vector<unsigned> depth(weight.size());
  std::vector<unsigned> of_length(most + 1);
  for (std::size_t node = weight.size() - 1; node-- != 0;) {
    depth[node] = depth[parent[node]] + 1;
    if (node < leaves) {
      ++of_length[std::min(depth[node], most)];
    }
  }
  // Where lengths were cut the code is too full: codes become longer until it is not.
  std::uint64_t full = 0;
  for (unsigned length = 1; length <= most; ++length) {
    full += std::uint64_t{of_length[length]} << (most - length);
  }
  for (; full > std::uint64_t{1} << most; --full) {
    --of_length[most];
    unsigned length = most - 1;
    while (of_length[length] == 0) {
      --length;
    }
    --of_length[length];
    of_length[length + 1] += 2;
  }
  std::vector<std::uint8_t> lengths(counts.size());
  std::size_t symbol = 0;
  for (unsigned length = most; length != 0; --length) {
    for (unsigned i = 0; i != of_length[length]; ++i) {
      lengths[order[symbol++]] = static_cast<std::uint8_t>(length);
    }
  }
  return lengths;
}

std::vector<PrefixBits> codes_of(const std::vector<std::uint8_t>& lengths) {
  std::array<std::uint32_t, kLongestCode + 2> next{};
  for (const std::uint8_t length : lengths) {
    next[length + 1] += length != 0 ? 1 : 0;
  }
  for (unsigned length = 2; length < next.size(); ++length) {
    next[length] = (next[length] + next[length - 1]) << 1U;
  }
  std::vector<PrefixBits> codes;
  codes.reserve(lengths.size());
  for (const std::uint8_t length : lengths) {
    std::uint32_t bits = 0;
    if (length != 0) {
      const std::uint32_t code = next[length]++;
      for (unsigned bit = 0; bit != length; ++bit) {
        bits |= ((code >> bit) & 1U) << (length - 1 - bit);
      }
    }
    codes.push_back({bits, length});
  }
  return codes;
}

}  // namespace heddle::os
