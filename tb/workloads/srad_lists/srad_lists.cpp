// srad_lists: two steps of speckle-reducing anisotropic diffusion over an image of 502 x 458 cells, whose neighbours
// stand in lists (SR1 of the warp-size study, after Rodinia's srad_v1, which takes a hundred steps).
#include "base/registry.hpp"
#include "tb/workloads/diffusion.hpp"
#include "tb/workloads/support.hpp"

namespace heddle::tb {
namespace {

class SradLists final : public KernelWorkload {
 public:
  explicit SradLists(const WorkloadOptions& options) : KernelWorkload("srad_lists", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{grid()} * kThreads; }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] Verdict run(Executor& executor) override {
    const std::uint32_t rows = this->rows();
    const std::uint32_t columns = this->columns();
    const std::uint32_t cells = rows * columns;
    const std::vector<float> start = diffusion::image(cells, options().seed);
    std::vector<double> expected(start.begin(), start.end());
    const std::uint64_t image = upload(executor, "image", start);
    const std::uint64_t differences = allocate(executor, "differences", std::size_t{4} * cells * sizeof(float));
    const std::uint64_t spread = allocate(executor, "spread", cells * sizeof(float));
    const std::uint64_t parts = allocate(executor, "parts", std::size_t{2} * grid() * sizeof(float));
    const std::uint64_t above = upload(executor, "above", neighbours(rows, -1));
    const std::uint64_t below = upload(executor, "below", neighbours(rows, 1));
    const std::uint64_t left = upload(executor, "left", neighbours(columns, -1));
    const std::uint64_t right = upload(executor, "right", neighbours(columns, 1));
    executor.plan({3 * kSteps, 3 * kSteps * std::uint64_t{grid()}});
    double least = 1;
    for (unsigned step = 0; step < kSteps; ++step) {
      launch(executor, "sum_cells", {grid()}, {kThreads},
             Arguments(executor.module(), "sum_cells").pointer(image).pointer(parts).value(cells));
      const auto sums = download<float>(executor, parts, std::size_t{2} * grid());
      const Verdict sound = judge_sums(sums, download<float>(executor, image, cells));
      if (!sound.correct) {
        return sound;
      }
      const double threshold = speckles_of(sums);
      least = std::min(least, threshold);
      launch(executor, "find_spread", {grid()}, {kThreads},
             Arguments(executor.module(), "find_spread")
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
             Arguments(executor.module(), "diffuse")
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
  [[nodiscard]] std::uint32_t grid() const { return (rows() * columns() + kThreads - 1) / kThreads; }

  static std::vector<std::int32_t> neighbours(std::uint32_t count, std::int32_t step) {
    std::vector<std::int32_t> all(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      all[i] = std::clamp(static_cast<std::int32_t>(i) + step, 0, static_cast<std::int32_t>(count) - 1);
    }
    return all;
  }
  // The host adds up what the blocks did.
  [[nodiscard]] double speckles_of(const std::vector<float>& parts) const {
    double sum = 0;
    double squares = 0;
    for (std::size_t block = 0; block < grid(); ++block) {
      sum += parts[block];
      squares += parts[grid() + block];
    }
    return diffusion::speckles(sum, squares, std::size_t{rows()} * columns());
  }
  // A block's sum of 512 numbers rounds nine times at each level.
  [[nodiscard]] Verdict judge_sums(const std::vector<float>& parts, const std::vector<float>& cells) const {
    for (std::size_t block = 0; block < grid(); ++block) {
      double sum = 0;
      double squares = 0;
      for (std::size_t i = block * kThreads; i < std::min<std::size_t>((block + 1) * kThreads, cells.size()); ++i) {
        sum += cells[i];
        squares += double{cells[i]} * cells[i];
      }
      if (!(std::abs(parts[block] - sum) <= 10 * 0x1p-24 * sum) ||
          !(std::abs(parts[grid() + block] - squares) <= 10 * 0x1p-24 * squares)) {
        return {false, fmt::format("sums of block {}: {} and {} instead of {} and {}", block, parts[block],
                                   parts[grid() + block], sum, squares)};
      }
    }
    return {true, ""};
  }
};

const Register<Workload, SradLists> srad_lists_entry{"srad_lists",
                                                     "anisotropic diffusion over 502 x 458 cells, neighbours by lists"};

}  // namespace
}  // namespace heddle::tb
