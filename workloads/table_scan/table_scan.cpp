// table_scan: which of 4M rows of random 32-bit integers pass a condition (thesis 6.2.2, 8.1; kernel of its appendix).
//
//   pthreads         1024 threads of one block, as the appendix has them
//   cond_acc         gathers by the conditional accumulate instruction instead of ballot and popc
//   selectivity=N    one row in N passes (thesis figure 8.2: 2 to 1024)
//   columns=N        columns in the condition, all of which must pass (thesis footnote to figure 8.3)
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class TableScan final : public KernelWorkload {
 public:
  explicit TableScan(const tb::WorkloadOptions& options)
      : KernelWorkload("table_scan", options,
                       {{"pthreads"}, {"cond_acc"}, {"selectivity", 2, 1, 1U << 20U}, {"columns", 1, 1, 8}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? kMostTeam : resident_threads(); }
  // The order of the atomics says where a warp's hits go.
  [[nodiscard]] bool order_dependent() const override { return true; }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = scaled(4U << 20U, resident_threads(), kLanes);
    const std::uint32_t columns = variants().number("columns");
    const std::uint64_t table = allocate(executor, "table", std::uint64_t{n} * columns * sizeof(std::int32_t));
    const std::uint64_t output = allocate(executor, "output", std::uint64_t{n} * sizeof(std::uint32_t));
    const std::uint64_t used = allocate(executor, "used", sizeof(std::uint32_t));

    // Every column passes as often as any other; together they pass once in `selectivity` rows.
    const double share = std::pow(1.0 / variants().number("selectivity"), 1.0 / columns);
    const double range = std::ldexp(1.0, 32);
    const auto bound = static_cast<std::int32_t>(std::min(std::llround(share * range) + std::numeric_limits<int>::min(),
                                                          static_cast<long long>(std::numeric_limits<int>::max())));
    Random random(options().seed);
    std::vector<bool> passes(n, true);
    std::vector<std::int32_t> piece;
    for (std::uint32_t column = 0; column < columns; ++column) {
      for (std::uint32_t begin = 0; begin < n; begin += static_cast<std::uint32_t>(piece.size())) {
        piece.resize(std::min<std::uint32_t>(n - begin, 16384));
        for (std::size_t i = 0; i < piece.size(); ++i) {
          piece[i] = static_cast<std::int32_t>(random.next32());
          passes[begin + i] = passes[begin + i] && piece[i] < bound;
        }
        executor.memory().write(table + (std::uint64_t{column} * n + begin) * sizeof(std::int32_t),
                                std::as_bytes(std::span(piece)));
      }
    }
    std::vector<std::uint32_t> expected;
    for (std::uint32_t row = 0; row < n; ++row) {
      if (passes[row]) {
        expected.push_back(row);
      }
    }

    const std::string kernel = fmt::format("{}_{}", variants().flag("cond_acc") ? "accumulate" : "scan", columns);
    const std::uint32_t grid = pthreads() ? 1 : blocks();
    executor.plan({1, grid});
    launch(executor, kernel, {grid}, {pthreads() ? kMostTeam : kBlock},
           tb::Arguments(executor.module(), kernel).pointer(table).value(n).value(bound).pointer(output).pointer(used));
    const auto count = download<std::uint32_t>(executor, used, 1);
    if (count[0] != expected.size()) {
      return {false, fmt::format("{} rows pass instead of {}", count[0], expected.size())};
    }
    std::vector<std::uint32_t> found = download<std::uint32_t>(executor, output, count[0]);
    std::sort(found.begin(), found.end());
    tb::Verdict verdict = compare("passing rows", found, expected);
    verdict.detail += fmt::format(" (of {} rows)", n);
    return verdict;
  }

 private:
  static constexpr std::uint32_t kLanes = 32;
};

const Register<tb::Workload, TableScan> table_scan_entry{
    "table_scan", "rows that pass a condition; variants pthreads, cond_acc, selectivity=2, columns=1"};

}  // namespace
}  // namespace heddle::workloads
