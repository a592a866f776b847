// gaussian: elimination in a system of 208 linear equations (GAS of the warp-size study, after Rodinia, whose example
// it is): two launches per column over the whole matrix, in which more and more threads have nothing to do.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Gaussian final : public KernelWorkload {
 public:
  explicit Gaussian(const tb::WorkloadOptions& options) : KernelWorkload("gaussian", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{size()} * size(); }
  [[nodiscard]] double demo_scale() const override { return 0.2; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = size();
    Random random(options().seed);
    // The diagonal outweighs its row, so that no pivots are needed and errors do not grow.
    std::vector<float> matrix(std::size_t{n} * n);
    std::vector<float> right(n);
    std::vector<double> solution(n);
    std::generate(solution.begin(), solution.end(), [&random] { return random.unit(); });
    for (std::size_t row = 0; row < n; ++row) {
      double sum = 0;
      for (std::size_t column = 0; column < n; ++column) {
        float& cell = matrix[row * n + column];
        cell = row == column ? static_cast<float>(n) : static_cast<float>(random.unit());
        sum += cell * solution[column];
      }
      right[row] = static_cast<float>(sum);
    }
    const std::uint64_t device_matrix = upload(executor, "matrix", matrix);
    const std::uint64_t device_right = upload(executor, "right", right);
    const std::uint64_t device_factors = upload(executor, "factors", std::vector<float>(matrix.size()));
    const std::uint32_t strips = (n + kRows - 1) / kRows;
    const std::uint32_t squares = n / kSide;
    executor.plan({2 * std::uint64_t{n - 1}, std::uint64_t{n - 1} * (strips + std::uint64_t{squares} * squares)});
    for (std::uint32_t column = 0; column < n - 1; ++column) {
      launch(executor, "find_factors", {strips}, {kRows},
             tb::Arguments(executor.module(), "find_factors")
                 .pointer(device_matrix)
                 .pointer(device_factors)
                 .value(n)
                 .value(column));
      launch(executor, "take_off", {squares, squares}, {kSide, kSide},
             tb::Arguments(executor.module(), "take_off")
                 .pointer(device_matrix)
                 .pointer(device_right)
                 .pointer(device_factors)
                 .value(n)
                 .value(column));
    }
    return judge(download<float>(executor, device_matrix, matrix.size()), download<float>(executor, device_right, n),
                 matrix, solution);
  }

 private:
  static constexpr std::uint32_t kRows = 512;
  static constexpr std::uint32_t kSide = 4;

  // The work grows with its cube.
  [[nodiscard]] std::uint32_t size() const {
    return kSide * std::max(8U, static_cast<std::uint32_t>(std::lround(208.0 / kSide * std::cbrt(scale()))));
  }

  // Zeros below the diagonal, but for the rounding of one subtraction of numbers of the diagonal's size; and what is
  // left has the solution that the right-hand side was made from.
  static tb::Verdict judge(const std::vector<float>& matrix, const std::vector<float>& right,
                           const std::vector<float>& before, const std::vector<double>& solution) {
    const std::size_t n = right.size();
    const double zero = 0x1p-22;
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = 0; column < row; ++column) {
        if (!(std::abs(matrix[row * n + column]) <= zero)) {
          return {false, fmt::format("matrix [{}][{}]: {} instead of 0", row, column, matrix[row * n + column])};
        }
      }
    }
    for (std::size_t column = 0; column < n; ++column) {
      if (matrix[column] != before[column]) {
        return {false, fmt::format("matrix [0][{}]: {} instead of {}", column, matrix[column], before[column])};
      }
    }
    std::vector<double> found(n);
    const double tolerance = 0x1p-20 * static_cast<double>(n);
    for (std::size_t row = n; row-- > 0;) {
      double rest = right[row];
      for (std::size_t column = row + 1; column < n; ++column) {
        rest -= matrix[row * n + column] * found[column];
      }
      found[row] = rest / matrix[row * n + row];
      if (!(std::abs(found[row] - solution[row]) <= tolerance)) {
        return {false, fmt::format("solution [{}]: {} instead of {}", row, found[row], solution[row])};
      }
    }
    return {true, fmt::format("{} unknowns within {:.2g} of what they were made of", n, tolerance)};
  }
};

const Register<tb::Workload, Gaussian> gaussian_entry{"gaussian", "Gaussian elimination in 208 linear equations"};

}  // namespace
}  // namespace heddle::workloads
