// lu: the factors of a 300 x 300 matrix in double precision (the DWS report's LU, table 2), in blocks of 16 x 16 as
// Splash-2's: three launches for each block of the diagonal.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Lu final : public KernelWorkload {
 public:
  explicit Lu(const tb::WorkloadOptions& options) : KernelWorkload("lu", options, {{"interleaved"}}, Loops::always) {}
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t side = this->side();
    const std::uint32_t blocks = (side + kSide - 1) / kSide;
    // The diagonal outweighs the rest of its row, so that no pivoting is needed.
    Random random(options().seed);
    std::vector<double> matrix(std::size_t{side} * side);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      matrix[i] = 2 * random.unit() - 1 + (i % (side + 1) == 0 ? side : 0);
    }
    const std::uint64_t device = upload(executor, "matrix", in_blocks(matrix));
    executor.plan({3 * std::uint64_t{blocks} - 2, (3 * std::uint64_t{blocks} - 2) * groups()});
    const auto loop = [&](const char* kernel, tb::Arguments arguments, std::uint32_t tasks) {
      launch_loop(executor, kernel, arguments, tasks);
    };
    for (std::uint32_t step = 0; step < blocks; ++step) {
      const auto arguments = [&](const char* kernel) {
        return tb::Arguments(executor.module(), kernel).pointer(device).value(side).value(step);
      };
      loop("diagonal", arguments("diagonal"), 1);
      const std::uint32_t left = blocks - step - 1;
      if (left != 0) {
        loop("perimeter", arguments("perimeter"), 2 * left);
        loop("interior", arguments("interior").value(left), left * left);
      }
    }
    return judge(matrix, download<double>(executor, device, std::size_t{blocks} * blocks * kSide * kSide));
  }

 private:
  static constexpr std::uint32_t kSide = 16;  // of a block

  [[nodiscard]] std::uint32_t side() const {
    return std::max(2U, static_cast<std::uint32_t>(std::lround(300 * std::sqrt(scale()))));
  }
  [[nodiscard]] std::size_t place(std::size_t row, std::size_t column) const {
    const std::size_t blocks = (side() + kSide - 1) / kSide;
    return ((row / kSide * blocks + column / kSide) * kSide + row % kSide) * kSide + column % kSide;
  }
  [[nodiscard]] std::vector<double> in_blocks(const std::vector<double>& matrix) const {
    const std::size_t blocks = (side() + kSide - 1) / kSide;
    std::vector<double> all(blocks * blocks * kSide * kSide, 0);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      all[place(i / side(), i % side())] = matrix[i];
    }
    return all;
  }

  // The product of the factors must be the matrix. An element is a sum of at most `side` products, each rounded twice,
  // here and in the machine: 4 * side * 2^-53 of the sum of their magnitudes bounds the difference (Higham, "Accuracy
  // and Stability of Numerical Algorithms", theorem 9.3). What lies between blocks' edges and the matrix's stays 0.
  [[nodiscard]] tb::Verdict judge(const std::vector<double>& matrix, std::vector<double> factors) const {
    const std::size_t n = side();
    double worst = 0;
    std::vector<double> product(n);
    std::vector<double> magnitude(n);
    for (std::size_t row = 0; row < n; ++row) {
      std::fill(product.begin(), product.end(), 0);
      std::fill(magnitude.begin(), magnitude.end(), 0);
      for (std::size_t k = 0; k <= row; ++k) {
        const double lower = k == row ? 1 : factors[place(row, k)];
        for (std::size_t column = k; column < n; ++column) {
          const double term = lower * factors[place(k, column)];
          product[column] += term;
          magnitude[column] += std::abs(term);
        }
      }
      for (std::size_t column = 0; column < n; ++column) {
        const double difference = std::abs(product[column] - matrix[row * n + column]);
        if (!(difference <= 4 * static_cast<double>(n) * 0x1p-53 * magnitude[column])) {  // catches NaN, too
          return {false, fmt::format("product of the factors at row {}, column {}: {} instead of {}", row, column,
                                     product[column], matrix[row * n + column])};
        }
        worst = std::max(worst, difference);
      }
    }
    for (std::size_t i = 0; i < n * n; ++i) {
      factors[place(i / n, i % n)] = 0;
    }
    const auto beyond = std::find_if(factors.begin(), factors.end(), [](double value) { return value != 0; });
    if (beyond != factors.end()) {
      return {false,
              fmt::format("beyond the matrix's edge, at [{}]: {} instead of 0", beyond - factors.begin(), *beyond)};
    }
    return {true, fmt::format("the product of the factors equals the {0} x {0} matrix within {1:.2g}", n, worst)};
  }
};

const Register<tb::Workload, Lu> lu_entry{"lu", "factors of a 300 x 300 matrix; variant interleaved"};

}  // namespace
}  // namespace heddle::workloads
