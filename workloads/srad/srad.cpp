// srad: two steps of speckle-reducing anisotropic diffusion over an image of 512 x 512 cells in tiles of 16 x 16 (SR2
// of the warp-size study, after Rodinia's srad_v2, whose image has 16 times as many).
#include "base/registry.hpp"
#include "workloads/diffusion.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Srad final : public KernelWorkload {
 public:
  explicit Srad(const tb::WorkloadOptions& options) : KernelWorkload("srad", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{side()} * side(); }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t side = this->side();
    const std::size_t cells = std::size_t{side} * side;
    const std::vector<float> start = diffusion::image(cells, options().seed);
    std::vector<double> expected(start.begin(), start.end());
    const std::uint64_t image = upload(executor, "image", start);
    const std::uint64_t differences = allocate(executor, "differences", 4 * cells * sizeof(float));
    const std::uint64_t spread = allocate(executor, "spread", cells * sizeof(float));
    const isa::Dim3 grid{side / kTile, side / kTile};
    executor.plan({2 * kSteps, 2 * kSteps * grid.count()});
    double least = 1;
    for (unsigned step = 0; step < kSteps; ++step) {
      const auto threshold = static_cast<float>(diffusion::speckles(download<float>(executor, image, cells)));
      least = std::min<double>(least, threshold);
      launch(executor, "find_spread", grid, {kTile, kTile},
             tb::Arguments(executor.module(), "find_spread")
                 .pointer(image)
                 .pointer(differences)
                 .pointer(spread)
                 .value(side)
                 .value(threshold));
      launch(executor, "diffuse", grid, {kTile, kTile},
             tb::Arguments(executor.module(), "diffuse")
                 .pointer(image)
                 .pointer(differences)
                 .pointer(spread)
                 .value(side)
                 .value(diffusion::kRate));
      diffusion::step(expected, side, side, diffusion::speckles(expected));
    }
    return diffusion::judge(download<float>(executor, image, cells), expected, diffusion::tolerance(kSteps, least));
  }

 private:
  static constexpr std::uint32_t kTile = 16;
  static constexpr std::uint32_t kSteps = 2;

  [[nodiscard]] std::uint32_t side() const {
    return kTile * std::max(2U, static_cast<std::uint32_t>(std::lround(512.0 / kTile * std::sqrt(scale()))));
  }
};

const Register<tb::Workload, Srad> srad_entry{"srad", "anisotropic diffusion over 512 x 512 cells, in tiles"};

}  // namespace
}  // namespace heddle::workloads
