// filter: the edges of a grey image of 500 x 500 pixels, by a convolution with 3 x 3 weights (the DWS report's Filter,
// table 2). The report gives neither the weights nor a pixel's size; they are Laplace's of eight neighbours, and a
// word.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Filter final : public KernelWorkload {
 public:
  explicit Filter(const tb::WorkloadOptions& options)
      : KernelWorkload("filter", options, {{"interleaved"}}, Loops::always) {}
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.2; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const auto side = std::max(3U, static_cast<std::uint32_t>(std::lround(500 * std::sqrt(scale()))));
    Random random(options().seed);
    std::vector<std::int32_t> image(std::size_t{side} * side);
    for (std::int32_t& pixel : image) {
      pixel = static_cast<std::int32_t>(random.below(256));
    }
    const std::vector<std::int32_t> weights(kWeights.begin(), kWeights.end());
    const std::uint64_t device_image = upload(executor, "image", image);
    const std::uint64_t device_weights = upload(executor, "weights", weights);
    const std::uint64_t device_edges = allocate(executor, "edges", image.size() * sizeof(std::int32_t));
    executor.plan({1, groups()});
    launch_loop(executor, "filter",
                tb::Arguments(executor.module(), "filter")
                    .pointer(device_image)
                    .pointer(device_weights)
                    .pointer(device_edges)
                    .value(side)
                    .value(side),
                side * side);
    return compare("pixels", download<std::int32_t>(executor, device_edges, image.size()), expected(image, side));
  }

 private:
  static constexpr std::array<std::int32_t, 9> kWeights = {-1, -1, -1, -1, 8, -1, -1, -1, -1};

  // A pixel's edge is eight times what it is above the mean of its neighbours: the image, framed by one more pixel on
  // each side, less each of its eight shifts.
  static std::vector<std::int32_t> expected(const std::vector<std::int32_t>& image, std::size_t side) {
    const std::size_t wide = side + 2;
    const auto inside = [&](std::size_t framed) { return std::clamp<std::size_t>(framed, 1, side) - 1; };
    std::vector<std::int32_t> framed;
    for (std::size_t y = 0; y < wide; ++y) {
      for (std::size_t x = 0; x < wide; ++x) {
        framed.push_back(image[inside(y) * side + inside(x)]);
      }
    }
    std::vector<std::int32_t> edges(image.size(), 0);
    for (std::size_t shift = 0; shift < 9; ++shift) {
      for (std::size_t i = 0; i < image.size(); ++i) {
        edges[i] += image[i] - framed[(i / side + shift / 3) * wide + i % side + shift % 3];
      }
    }
    for (std::int32_t& edge : edges) {
      edge = std::min(255, std::abs(edge));
    }
    return edges;
  }
};

const Register<tb::Workload, Filter> filter_entry{"filter",
                                                  "edges of a grey image of 500 x 500 pixels; variant interleaved"};

}  // namespace
}  // namespace heddle::workloads
