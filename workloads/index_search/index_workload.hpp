// What the workloads share that look keys up in the thesis's index tree: their variants and the tree in device memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "workloads/index_search/index_tree.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {

class IndexWorkload : public KernelWorkload {
 protected:
  static constexpr double kSmall = 0.05;  // below this scale trees are smaller
  static constexpr std::uint32_t kNowhere = 0xffffffff;

  // Variants tree_traverse and row_hints; levels, at most `most_levels`, which is usual too, but `small_levels`
  // for inputs of less than a twentieth; and `more`.
  IndexWorkload(std::string name, const tb::WorkloadOptions& options, std::uint32_t most_levels,
                std::uint32_t small_levels, std::vector<tb::Variants::Known> more = {})
      : KernelWorkload(std::move(name), options, known(options, most_levels, small_levels, std::move(more))) {}

  [[nodiscard]] std::uint32_t levels() const { return variants().number("levels"); }
  // The kernel that searches as the variants say.
  [[nodiscard]] std::string kernel(std::string name) const {
    name += variants().flag("tree_traverse") ? "_tree" : "";
    return name += variants().flag("row_hints") ? "_hints" : "";
  }
  // The nodes take memory on the host where they are touched; nodes of a large tree are computed whenever they are read
  // and take none.
  [[nodiscard]] std::uint64_t place(tb::Executor& executor, const IndexTree& tree) const {
    const std::uint64_t bytes = tree.words() * sizeof(std::uint32_t);
    const std::uint64_t address = allocate(executor, "tree", bytes);
    const auto generate = [tree, address](std::uint64_t from, std::span<std::byte> out) {
      for (std::size_t i = 0; i < out.size();) {
        const std::uint64_t offset = from - address + i;
        const std::uint32_t word = tree.word(static_cast<std::uint32_t>(offset / 4));
        const std::size_t count = std::min<std::size_t>(4 - offset % 4, out.size() - i);
        std::memcpy(out.data() + i, reinterpret_cast<const std::byte*>(&word) + offset % 4, count);
        i += count;
      }
    };
    constexpr std::uint64_t kStored = 64U << 20U;
    if (bytes <= kStored) {
      executor.memory().fill_on_touch(address, bytes, generate);
    } else {
      executor.memory().compute_on_read(address, bytes, generate);
    }
    return address;
  }

 private:
  [[nodiscard]] static std::vector<tb::Variants::Known> known(const tb::WorkloadOptions& options,
                                                              std::uint32_t most_levels, std::uint32_t small_levels,
                                                              std::vector<tb::Variants::Known> more) {
    more.push_back({"tree_traverse"});
    more.push_back({"row_hints"});
    more.push_back({"levels", options.scale < kSmall ? small_levels : most_levels, 1, most_levels});
    return more;
  }
};

}  // namespace heddle::workloads
