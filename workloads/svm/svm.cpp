// svm: training of a linear support vector machine on 100,000 vectors of 20 dimensions (the DWS report's SVM, table 2),
// four steps of MinOver. The features are small whole numbers, so that every sum is exact.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Svm final : public KernelWorkload {
 public:
  explicit Svm(const tb::WorkloadOptions& options) : KernelWorkload("svm", options, {{"interleaved"}}, Loops::always) {}
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.05; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = scaled(100'000, 2);
    Random random(options().seed);
    std::array<std::int32_t, kDimensions> normal{};
    for (std::int32_t& component : normal) {
      component = feature(random);
    }
    std::vector<std::int32_t> features(std::size_t{n} * kDimensions);
    std::vector<std::int32_t> labels(n);
    for (std::size_t i = 0; i < n; ++i) {
      std::int32_t side = 0;
      for (std::size_t d = 0; d < kDimensions; ++d) {
        features[i * kDimensions + d] = feature(random);
        side += features[i * kDimensions + d] * normal[d];
      }
      labels[i] = side < 0 ? -1 : 1;  // which side of a plane it lies on
    }
    const std::uint64_t vectors = upload(executor, "vectors", features_of(features));
    const std::uint64_t device_labels = upload(executor, "labels", std::vector<double>(labels.begin(), labels.end()));
    const std::uint64_t margins = upload(executor, "margins", std::vector<double>(n, 0));
    const std::uint64_t least = allocate(executor, "least", std::uint64_t{loop_threads()} * sizeof(double));
    const std::uint64_t place = allocate(executor, "place", std::uint64_t{loop_threads()} * sizeof(std::uint32_t));
    // Of each step, and the one after the last.
    const std::uint64_t supports = upload(executor, "supports", std::vector<std::uint32_t>(kSteps + 1, 0));
    const isa::Module& module = executor.module();
    executor.plan({2 * kSteps, 2 * kSteps * groups()});
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      const std::uint64_t support = supports + step * sizeof(std::uint32_t);
      launch_loop(executor, "update_margins",
                  tb::Arguments(module, "update_margins")
                      .pointer(vectors)
                      .pointer(device_labels)
                      .pointer(support)
                      .pointer(margins)
                      .pointer(least)
                      .pointer(place)
                      .value(std::uint32_t{kDimensions}),
                  n);
      launch_loop(executor, "choose",
                  tb::Arguments(module, "choose")
                      .pointer(least)
                      .pointer(place)
                      .pointer(support + sizeof(std::uint32_t))
                      .value(loop_threads()),
                  1);
    }
    return judge(features, labels, download<double>(executor, margins, n),
                 download<std::uint32_t>(executor, supports, kSteps + 1));
  }

 private:
  static constexpr std::size_t kDimensions = 20;
  static constexpr std::uint32_t kSteps = 4;
  static constexpr std::uint32_t kMost = 32;  // of a feature

  // The kernel's: 16 bytes.
  struct Feature {
    std::int32_t number, unused;
    double value;
  };
  static std::vector<Feature> features_of(const std::vector<std::int32_t>& values) {
    std::vector<Feature> all;
    for (std::size_t i = 0; i < values.size(); i += kDimensions) {
      for (std::size_t d = 0; d < kDimensions; ++d) {
        all.push_back({static_cast<std::int32_t>(d), 0, static_cast<double>(values[i + d])});
      }
      all.push_back({-1, 0, 0});  // ends a vector
    }
    return all;
  }

  static std::int32_t feature(Random& random) {
    return static_cast<std::int32_t>(random.below(2 * kMost + 1)) - static_cast<std::int32_t>(kMost);
  }

  // In whole numbers, by the plane's normal, the sum of the support vectors with their labels, instead of by kernels.
  static tb::Verdict judge(const std::vector<std::int32_t>& features, const std::vector<std::int32_t>& labels,
                           const std::vector<double>& margins, const std::vector<std::uint32_t>& supports) {
    std::array<std::int64_t, kDimensions> normal{};
    std::vector<std::int64_t> exact(labels.size(), 0);
    std::vector<std::uint32_t> expected = {0};
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      const std::size_t support = expected.back();
      for (std::size_t d = 0; d < kDimensions; ++d) {
        normal[d] += labels[support] * features[support * kDimensions + d];
      }
      for (std::size_t i = 0; i < labels.size(); ++i) {
        std::int64_t side = 0;
        for (std::size_t d = 0; d < kDimensions; ++d) {
          side += normal[d] * features[i * kDimensions + d];
        }
        exact[i] = labels[i] * side;
      }
      expected.push_back(static_cast<std::uint32_t>(std::min_element(exact.begin(), exact.end()) - exact.begin()));
    }
    return both(compare("margins", margins, std::vector<double>(exact.begin(), exact.end())),
                compare("support vectors", supports, expected));
  }
};

const Register<tb::Workload, Svm> svm_entry{
    "svm", "linear support vector machine on 100,000 20-D vectors; variant interleaved"};

}  // namespace
}  // namespace heddle::workloads
