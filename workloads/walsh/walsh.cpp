// walsh: the dyadic convolution of 512K (2^19) numbers with a short kernel by three fast Walsh transforms (FWAL of the
// warp-size study, after the CUDA SDK's fastWalshTransform).
#include <bit>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Walsh final : public KernelWorkload {
 public:
  explicit Walsh(const tb::WorkloadOptions& options) : KernelWorkload("walsh", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return count() / 4; }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = count();
    Random random(options().seed);
    std::vector<float> numbers(n);
    std::generate(numbers.begin(), numbers.end(), [&random] { return static_cast<float>(random.below(2)); });
    std::vector<float> taps(n);
    for (std::uint32_t i = 0; i < kTaps; ++i) {
      taps[i] = static_cast<float>(random.below(2) == 0 ? -1 : 1);
    }
    const std::uint64_t device_numbers = upload(executor, "numbers", numbers);
    const std::uint64_t device_taps = upload(executor, "taps", taps);
    tb::Executor::Plan plan{3 * std::uint64_t{steps() + 1} + 1};
    plan.blocks = 3 * (std::uint64_t{steps()} * (n / 4 / kBlock) + n / kPiece) + kMultipliers;
    executor.plan(plan);
    transform(executor, device_numbers);
    transform(executor, device_taps);
    launch(executor, "multiply", {kMultipliers}, {kBlock},
           tb::Arguments(executor.module(), "multiply")
               .pointer(device_numbers)
               .pointer(device_taps)
               .value(n)
               .value(1 / static_cast<float>(n)));
    transform(executor, device_numbers);

    // By its definition: number i with tap t stands at i exclusive-or t. Each of 3 log2(n) + 2 steps rounds, which adds
    // up to that many roundings of the norm at most.
    std::vector<double> expected(n);
    double squares = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t tap = 0; tap < kTaps; ++tap) {
        expected[i] += double{numbers[i ^ tap]} * taps[tap];
      }
      squares += expected[i] * expected[i];
    }
    const double tolerance = 0x1p-24 * (3 * std::countr_zero(n) + 2) * std::sqrt(squares);
    const auto actual = download<float>(executor, device_numbers, n);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (!(std::abs(actual[i] - expected[i]) <= tolerance)) {
        return {false, fmt::format("number [{}]: {} instead of {}", i, actual[i], expected[i])};
      }
    }
    return {true, fmt::format("{} numbers within {:.2g} of the host's convolution", n, tolerance)};
  }

 private:
  static constexpr std::uint32_t kPiece = 2048;
  static constexpr std::uint32_t kThreads = kPiece / 4;
  static constexpr std::uint32_t kTaps = 16;
  static constexpr std::uint32_t kMultipliers = 128;  // blocks

  void transform(tb::Executor& executor, std::uint64_t numbers) const {
    const std::uint32_t n = count();
    for (std::uint32_t stride = n / 4; stride >= kPiece; stride /= 4) {
      launch(executor, "walsh_step", {n / 4 / kBlock}, {kBlock},
             tb::Arguments(executor.module(), "walsh_step").pointer(numbers).value(stride));
    }
    launch(executor, "walsh_piece", {n / kPiece}, {kThreads},
           tb::Arguments(executor.module(), "walsh_piece").pointer(numbers));
  }
  // A power of four pieces: radix-4 steps lead there.
  [[nodiscard]] std::uint32_t count() const {
    const double fours = std::log(std::max(1.0, 256 * scale())) / std::log(4.0);
    return kPiece << (2 * std::max(1L, std::lround(fours)));
  }
  [[nodiscard]] std::uint32_t steps() const {
    return static_cast<std::uint32_t>(std::countr_zero(count() / kPiece)) / 2;
  }
};

const Register<tb::Workload, Walsh> walsh_entry{"walsh", "dyadic convolution of 512K numbers by fast Walsh transforms"};

}  // namespace
}  // namespace heddle::workloads
