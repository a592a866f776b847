// aggregates: SUM, AVG, MIN, MAX and COUNT of a column of 4M rows by group (thesis 9.2.3).
//
//   groups=N    groups, 4 without it; the scratchpad's 3 KB per block and group bound the resident blocks
//   progress    calls progress() after each row (thesis 9.2.2)
#include <algorithm>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Aggregates final : public KernelWorkload {
 public:
  explicit Aggregates(const tb::WorkloadOptions& options)
      : KernelWorkload("aggregates", options, {{"groups", 4, 1, 8}, {"progress"}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{grid()} * kBlock; }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = rows();
    const std::uint32_t groups = variants().number("groups");
    // Values spread differently in each group, so that no two aggregates are alike; the last group is rare.
    Random random(options().seed);
    std::vector<std::uint32_t> values(n);
    std::vector<std::uint32_t> group_of(n);
    std::vector<std::uint64_t> sums(groups, 0);
    std::vector<std::uint32_t> minima(groups, 0xffff);
    std::vector<std::uint32_t> maxima(groups, 0);
    std::vector<std::uint32_t> counts(groups, 0);
    for (std::uint32_t row = 0; row < n; ++row) {
      const std::uint32_t group = random.below(64) == 0 ? groups - 1 : random.below(groups);
      const std::uint32_t value = 16 * group + random.below(65536 - 4096 * group - 16 * group);
      values[row] = value;
      group_of[row] = group;
      sums[group] += value;
      minima[group] = std::min(minima[group], value);
      maxima[group] = std::max(maxima[group], value);
      ++counts[group];
    }
    std::vector<double> averages(groups, 0.0);
    for (std::uint32_t group = 0; group < groups; ++group) {
      if (counts[group] == 0) {
        minima[group] = 0;
      } else {
        averages[group] = static_cast<double>(sums[group]) / counts[group];
      }
    }

    const std::uint64_t value_buffer = upload(executor, "values", values);
    const std::uint64_t group_buffer = upload(executor, "groups", group_of);
    const std::uint64_t partial =
        allocate(executor, "partial", std::uint64_t{grid()} * groups * kLanes * kPartialBytes);
    const std::uint64_t sum_buffer = allocate(executor, "sums", groups * sizeof(std::uint64_t));
    const std::uint64_t average_buffer = allocate(executor, "averages", groups * sizeof(double));
    const std::uint64_t minimum_buffer = allocate(executor, "minima", groups * sizeof(std::uint32_t));
    const std::uint64_t maximum_buffer = allocate(executor, "maxima", groups * sizeof(std::uint32_t));
    const std::uint64_t count_buffer = allocate(executor, "counts", groups * sizeof(std::uint32_t));
    const isa::Module& module = executor.module();
    executor.plan({2, grid() + groups});
    launch(executor, "aggregate", {grid()}, {kBlock},
           tb::Arguments(module, "aggregate")
               .pointer(value_buffer)
               .pointer(group_buffer)
               .pointer(partial)
               .value(n)
               .value(groups),
           groups * kFields * kBlock * static_cast<std::uint32_t>(sizeof(std::uint32_t)));
    launch(executor, "combine", {groups}, {kLanes},
           tb::Arguments(module, "combine")
               .pointer(partial)
               .pointer(sum_buffer)
               .pointer(average_buffer)
               .pointer(minimum_buffer)
               .pointer(maximum_buffer)
               .pointer(count_buffer)
               .value(grid()));
    tb::Verdict verdict = compare("sums", download<std::uint64_t>(executor, sum_buffer, groups), sums);
    verdict = both(verdict, compare("averages", download<double>(executor, average_buffer, groups), averages));
    verdict = both(verdict, compare("minima", download<std::uint32_t>(executor, minimum_buffer, groups), minima));
    verdict = both(verdict, compare("maxima", download<std::uint32_t>(executor, maximum_buffer, groups), maxima));
    return both(verdict, compare(fmt::format("counts of {} rows", rows()),
                                 download<std::uint32_t>(executor, count_buffer, groups), counts));
  }

 private:
  static constexpr std::uint32_t kLanes = 32;
  static constexpr std::uint32_t kFields = 3;
  static constexpr std::uint32_t kPartialBytes = 16;
  static constexpr std::uint32_t kMostRows = 65536;  // of a thread

  [[nodiscard]] std::uint32_t rows() const { return scaled(4U << 20U, resident_threads()); }
  [[nodiscard]] std::uint32_t grid() const {
    return std::max(blocks(), (rows() + kBlock * kMostRows - 1) / (kBlock * kMostRows));
  }
};

const Register<tb::Workload, Aggregates> aggregates_entry{"aggregates",
                                                          "SUM, AVG, MIN, MAX of a column by group; variant groups=4"};

}  // namespace
}  // namespace heddle::workloads
