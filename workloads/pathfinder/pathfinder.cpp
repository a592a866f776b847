// pathfinder: the cheapest ways through a grid of 100 rows of 100,000 random costs (DYN of the warp-size study, after
// Rodinia), twenty rows a launch in overlapping pieces held in the scratchpad.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Pathfinder final : public KernelWorkload {
 public:
  explicit Pathfinder(const tb::WorkloadOptions& options) : KernelWorkload("pathfinder", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{pieces()} * kBlock; }
  [[nodiscard]] double demo_scale() const override { return 0.15; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t columns = this->columns();
    Random random(options().seed);
    std::vector<std::int32_t> costs(std::size_t{kRows} * columns);
    std::generate(costs.begin(), costs.end(), [&random] { return static_cast<std::int32_t>(random.below(10)); });
    std::vector<std::int32_t> ways(costs.begin(), costs.begin() + columns);
    const std::vector<std::int32_t> wall(costs.begin() + columns, costs.end());
    const std::uint64_t device_wall = upload(executor, "wall", wall);
    std::uint64_t source = upload(executor, "ways", ways);
    std::uint64_t target = allocate(executor, "ways_between", ways.size() * sizeof(std::int32_t));
    const std::uint32_t launches = (kRows - 1 + kHeight - 1) / kHeight;
    executor.plan({launches, std::uint64_t{launches} * pieces()});
    for (std::uint32_t row = 0; row < kRows - 1; row += kHeight) {
      launch(executor, "pathfinder", {pieces()}, {kBlock},
             tb::Arguments(executor.module(), "pathfinder")
                 .pointer(device_wall + std::uint64_t{row} * columns * sizeof(std::int32_t))
                 .pointer(source)
                 .pointer(target)
                 .value(columns)
                 .value(std::min(kHeight, kRows - 1 - row))
                 .value(kHeight));
      std::swap(source, target);
    }

    // Row by row over the whole grid.
    for (std::size_t row = 1; row < kRows; ++row) {
      std::vector<std::int32_t> next(columns);
      for (std::size_t column = 0; column < columns; ++column) {
        const auto first = ways.begin() + static_cast<std::ptrdiff_t>(column == 0 ? 0 : column - 1);
        const auto end = ways.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(column + 2, columns));
        next[column] = *std::min_element(first, end) + costs[row * columns + column];
      }
      ways.swap(next);
    }
    return compare("costs of ways", download<std::int32_t>(executor, source, ways.size()), ways);
  }

 private:
  static constexpr std::uint32_t kRows = 100;
  static constexpr std::uint32_t kHeight = 20;  // rows of a launch
  static constexpr std::uint32_t kInner = kBlock - 2 * kHeight;

  [[nodiscard]] std::uint32_t columns() const { return scaled(100'000, 1000); }
  [[nodiscard]] std::uint32_t pieces() const { return (columns() + kInner - 1) / kInner; }
};

const Register<tb::Workload, Pathfinder> pathfinder_entry{"pathfinder",
                                                          "cheapest ways through a grid of 100 rows of 100,000 costs"};

}  // namespace
}  // namespace heddle::workloads
