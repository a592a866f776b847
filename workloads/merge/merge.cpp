// merge: merge sort of 300,000 integers (the DWS report's Merge, table 2), a launch per pass.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class MergeSort final : public KernelWorkload {
 public:
  explicit MergeSort(const tb::WorkloadOptions& options)
      : KernelWorkload("merge", options, {{"interleaved"}}, Loops::always) {}
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.05; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = scaled(300'000, 2);
    Random random(options().seed);
    std::vector<std::uint32_t> keys(n);
    for (std::uint32_t& key : keys) {
      key = random.next32();
    }
    std::uint64_t source = upload(executor, "keys", keys);
    std::uint64_t target = allocate(executor, "merged", std::uint64_t{n} * sizeof(std::uint32_t));
    const auto passes = static_cast<std::uint64_t>(std::bit_width(n - 1));
    executor.plan({passes, passes * groups()});
    const std::uint32_t segment = (n + loop_threads() - 1) / loop_threads();  // every thread has as much to do
    for (std::uint32_t run = 1; run < n; run *= 2) {
      launch_loop(
          executor, "merge",
          tb::Arguments(executor.module(), "merge").pointer(source).pointer(target).value(n).value(run).value(segment),
          (n + segment - 1) / segment);
      std::swap(source, target);
    }
    std::sort(keys.begin(), keys.end());
    return compare("keys", download<std::uint32_t>(executor, source, n), keys);
  }
};

const Register<tb::Workload, MergeSort> merge_entry{"merge", "merge sort of 300,000 integers; variant interleaved"};

}  // namespace
}  // namespace heddle::workloads
