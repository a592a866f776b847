// scan: the prefix sums of 4M (2^22) integers (SCN of the warp-size study, after the CUDA SDK): four a thread, steps
// over the scratchpad with barriers between.
#include <utility>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Scan final : public KernelWorkload {
 public:
  explicit Scan(const tb::WorkloadOptions& options) : KernelWorkload("scan", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return count() / 4; }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = count();
    const std::uint32_t blocks = n / kPiece;
    Random random(options().seed);
    std::vector<std::uint32_t> values(n);
    std::generate(values.begin(), values.end(), [&random] { return random.next32(); });
    const std::uint64_t device_values = upload(executor, "values", values);
    const std::uint64_t device_prefixes = allocate(executor, "prefixes", n * sizeof(std::uint32_t));
    const std::uint64_t device_totals = allocate(executor, "totals", blocks * sizeof(std::uint32_t));
    executor.plan({3, 2 * std::uint64_t{blocks} + 1});
    launch(executor, "scan_blocks", {blocks}, {kBlock},
           tb::Arguments(executor.module(), "scan_blocks")
               .pointer(device_values)
               .pointer(device_prefixes)
               .pointer(device_totals));
    launch(executor, "scan_totals", {1}, {kBlock},
           tb::Arguments(executor.module(), "scan_totals").pointer(device_totals).value(blocks));
    launch(executor, "add_totals", {blocks}, {kBlock},
           tb::Arguments(executor.module(), "add_totals").pointer(device_prefixes).pointer(device_totals));
    std::uint32_t sum = 0;
    for (std::uint32_t& value : values) {
      sum += std::exchange(value, sum);
    }
    return compare("prefix sums", download<std::uint32_t>(executor, device_prefixes, n), values);
  }

 private:
  static constexpr std::uint32_t kPiece = 4 * kBlock;

  [[nodiscard]] std::uint32_t count() const { return scaled(4U << 20U, 8 * kPiece, kPiece); }
};

const Register<tb::Workload, Scan> scan_entry{"scan", "prefix sums of 4M integers"};

}  // namespace
}  // namespace heddle::workloads
