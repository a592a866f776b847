// matrixmult: the product of two 256 x 256 integer matrices (thesis table 5.2), in tiles held in the scratchpad.
// With the variant `rectangles` that of the warp-size study (MTM of its table 2, matrixMul of the CUDA SDK): 80 x 48
// and 48 x 128 floats.
#include "base/error.hpp"
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class MatrixMult final : public KernelWorkload {
 public:
  explicit MatrixMult(const tb::WorkloadOptions& options)
      : KernelWorkload("matrixmult", options, {{"pthreads"}, {"progress"}, {kRectangles}}) {
    for (const std::string_view other : {kPthreads, kProgress}) {
      if (rectangles() && variants().flag(other)) {
        throw InputError({}, fmt::format("workload 'matrixmult' has no form that is both {} and rectangles", other),
                         "give one of them");
      }
    }
  }
  [[nodiscard]] std::uint64_t threads() const override {
    return pthreads() ? team() : rectangles() ? std::uint64_t{rows()} * columns() : std::uint64_t{side()} * side();
  }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    return rectangles() ? run_rectangles(executor) : run_squares(executor);
  }

 private:
  static constexpr std::uint32_t kTile = 16;

  [[nodiscard]] tb::Verdict run_squares(tb::Executor& executor) const {
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
    tb::Arguments arguments(executor.module(), "matrixmult");
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

  // Whole numbers, of which no sum reaches 2^24: floats hold them exactly in any order.
  [[nodiscard]] tb::Verdict run_rectangles(tb::Executor& executor) const {
    const std::size_t across = columns();
    Random random(options().seed);
    const auto draw = [&random] { return static_cast<float>(static_cast<std::int32_t>(random.below(401)) - 200); };
    std::vector<float> a(std::size_t{rows()} * kInner);
    std::vector<float> b(kInner * across);
    std::generate(a.begin(), a.end(), draw);
    std::generate(b.begin(), b.end(), draw);
    std::vector<float> expected(rows() * across);
    const std::uint64_t device_a = upload(executor, "a", a);
    const std::uint64_t device_b = upload(executor, "b", b);
    const std::uint64_t device_c = allocate(executor, "c", expected.size() * sizeof(float));
    executor.plan({1, std::uint64_t{columns() / kTile} * (rows() / kTile)});
    launch(executor, "multiply_rectangles", {columns() / kTile, rows() / kTile}, {kTile, kTile},
           tb::Arguments(executor.module(), "multiply_rectangles")
               .pointer(device_a)
               .pointer(device_b)
               .pointer(device_c)
               .value(kInner)
               .value(columns()));

    for (std::size_t i = 0; i < expected.size(); ++i) {  // row times column, in integers
      std::int32_t sum = 0;
      for (std::size_t k = 0; k < kInner; ++k) {
        sum += static_cast<std::int32_t>(a[i / across * kInner + k]) *
               static_cast<std::int32_t>(b[k * across + i % across]);
      }
      expected[i] = static_cast<float>(sum);
    }
    return compare("products", download<float>(executor, device_c, expected.size()), expected);
  }

  static constexpr const char* kRectangles = "rectangles";
  static constexpr std::uint32_t kInner = 48;
  [[nodiscard]] bool rectangles() const { return variants().flag(kRectangles); }
  // Of the product of rectangles: 80 x 128 at scale 1, at least 32 x 32. The sides grow with the scale's square root.
  [[nodiscard]] std::uint32_t rows() const { return stretched(5); }
  [[nodiscard]] std::uint32_t columns() const { return stretched(8); }
  [[nodiscard]] std::uint32_t stretched(std::uint32_t tiles) const {
    return std::max(2U, static_cast<std::uint32_t>(std::lround(tiles * std::sqrt(scale())))) * kTile;
  }
  // The work grows with the side's cube; at least 32 x 32, one element for each of 1024 threads.
  [[nodiscard]] std::uint32_t side() const {
    const auto tiles = static_cast<std::uint32_t>(std::lround(256.0 / kTile * std::cbrt(scale())));
    return std::max(2U, tiles) * kTile;
  }
};

const Register<tb::Workload, MatrixMult> matrix_mult_entry{
    "matrixmult", "product of two 256 x 256 integer matrices; variants pthreads, rectangles"};

}  // namespace
}  // namespace heddle::workloads
