// merge: merge sort of 300,000 integers (the DWS report's Merge, table 2), a launch per pass.
#include "base/registry.hpp"
#include "tb/workloads/support.hpp"

namespace heddle::tb {
namespace {

class MergeSort final : public KernelWorkload {
 public:
  explicit MergeSort(const WorkloadOptions& options) : KernelWorkload("merge", options, {{"runs"}}, Loops::always) {}
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] Verdict run(Executor& executor) override {
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
    for (std::uint32_t run = 1; run < n; run *= 2) {
      const std::uint32_t segment = std::min(2 * run, kSegment);
      launch_loop(
          executor, "merge",
          Arguments(executor.module(), "merge").pointer(source).pointer(target).value(n).value(run).value(segment),
          (n + segment - 1) / segment);
      std::swap(source, target);
    }
    std::sort(keys.begin(), keys.end());
    return compare("keys", download<std::uint32_t>(executor, source, n), keys);
  }

 private:
  // Keys of a task: a power of two that gives the report's 256 threads some each.
  static constexpr std::uint32_t kSegment = 256;
};

const Register<Workload, MergeSort> merge_entry{"merge", "merge sort of 300,000 integers; variant runs"};

}  // namespace
}  // namespace heddle::tb
