// vecadd: the sum of two vectors of 4M floats. Regular, bound by the memory bus.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class VecAdd final : public KernelWorkload {
 public:
  explicit VecAdd(const tb::WorkloadOptions& options) : KernelWorkload("vecadd", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return resident_threads(); }
  [[nodiscard]] double demo_scale() const override { return 1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = scaled(4U << 20U, resident_threads());
    Random random(options().seed);
    std::vector<float> a(n);
    std::vector<float> b(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      a[i] = static_cast<float>(random.next32()) * 0x1p-32F;
      b[i] = static_cast<float>(random.next32()) * 0x1p-16F - 0x1p15F;
    }
    const std::uint64_t device_a = upload(executor, "a", a);
    const std::uint64_t device_b = upload(executor, "b", b);
    const std::uint64_t device_c = allocate(executor, "c", n * sizeof(float));
    executor.plan({1, blocks()});
    launch(executor, "vecadd", {blocks()}, {kBlock},
           tb::Arguments(executor.module(), "vecadd").pointer(device_a).pointer(device_b).pointer(device_c).value(n));
    std::vector<float> expected(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      expected[i] = a[i] + b[i];
    }
    return compare("sums", download<float>(executor, device_c, n), expected);
  }
};

const Register<tb::Workload, VecAdd> vec_add_entry{"vecadd", "sum of two vectors of 4M floats"};

}  // namespace
}  // namespace heddle::workloads
