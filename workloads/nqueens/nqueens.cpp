// nqueens: counts the ways to place 13 queens on a 13 x 13 board (NQU of the warp-size study). Search trees of
// different depth make the threads of a warp diverge. With the variant `small_blocks` in the launches of the study's
// program, from GPGPU-Sim's benchmarks: blocks of 96 threads, a board per thread, a sum per block.
#include <array>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

struct Item {
  std::uint32_t columns = 0, left = 0, right = 0, unused = 0;
};

class NQueens final : public KernelWorkload {
 public:
  explicit NQueens(const tb::WorkloadOptions& options) : KernelWorkload("nqueens", options, {{kSmallBlocks}}) {}
  [[nodiscard]] std::uint64_t threads() const override {
    return small_blocks() ? std::uint64_t{grid(boards())} * kSmallBlock : resident_threads();
  }
  [[nodiscard]] double demo_scale() const override { return 0.1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = side();
    std::vector<Item> items;
    std::vector<std::uint32_t> solutions;  // of each item, by plain backtracking over column numbers
    std::vector<std::uint32_t> placed;
    enumerate(n, placed, items, solutions);
    const auto count = static_cast<std::uint32_t>(items.size());
    const std::uint32_t blocks = small_blocks() ? grid(count) : this->blocks();
    const std::size_t counts = small_blocks() ? blocks : resident_threads();
    const std::uint64_t device_items = upload(executor, "items", items);
    const std::uint64_t device_found = allocate(executor, "solutions", counts * sizeof(std::uint32_t));
    const char* const kernel = small_blocks() ? "count_by_blocks" : "nqueens";
    executor.plan({1, blocks});
    launch(executor, kernel, {blocks}, {small_blocks() ? kSmallBlock : kBlock},
           tb::Arguments(executor.module(), kernel)
               .pointer(device_items)
               .pointer(device_found)
               .value(count)
               .value(n)
               .value(n - kFilledRows));

    std::vector<std::uint32_t> expected(counts, 0);
    for (std::size_t i = 0; i < solutions.size(); ++i) {
      expected[small_blocks() ? i / kSmallBlock : i % expected.size()] += solutions[i];
    }
    const auto found = download<std::uint32_t>(executor, device_found, expected.size());
    std::uint32_t total = 0;
    for (const std::uint32_t value : found) {
      total += value;
    }
    // The known numbers of solutions (OEIS A000170).
    static constexpr std::array<std::uint32_t, 17> kKnown = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                                             352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};
    return both(compare(small_blocks() ? "counts per block" : "counts per thread", found, expected),
                compare(fmt::format("total for {} queens ({})", n, kKnown[n]), {total}, std::vector{kKnown[n]}));
  }

 private:
  static constexpr std::uint32_t kFilledRows = 4;

  static constexpr const char* kSmallBlocks = "small_blocks";
  static constexpr std::uint32_t kSmallBlock = 96;
  [[nodiscard]] bool small_blocks() const { return variants().flag(kSmallBlocks); }
  [[nodiscard]] static std::uint32_t grid(std::uint32_t boards) { return (boards + kSmallBlock - 1) / kSmallBlock; }
  // How many there are with the first rows filled.
  [[nodiscard]] std::uint32_t boards() const {
    std::vector<std::uint32_t> placed;
    return count_boards(side(), placed);
  }
  static std::uint32_t count_boards(std::uint32_t n, std::vector<std::uint32_t>& placed) {
    if (placed.size() == kFilledRows) {
      return 1;
    }
    std::uint32_t boards = 0;
    for (std::uint32_t column = 0; column < n; ++column) {
      if (fits(placed, column)) {
        placed.push_back(column);
        boards += count_boards(n, placed);
        placed.pop_back();
      }
    }
    return boards;
  }

  // One row more makes 5 to 6 times the work; 13 at scale 1, at least 8. At most 16, or as deep as the scratchpad's
  // stack of small blocks is.
  [[nodiscard]] std::uint32_t side() const {
    return static_cast<std::uint32_t>(
        std::clamp(13 + std::lround(std::log(scale()) / std::log(5.5)), 8L, small_blocks() ? 14L : 16L));
  }

  static bool fits(const std::vector<std::uint32_t>& placed, std::uint32_t column) {
    const auto row = static_cast<std::uint32_t>(placed.size());
    for (std::uint32_t r = 0; r < row; ++r) {
      const std::uint32_t apart = row - r;
      if (placed[r] == column || placed[r] + apart == column || column + apart == placed[r]) {
        return false;
      }
    }
    return true;
  }
  static std::uint32_t count_solutions(std::uint32_t n, std::vector<std::uint32_t>& placed) {
    if (placed.size() == n) {
      return 1;
    }
    std::uint32_t solutions = 0;
    for (std::uint32_t column = 0; column < n; ++column) {
      if (fits(placed, column)) {
        placed.push_back(column);
        solutions += count_solutions(n, placed);
        placed.pop_back();
      }
    }
    return solutions;
  }
  static void enumerate(std::uint32_t n, std::vector<std::uint32_t>& placed, std::vector<Item>& items,
                        std::vector<std::uint32_t>& solutions) {
    if (placed.size() == kFilledRows) {
      Item item;
      for (std::uint32_t row = 0; row < kFilledRows; ++row) {
        const std::uint32_t apart = kFilledRows - row;
        item.columns |= 1U << placed[row];
        item.left |= 1U << (placed[row] + apart);
        item.right |= (1U << placed[row] << n) >> apart;
      }
      items.push_back(item);
      solutions.push_back(count_solutions(n, placed));
      return;
    }
    for (std::uint32_t column = 0; column < n; ++column) {
      if (fits(placed, column)) {
        placed.push_back(column);
        enumerate(n, placed, items, solutions);
        placed.pop_back();
      }
    }
  }
};

const Register<tb::Workload, NQueens> nqueens_entry{"nqueens",
                                                    "solutions of the 13-queens problem; variant small_blocks"};

}  // namespace
}  // namespace heddle::workloads
