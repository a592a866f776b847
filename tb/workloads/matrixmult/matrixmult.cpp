// matrixmult: the product of two 256 x 256 integer matrices (thesis table 5.2), in tiles held in the scratchpad.
#include "base/registry.hpp"
#include "tb/workloads/support.hpp"

namespace heddle::tb {
namespace {

class MatrixMult final : public KernelWorkload {
 public:
  explicit MatrixMult(const WorkloadOptions& options)
      : KernelWorkload("matrixmult", options, {{"pthreads"}, {"progress"}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? team() : std::uint64_t{side()} * side(); }
  [[nodiscard]] double demo_scale() const override { return 1; }

  [[nodiscard]] Verdict run(Executor& executor) override {
    const std::uint32_t n = side();
    Random random(options().seed);
    std::vector<std::uint32_t> a(std::size_t{n} * n);
    std::vector<std::uint32_t> b(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = random.next32();
      b[i] = random.next32();
    }
    const std::uint64_t device_a = upload(executor, "a", a);
    const std::uint64_t device_b = upload(executor, "b", b);
    const std::uint64_t device_c = allocate(executor, "c", a.size() * sizeof(std::uint32_t));
    Arguments arguments(executor.module(), "matrixmult");
    arguments.pointer(device_a).pointer(device_b).pointer(device_c).value(n);
    if (pthreads()) {
      executor.plan({1, 1});
      launch_team(executor, "matrixmult", arguments);
    } else {
      executor.plan({1, std::uint64_t{n / kTile} * (n / kTile)});
      launch(executor, "matrixmult", {n / kTile, n / kTile}, {kTile, kTile}, arguments);
    }

    std::vector<std::uint32_t> expected(a.size(), 0);  // row times matrix, without tiles; modulo 2^32 as on the device
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < n; ++j) {
          expected[i * n + j] += a[i * n + k] * b[k * n + j];
        }
      }
    }
    return compare("products", download<std::uint32_t>(executor, device_c, a.size()), expected);
  }

 private:
  static constexpr std::uint32_t kTile = 16;
  // The work grows with the side's cube; at least 32 x 32, one element for each of 1024 threads.
  [[nodiscard]] std::uint32_t side() const {
    const auto tiles = static_cast<std::uint32_t>(std::lround(256.0 / kTile * std::cbrt(scale())));
    return std::max(2U, tiles) * kTile;
  }
};

const Register<Workload, MatrixMult> matrix_mult_entry{"matrixmult",
                                                       "product of two 256 x 256 integer matrices; variant pthreads"};

}  // namespace
}  // namespace heddle::tb
