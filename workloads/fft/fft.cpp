// fft: the Fourier transform of 65,536 complex numbers in double precision (the DWS report's FFT, table 2), a
// launch per pass of butterflies and one before. With the variant `padded` the runs of numbers that threads take lie an
// odd number of lines apart. The variant `six_step` is the transform of Splash-2, the report's source: six steps over
// the rows of a matrix, which `padded` puts an odd number of lines apart.
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
      : KernelWorkload("fft", options, {{"interleaved"}, {kPadded}, {kSixStep}}, Loops::always) {}
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t bits = this->bits();
    const std::uint32_t n = 1U << bits;
    Random random(options().seed);
    std::vector<Complex> numbers(n);
    for (Complex& number : numbers) {
      const double real = 2 * random.unit() - 1;
      number = {real, 2 * random.unit() - 1};
    }
    return judge(numbers, variants().flag(kSixStep) ? in_six_steps(executor, numbers) : by_passes(executor, numbers));
  }

 private:
  static constexpr const char* kPadded = "padded";
  static constexpr const char* kSixStep = "six_step";

  [[nodiscard]] std::vector<Complex> by_passes(tb::Executor& executor, const std::vector<Complex>& numbers) const {
    const std::uint32_t bits = this->bits();
    const std::uint32_t n = 1U << bits;
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
    return gathered(download<Complex>(executor, device, spread(numbers).size()), n);
  }

  // A matrix's rows, each with the gap behind it.
  struct Rows {
    std::uint32_t log_rows, log_columns, stride;
    [[nodiscard]] std::uint32_t rows() const { return 1U << log_rows; }
    [[nodiscard]] std::uint32_t columns() const { return 1U << log_columns; }
    [[nodiscard]] std::size_t size() const { return std::size_t{rows() - 1} * stride + columns(); }
    [[nodiscard]] std::size_t place_of(std::size_t row, std::size_t column) const { return row * stride + column; }
  };
  [[nodiscard]] Rows matrix(std::uint32_t log_rows, std::uint32_t log_columns) const {
    const std::uint32_t columns = 1U << log_columns;
    return {log_rows, log_columns, columns + (padded() ? gap_behind(columns, sizeof(Complex)) : 0)};
  }

  // Number i is in row i / columns of `there`; the number of frequency k comes to row k / columns of `back`.
  [[nodiscard]] std::vector<Complex> in_six_steps(tb::Executor& executor, const std::vector<Complex>& numbers) const {
    const Rows there = matrix(bits() / 2, bits() - bits() / 2);
    const Rows back = matrix(there.log_columns, there.log_rows);
    const std::uint32_t n = 1U << bits();
    std::vector<Complex> in_rows(there.size());
    for (std::size_t i = 0; i < n; ++i) {
      in_rows[there.place_of(i >> there.log_columns, i & (there.columns() - 1))] = numbers[i];
    }
    std::vector<Complex> turns(back.size());
    for (std::size_t row = 0; row < back.rows(); ++row) {
      for (std::size_t column = 0; column < back.columns(); ++column) {
        turns[back.place_of(row, column)] = Complex(root_of_unity(row * column, n));
      }
    }
    std::vector<Complex> row_roots;
    for (std::uint32_t half = 1; half < std::max(there.columns(), back.columns()); half *= 2) {
      for (std::uint32_t i = 0; i < half; ++i) {
        row_roots.emplace_back(root_of_unity(i, std::size_t{2} * half));
      }
    }
    row_roots.resize(std::max<std::size_t>(row_roots.size(), 1));
    const std::uint64_t device = upload(executor, "numbers", in_rows);
    const std::uint64_t device_back = upload(executor, "transposed", std::vector<Complex>(back.size()));
    const std::uint64_t device_roots = upload(executor, "roots", row_roots);
    const std::uint64_t device_turns = upload(executor, "turns", turns);
    executor.plan({5, std::uint64_t{5} * groups()});
    const auto transpose = [&](std::uint64_t to, const Rows& as, std::uint64_t from, const Rows& was) {
      tb::Arguments one(executor.module(), "transpose");
      launch_loop(executor, "transpose",
                  one.pointer(to).pointer(from).value(as.log_columns).value(as.stride).value(was.stride), as.rows());
    };
    transpose(device_back, back, device, there);
    tb::Arguments first(executor.module(), "turned_row_transforms");
    launch_loop(executor, "turned_row_transforms",
                first.pointer(device_back)
                    .pointer(device_roots)
                    .pointer(device_turns)
                    .value(back.log_columns)
                    .value(back.stride),
                back.rows());
    transpose(device, there, device_back, back);
    tb::Arguments second(executor.module(), "row_transforms");
    launch_loop(executor, "row_transforms",
                second.pointer(device).pointer(device_roots).value(there.log_columns).value(there.stride),
                there.rows());
    transpose(device_back, back, device, there);
    const std::vector<Complex> all = download<Complex>(executor, device_back, back.size());
    std::vector<Complex> result;
    for (std::size_t k = 0; k < n; ++k) {
      result.push_back(all[back.place_of(k >> back.log_columns, k & (back.columns() - 1))]);
    }
    return result;
  }

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
    "fft", "Fourier transform of 65,536 complex numbers; variants interleaved, padded, six_step"};

}  // namespace
}  // namespace heddle::workloads
