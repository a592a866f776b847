// blackscholes: prices of 512K European options, call and put (thesis table 5.2, after NVIDIA's CUDA SDK). A stream of
// five arrays with some seventy operations per option between: neither memory nor arithmetic clearly bounds it.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

constexpr float kRate = 0.02F;
constexpr float kVolatility = 0.30F;

// In double precision, with the distribution from the error function, put and call each by its own formula.
struct Reference {
  double call;
  double put;
};
Reference reference(double price, double strike, double years) {
  const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  const double rate = kRate;
  const double volatility = kVolatility;
  const double d1 =
      (std::log(price / strike) + (rate + volatility * volatility / 2) * years) / (volatility * std::sqrt(years));
  const double d2 = d1 - volatility * std::sqrt(years);
  const double discounted = strike * std::exp(-rate * years);
  return {price * normal(d1) - discounted * normal(d2), discounted * normal(-d2) - price * normal(-d1)};
}

// Prices are sums of terms as large as price and strike, 100 at most: the float arithmetic, the polynomial (7.5e-8 of
// them) and the approximate exponential and logarithm (2^-21) stay below this together. An error of a cent is 50 times
// it.
constexpr double kTolerance = 2e-4;

tb::Verdict compare_prices(const std::string& what, const std::vector<float>& actual,
                           const std::vector<double>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(actual[i] - expected[i]);
    if (!(error <= kTolerance)) {  // also when it is no number
      return {false, fmt::format("{} [{}]: {} instead of {} (within {})", what, i, actual[i], expected[i], kTolerance)};
    }
    worst = std::max(worst, error);
  }
  return {true, fmt::format("{} {} within {:.1g} of the host's", actual.size(), what, worst)};
}

class BlackScholes final : public KernelWorkload {
 public:
  explicit BlackScholes(const tb::WorkloadOptions& options) : KernelWorkload("blackscholes", options, {{"pthreads"}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? team() : resident_threads(); }
  [[nodiscard]] double demo_scale() const override { return 1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = scaled(512U << 10U, resident_threads());
    Random random(options().seed);
    const auto uniform = [&random](double low, double high) {
      return static_cast<float>(low + (high - low) * random.unit());
    };
    std::vector<float> price(n);
    std::vector<float> strike(n);
    std::vector<float> years(n);
    std::vector<double> calls(n);
    std::vector<double> puts(n);
    for (std::uint32_t i = 0; i < n; ++i) {  // the ranges of the SDK's sample
      price[i] = uniform(5, 30);
      strike[i] = uniform(1, 100);
      years[i] = uniform(0.25, 10);
      const Reference expected = reference(price[i], strike[i], years[i]);
      calls[i] = expected.call;
      puts[i] = expected.put;
    }
    const std::uint64_t device_price = upload(executor, "price", price);
    const std::uint64_t device_strike = upload(executor, "strike", strike);
    const std::uint64_t device_years = upload(executor, "years", years);
    const std::uint64_t device_call = allocate(executor, "call", n * sizeof(float));
    const std::uint64_t device_put = allocate(executor, "put", n * sizeof(float));
    tb::Arguments arguments(executor.module(), "blackscholes");
    arguments.pointer(device_price).pointer(device_strike).pointer(device_years).pointer(device_call);
    arguments.pointer(device_put).value(kRate).value(kVolatility).value(n);
    if (pthreads()) {
      executor.plan({1, 1});
      launch_team(executor, "blackscholes", arguments);
    } else {
      executor.plan({1, blocks()});
      launch(executor, "blackscholes", {blocks()}, {kBlock}, arguments);
    }
    return both(compare_prices("call prices", download<float>(executor, device_call, n), calls),
                compare_prices("put prices", download<float>(executor, device_put, n), puts));
  }
};

const Register<tb::Workload, BlackScholes> black_scholes_entry{"blackscholes",
                                                               "prices of 512K European options; variant pthreads"};

}  // namespace
}  // namespace heddle::workloads
