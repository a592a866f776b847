// backprop: a step of training of a neural network with 65,536 inputs and 16 hidden units (BKP of the warp-size study,
// after Rodinia): the inputs' weighted sums by a tree of additions in the scratchpad, and the adjustment of the
// weights.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Backprop final : public KernelWorkload {
 public:
  explicit Backprop(const tb::WorkloadOptions& options) : KernelWorkload("backprop", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{inputs()} * kUnits; }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = inputs();
    Random random(options().seed);
    const auto around_zero = [&random] { return static_cast<float>(2 * random.unit() - 1); };
    std::vector<float> input(n + 1);
    input[0] = 1;
    std::generate(input.begin() + 1, input.end(), [&random] { return static_cast<float>(random.unit()); });
    std::vector<float> weights(std::size_t{n + 1} * kPitch);
    std::generate(weights.begin(), weights.end(), around_zero);
    std::vector<float> moves(weights.size());
    std::generate(moves.begin(), moves.end(), around_zero);
    std::vector<float> outward(kUnits);  // weights from the hidden units to the one output
    std::generate(outward.begin(), outward.end(), around_zero);

    const std::uint64_t device_input = upload(executor, "inputs", input);
    const std::uint64_t device_weights = upload(executor, "weights", weights);
    const std::uint64_t device_moves = upload(executor, "moves", moves);
    const std::uint32_t blocks = n / kUnits;
    const std::uint64_t device_partial = allocate(executor, "partial", std::size_t{blocks} * kUnits * sizeof(float));
    executor.plan({2, 2 * std::uint64_t{blocks}});
    launch(executor, "layer_forward", {1, blocks}, {kUnits, kUnits},
           tb::Arguments(executor.module(), "layer_forward")
               .pointer(device_input)
               .pointer(device_weights)
               .pointer(device_partial));
    const auto partial = download<float>(executor, device_partial, std::size_t{blocks} * kUnits);
    std::vector<double> sums(kUnits);
    for (std::size_t i = 0; i < partial.size(); ++i) {
      sums[i % kUnits] += partial[i];
    }
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      sums[unit] += weights[unit + 1];
    }
    const std::vector<float> deltas = errors(sums, outward);
    const std::uint64_t device_deltas = upload(executor, "deltas", deltas);
    const tb::Verdict left = judge_products(download<float>(executor, device_weights, weights.size()), input, weights);
    executor.memory().write(device_weights, std::as_bytes(std::span(weights)));  // the forward launch stores over them
    launch(executor, "adjust_weights", {1, blocks}, {kUnits, kUnits},
           tb::Arguments(executor.module(), "adjust_weights")
               .pointer(device_input)
               .pointer(device_deltas)
               .pointer(device_weights)
               .pointer(device_moves)
               .value(kRate)
               .value(kMomentum));

    const tb::Verdict forward = both(judge_sums(sums, input, weights), left);
    for (std::size_t row = 0; row <= n; ++row) {
      for (std::size_t unit = 1; unit <= kUnits; ++unit) {
        const std::size_t at = row * kPitch + unit;
        const double move = double{kRate} * deltas[unit] * input[row] + double{kMomentum} * moves[at];
        moves[at] = static_cast<float>(move);
        weights[at] = static_cast<float>(weights[at] + move);
      }
    }
    return both(forward, both(near("weights", download<float>(executor, device_weights, weights.size()), weights),
                              near("moves", download<float>(executor, device_moves, moves.size()), moves)));
  }

 private:
  static constexpr std::uint32_t kUnits = 16;
  static constexpr std::uint32_t kPitch = kUnits + 1;
  static constexpr float kRate = 0.3F;
  static constexpr float kMomentum = 0.3F;

  [[nodiscard]] std::uint32_t inputs() const { return scaled(65536, 64, kUnits); }

  // What the units' errors are, by their place + 1, for one output that should be 0.1.
  static std::vector<float> errors(const std::vector<double>& sums, const std::vector<float>& outward) {
    const auto squash = [](double x) { return 1 / (1 + std::exp(-x)); };
    double sum = 0;
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      sum += squash(sums[unit]) * outward[unit];
    }
    const double output = squash(sum);
    const double error = output * (1 - output) * (0.1 - output);
    std::vector<float> all(kUnits + 1);
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      const double hidden = squash(sums[unit]);
      all[unit + 1] = static_cast<float>(hidden * (1 - hidden) * error * outward[unit]);
    }
    return all;
  }

  // Of a sum of n products of numbers below 1, each block's part rounded in 16 products and 4 additions.
  static tb::Verdict judge_sums(const std::vector<double>& sums, const std::vector<float>& input,
                                const std::vector<float>& weights) {
    const double tolerance = 20 * 0x1p-24 * static_cast<double>(input.size());
    for (std::size_t unit = 0; unit < kUnits; ++unit) {
      double expected = 0;
      for (std::size_t row = 0; row < input.size(); ++row) {
        expected += double{input[row]} * weights[row * kPitch + unit + 1];
      }
      if (!(std::abs(sums[unit] - expected) <= tolerance)) {
        return {false, fmt::format("sum of unit {}: {} instead of {}", unit, sums[unit], expected)};
      }
    }
    return {true, fmt::format("{} sums within {:.2g} of the host's in double", kUnits, tolerance)};
  }
  // What a tree leaves at row y of its block: the sum of as many products from there on as y is divisible by, a power
  // of two; each rounded once, and up to four additions of numbers below 16.
  static tb::Verdict judge_products(const std::vector<float>& actual, const std::vector<float>& input,
                                    const std::vector<float>& weights) {
    constexpr double kTolerance = 16 * 5 * 0x1p-24;
    for (std::size_t row = 1; row < input.size(); ++row) {
      const std::size_t y = (row - 1) % kUnits;
      const std::size_t rows = y == 0 ? kUnits : y & (~y + 1);
      for (std::size_t unit = 1; unit <= kUnits; ++unit) {
        double expected = 0;
        for (std::size_t i = row; i < row + rows; ++i) {
          expected += double{input[i]} * weights[i * kPitch + unit];
        }
        const std::size_t at = row * kPitch + unit;
        if (!(std::abs(actual[at] - expected) <= kTolerance)) {
          return {false, fmt::format("sum at [{}]: {} instead of {}", at, actual[at], expected)};
        }
      }
    }
    return {true, fmt::format("{} partial sums within {:.2g}", (input.size() - 1) * kUnits, kTolerance)};
  }
  // Numbers below 2, rounded at most three times.
  static tb::Verdict near(const std::string& what, const std::vector<float>& actual,
                          const std::vector<float>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!(std::abs(actual[i] - expected[i]) <= 0x1p-22F)) {
        return {false, fmt::format("{} [{}]: {} instead of {}", what, i, actual[i], expected[i])};
      }
    }
    return {true, fmt::format("{} {} within 2^-22 of the host's", expected.size(), what)};
  }
};

const Register<tb::Workload, Backprop> backprop_entry{
    "backprop", "training step of a neural network of 65,536 inputs, 16 hidden units"};

}  // namespace
}  // namespace heddle::workloads
