// fft: the Fourier transform of 65,536 complex numbers in double precision (the DWS report's FFT, table 2), a
// launch per pass of butterflies and one before. With the variant `padded` the runs of numbers that threads take lie an
// odd number of lines apart.
#include <complex>
#include <numbers>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

using Complex = std::complex<double>;
using Wide = std::complex<long double>;

Wide root_of_unity(std::size_t power, std::size_t n) {
  return std::polar(
      1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(power) / static_cast<long double>(n));
}

// Numbers first, first + stride, ... of `x`, n of them: by the transforms of the numbers at even and at odd places.
std::vector<Wide> transform(const std::vector<Complex>& x, std::size_t first, std::size_t stride, std::size_t n) {
  if (n == 1) {
    return {Wide(x[first])};
  }
  const std::vector<Wide> even = transform(x, first, 2 * stride, n / 2);
  const std::vector<Wide> odd = transform(x, first + stride, 2 * stride, n / 2);
  std::vector<Wide> all(n);
  for (std::size_t k = 0; k < n / 2; ++k) {
    const Wide turned = root_of_unity(k, n) * odd[k];
    all[k] = even[k] + turned;
    all[k + n / 2] = even[k] - turned;
  }
  return all;
}

class Fft final : public KernelWorkload {
 public:
  explicit Fft(const tb::WorkloadOptions& options)
      : KernelWorkload("fft", options, {{"interleaved"}, {kPadded}}, Loops::always) {}
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t bits = this->bits();
    const std::uint32_t n = 1U << bits;
    Random random(options().seed);
    std::vector<Complex> numbers(n);
    for (Complex& number : numbers) {
      const double real = 2 * random.unit() - 1;
      number = {real, 2 * random.unit() - 1};
    }
    std::vector<Complex> roots;
    for (std::uint32_t i = 0; i < n / 2; ++i) {
      roots.emplace_back(root_of_unity(i, n));
    }
    const std::uint64_t device = upload(executor, "numbers", spread(numbers));
    const std::uint64_t device_roots = upload(executor, "roots", spread(roots));
    const auto pass_kernel = [&](std::string name) { return padded() ? name + "_padded" : name; };
    const auto arguments = [&](const std::string& kernel) { return tb::Arguments(executor.module(), kernel); };
    const auto place = [&](tb::Arguments& to) -> tb::Arguments& {
      return padded() ? to.value(log_run()).value(gap()) : to;
    };
    executor.plan({bits + std::uint64_t{1}, (bits + std::uint64_t{1}) * groups()});
    const std::string reverse = pass_kernel("reverse");
    tb::Arguments first = arguments(reverse);
    launch_loop(executor, reverse, place(first.pointer(device).value(bits)), n);
    const std::string butterflies = pass_kernel("butterflies");
    for (std::uint32_t pass = 0; pass < bits; ++pass) {
      tb::Arguments one = arguments(butterflies);
      launch_loop(executor, butterflies, place(one.pointer(device).pointer(device_roots).value(bits).value(pass)),
                  n / 2);
    }
    return judge(numbers, gathered(download<Complex>(executor, device, spread(numbers).size()), n));
  }

 private:
  static constexpr const char* kPadded = "padded";
  [[nodiscard]] bool padded() const { return variants().flag(kPadded); }
  // Of the numbers whose butterflies a thread has.
  [[nodiscard]] std::uint32_t log_run() const {
    const std::uint32_t threads = std::bit_floor(loop_threads());
    return bits() - std::min<std::uint32_t>(bits(), static_cast<std::uint32_t>(std::countr_zero(threads)));
  }
  [[nodiscard]] std::uint32_t gap() const { return gap_behind(1U << log_run(), sizeof(Complex)); }
  [[nodiscard]] std::size_t place_of(std::size_t number) const {
    return padded() ? number + (number >> log_run()) * gap() : number;
  }
  // The numbers at their places, and back.
  [[nodiscard]] std::vector<Complex> spread(const std::vector<Complex>& numbers) const {
    std::vector<Complex> all(place_of(numbers.size() - 1) + 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      all[place_of(i)] = numbers[i];
    }
    return all;
  }
  [[nodiscard]] std::vector<Complex> gathered(const std::vector<Complex>& all, std::size_t count) const {
    std::vector<Complex> numbers;
    for (std::size_t i = 0; i < count; ++i) {
      numbers.push_back(all[place_of(i)]);
    }
    return numbers;
  }

  // Of the number of elements: the power of two next to 65,536 * scale.
  [[nodiscard]] std::uint32_t bits() const {
    return static_cast<std::uint32_t>(std::max(1L, std::lround(16 + std::log2(scale()))));
  }

  // Each of log2 n passes adds a rounding error of some 2^-52 of the elements' size, which is the norm of the input:
  // four times as much is allowed.
  static tb::Verdict judge(const std::vector<Complex>& numbers, const std::vector<Complex>& actual) {
    const std::vector<Wide> expected = transform(numbers, 0, 1, numbers.size());
    double squares = 0;
    for (const Complex& number : numbers) {
      squares += std::norm(number);
    }
    const double tolerance = 4 * 0x1p-52 * std::log2(static_cast<double>(numbers.size())) * std::sqrt(squares);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!(std::abs(Wide(actual[i]) - expected[i]) <= tolerance)) {  // catches NaN, too
        return {false, fmt::format("number [{}]: {} + {} i instead of {:.15g} + {:.15g} i", i, actual[i].real(),
                                   actual[i].imag(), static_cast<double>(expected[i].real()),
                                   static_cast<double>(expected[i].imag()))};
      }
    }
    return {true, fmt::format("{} numbers within {:.2g} of the host's in long double", expected.size(), tolerance)};
  }
};

const Register<tb::Workload, Fft> fft_entry{
    "fft", "Fourier transform of 65,536 complex numbers; variants interleaved, padded"};

}  // namespace
}  // namespace heddle::workloads
