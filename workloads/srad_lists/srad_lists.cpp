// srad_lists: two steps of speckle-reducing anisotropic diffusion over an image of 502 x 458 cells, whose neighbours
// stand in lists (SR1 of the warp-size study, after Rodinia's srad_v1, which takes a hundred steps).
#include "base/registry.hpp"
#include "workloads/diffusion.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class SradLists final : public KernelWorkload {
 public:
  explicit SradLists(const tb::WorkloadOptions& options) : KernelWorkload("srad_lists", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{grid()} * kThreads; }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t rows = this->rows();
    const std::uint32_t columns = this->columns();
    const std::uint32_t cells = rows * columns;
    const std::vector<float> start = diffusion::image(cells, options().seed);
    std::vector<double> expected(start.begin(), start.end());
    const std::uint64_t image = upload(executor, "image", start);
    const std::uint64_t differences = allocate(executor, "differences", std::size_t{4} * cells * sizeof(float));
    const std::uint64_t spread = allocate(executor, "spread", cells * sizeof(float));
    const std::uint64_t sums = allocate(executor, "sums", cells * sizeof(float));
    const std::uint64_t squares = allocate(executor, "squares", cells * sizeof(float));
    const std::uint64_t above = upload(executor, "above", neighbours(rows, -1));
    const std::uint64_t below = upload(executor, "below", neighbours(rows, 1));
    const std::uint64_t left = upload(executor, "left", neighbours(columns, -1));
    const std::uint64_t right = upload(executor, "right", neighbours(columns, 1));
    std::uint64_t blocks = 3 * std::uint64_t{grid()};
    for (const std::uint32_t count : levels()) {
      blocks += blocks_of(count);
    }
    executor.plan({kSteps * (3 + levels().size()), kSteps * blocks});
    double least = 1;
    for (unsigned step = 0; step < kSteps; ++step) {
      add_up(executor, image, sums, squares);
      const double sum = download<float>(executor, sums, 1).front();
      const double square = download<float>(executor, squares, 1).front();
      const tb::Verdict sound = judge_sums(sum, square, download<float>(executor, image, cells));
      if (!sound.correct) {
        return sound;
      }
      const double threshold = diffusion::speckles(sum, square, cells);
      least = std::min(least, threshold);
      launch(executor, "find_spread", {grid()}, {kThreads},
             tb::Arguments(executor.module(), "find_spread")
                 .pointer(image)
                 .pointer(differences)
                 .pointer(spread)
                 .pointer(above)
                 .pointer(below)
                 .pointer(left)
                 .pointer(right)
                 .value(rows)
                 .value(cells)
                 .value(static_cast<float>(threshold)));
      launch(executor, "diffuse", {grid()}, {kThreads},
             tb::Arguments(executor.module(), "diffuse")
                 .pointer(image)
                 .pointer(differences)
                 .pointer(spread)
                 .pointer(below)
                 .pointer(right)
                 .value(rows)
                 .value(cells)
                 .value(diffusion::kRate));
      diffusion::step(expected, columns, rows, diffusion::speckles(expected));  // column by column
    }
    return diffusion::judge(download<float>(executor, image, cells), expected, diffusion::tolerance(kSteps, least));
  }

 private:
  static constexpr std::uint32_t kThreads = 512;
  static constexpr std::uint32_t kSteps = 2;

  [[nodiscard]] std::uint32_t rows() const { return side(502); }
  [[nodiscard]] std::uint32_t columns() const { return side(458); }
  [[nodiscard]] std::uint32_t side(std::uint32_t full) const {
    return std::max(40U, static_cast<std::uint32_t>(std::lround(full * std::sqrt(scale()))));
  }
  [[nodiscard]] static std::uint32_t blocks_of(std::uint32_t count) { return (count + kThreads - 1) / kThreads; }
  [[nodiscard]] std::uint32_t grid() const { return blocks_of(rows() * columns()); }
  // How many numbers each level of the sums has.
  [[nodiscard]] std::vector<std::uint32_t> levels() const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t count = rows() * columns(); count > 1; count = blocks_of(count)) {
      all.push_back(count);
    }
    return all;
  }
  void add_up(tb::Executor& executor, std::uint64_t image, std::uint64_t sums, std::uint64_t squares) {
    launch(executor, "prepare", {grid()}, {kThreads},
           tb::Arguments(executor.module(), "prepare")
               .pointer(image)
               .pointer(sums)
               .pointer(squares)
               .value(rows() * columns()));
    std::uint32_t apart = 1;
    for (const std::uint32_t count : levels()) {
      launch(executor, "reduce", {blocks_of(count)}, {kThreads},
             tb::Arguments(executor.module(), "reduce").pointer(sums).pointer(squares).value(count).value(apart));
      apart *= kThreads;
    }
  }

  static std::vector<std::int32_t> neighbours(std::uint32_t count, std::int32_t step) {
    std::vector<std::int32_t> all(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      all[i] = std::clamp(static_cast<std::int32_t>(i) + step, 0, static_cast<std::int32_t>(count) - 1);
    }
    return all;
  }
  // A sum rounds nine times at each level, a square once.
  [[nodiscard]] tb::Verdict judge_sums(double sum, double square, const std::vector<float>& cells) const {
    double expected = 0;
    double expected_square = 0;
    for (const float cell : cells) {
      expected += cell;
      expected_square += double{cell} * cell;
    }
    const double relative = static_cast<double>(9 * levels().size() + 1) * 0x1p-24;
    if (!(std::abs(sum - expected) <= relative * expected) ||
        !(std::abs(square - expected_square) <= relative * expected_square)) {
      return {false, fmt::format("sums of cells and squares: {} and {} instead of {} and {}", sum, square, expected,
                                 expected_square)};
    }
    return {true, ""};
  }
};

const Register<tb::Workload, SradLists> srad_lists_entry{
    "srad_lists", "anisotropic diffusion over 502 x 458 cells, neighbours by lists"};

}  // namespace
}  // namespace heddle::workloads
