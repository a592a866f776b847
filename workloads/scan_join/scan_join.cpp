// scan_join: brute-force join of two tables on un-indexed attributes (thesis 9.2.3), by a scan of the cross product:
// 4096 rows with 1024, 4M pairs.
//
//   cond_acc         gathers by the conditional accumulate instruction instead of ballot and popc
//   selectivity=N    one pair in N is equal: attributes have N values; 0: none is
#include <algorithm>

#include "base/registry.hpp"
#include "workloads/joined.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class ScanJoin final : public KernelWorkload {
 public:
  explicit ScanJoin(const tb::WorkloadOptions& options)
      : KernelWorkload("scan_join", options, {{"cond_acc"}, {"selectivity", 32, 0, 1U << 20U}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return resident_threads(); }
  // The order of the atomics says where a warp's pairs go.
  [[nodiscard]] bool order_dependent() const override { return true; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t rows = scaled(4096, 1);
    const std::uint32_t selectivity = variants().number("selectivity");
    const std::uint32_t values = std::max(1U, selectivity);
    Random random(options().seed);
    std::vector<std::uint32_t> left(rows);
    std::vector<std::uint32_t> right(kRight);
    std::generate(left.begin(), left.end(), [&] { return random.below(values); });
    std::generate(right.begin(), right.end(), [&] { return random.below(values) + (selectivity == 0 ? 1 : 0); });
    std::vector<RowPair> expected;
    for (std::uint32_t i = 0; i < rows; ++i) {
      for (std::uint32_t j = 0; j < kRight; ++j) {
        if (left[i] == right[j]) {
          expected.emplace_back(i, j);
        }
      }
    }

    const std::uint64_t left_buffer = upload(executor, "left", left);
    const std::uint64_t right_buffer = upload(executor, "right", right);
    const std::uint64_t output = allocate(executor, "output", std::uint64_t{rows} * kRight * sizeof(std::uint32_t));
    const std::uint64_t used = allocate(executor, "used", sizeof(std::uint32_t));
    const std::string kernel = variants().flag("cond_acc") ? "accumulate" : "scan";
    executor.plan({1, blocks()});
    launch(executor, kernel, {blocks()}, {kBlock},
           tb::Arguments(executor.module(), kernel)
               .pointer(left_buffer)
               .pointer(right_buffer)
               .value(rows * kRight)
               .value(kShift)
               .pointer(output)
               .pointer(used));

    const std::uint32_t count = download<std::uint32_t>(executor, used, 1)[0];
    if (count > rows * kRight) {
      return {false, fmt::format("{} pairs are joined of {}", count, rows * kRight)};
    }
    std::vector<RowPair> found;
    for (const std::uint32_t pair : download<std::uint32_t>(executor, output, count)) {
      found.emplace_back(pair / kRight, pair % kRight);
    }
    tb::Verdict verdict = compare_pairs(std::move(found), std::move(expected));
    verdict.detail += fmt::format(" (of {})", std::uint64_t{rows} * kRight);
    return verdict;
  }

 private:
  static constexpr std::uint32_t kShift = 10;
  static constexpr std::uint32_t kRight = 1U << kShift;
};

const Register<tb::Workload, ScanJoin> scan_join_entry{
    "scan_join", "brute-force join, a scan of 4M pairs of rows; variants cond_acc, selectivity=32"};

}  // namespace
}  // namespace heddle::workloads
