// streamcluster: which of four candidates should become centres of clusters of 65,536 points in 32 dimensions (SC of
// the warp-size study, after Rodinia): for each, what it would save.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Streamcluster final : public KernelWorkload {
 public:
  explicit Streamcluster(const tb::WorkloadOptions& options) : KernelWorkload("streamcluster", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{grid()} * kThreads; }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = points();
    Random random(options().seed);
    std::vector<float> coordinates(std::size_t{n} * kDimensions);
    std::generate(coordinates.begin(), coordinates.end(), [&random] { return static_cast<float>(random.unit()); });
    std::vector<float> weights(n);
    std::generate(weights.begin(), weights.end(), [&random] { return static_cast<float>(1 + random.below(4)); });
    std::vector<std::uint32_t> centre_of(n);
    std::vector<std::uint32_t> chosen(kCentres);
    std::generate(chosen.begin(), chosen.end(), [&] { return random.below(n); });
    std::vector<float> costs(n);
    for (std::uint32_t i = 0; i < n; ++i) {  // as they came: to the centre of the latest ones, not the nearest
      centre_of[i] = random.below(kCentres);
      costs[i] = static_cast<float>(cost(coordinates, weights, i, chosen[centre_of[i]]));
    }
    const std::uint64_t device_coordinates = upload(executor, "coordinates", coordinates);
    const std::uint64_t device_weights = upload(executor, "weights", weights);
    executor.plan({kCandidates, std::uint64_t{kCandidates} * grid()});
    tb::Verdict verdict{true, ""};
    double saved = 0;
    for (std::uint32_t round = 0; round < kCandidates && verdict.correct; ++round) {
      const std::uint32_t candidate = random.below(n);
      const std::vector<float> none(std::size_t{n} * (kCentres + 1));
      const std::uint64_t device_costs = upload(executor, "costs", costs);
      const std::uint64_t device_centre_of = upload(executor, "centre_of", centre_of);
      const std::uint64_t device_savings = upload(executor, "savings", none);
      const std::uint64_t device_goes = upload(executor, "goes", std::vector<std::uint32_t>(n));
      launch(executor, "compute_savings", {grid()}, {kThreads},
             tb::Arguments(executor.module(), "compute_savings")
                 .pointer(device_coordinates)
                 .pointer(device_weights)
                 .pointer(device_costs)
                 .pointer(device_centre_of)
                 .pointer(device_savings)
                 .pointer(device_goes)
                 .value(n)
                 .value(kDimensions)
                 .value(kCentres)
                 .value(candidate));
      verdict =
          judge(download<float>(executor, device_savings, none.size()),
                download<std::uint32_t>(executor, device_goes, n), coordinates, weights, costs, centre_of, candidate);
      // The candidate takes the last centre's place, and the points that are nearer go there.
      for (std::uint32_t i = 0; i < n; ++i) {
        const double there = cost(coordinates, weights, i, candidate);
        if (there < costs[i]) {
          saved += costs[i] - there;
          costs[i] = static_cast<float>(there);
          centre_of[i] = round % kCentres;
        }
      }
    }
    if (verdict.correct) {
      verdict.detail += fmt::format("; {} candidates save {:.0f}", kCandidates, saved);
    }
    return verdict;
  }

 private:
  static constexpr std::uint32_t kThreads = 512;
  static constexpr std::uint32_t kDimensions = 32;
  static constexpr std::uint32_t kCentres = 10;
  static constexpr std::uint32_t kCandidates = 4;

  [[nodiscard]] std::uint32_t points() const { return scaled(65'536, 4096); }
  [[nodiscard]] std::uint32_t grid() const { return (points() + kThreads - 1) / kThreads; }

  [[nodiscard]] double cost(const std::vector<float>& coordinates, const std::vector<float>& weights, std::size_t from,
                            std::size_t to) const {
    double distance = 0;
    for (std::size_t dimension = 0; dimension < kDimensions; ++dimension) {
      const double difference =
          double{coordinates[dimension * points() + from]} - coordinates[dimension * points() + to];
      distance += difference * difference;
    }
    return distance * weights[from];
  }

  // A cost is a sum of 32 squares below 1 times a weight of 4 at most. Whether a point goes is open where the two costs
  // are as near as that.
  [[nodiscard]] tb::Verdict judge(const std::vector<float>& savings, const std::vector<std::uint32_t>& goes,
                                  const std::vector<float>& coordinates, const std::vector<float>& weights,
                                  const std::vector<float>& costs, const std::vector<std::uint32_t>& centre_of,
                                  std::uint32_t candidate) const {
    const double tolerance = 34 * 0x1p-24 * kDimensions * 4;
    for (std::uint32_t i = 0; i < points(); ++i) {
      const double more = cost(coordinates, weights, i, candidate) - costs[i];
      const bool near = std::abs(more) <= tolerance;
      if (goes[i] > 1 || (!near && goes[i] != (more < 0 ? 1U : 0U))) {
        return {false, fmt::format("point {} goes: {} instead of {}", i, goes[i], more < 0 ? 1 : 0)};
      }
      for (std::uint32_t centre = 0; centre <= kCentres; ++centre) {
        const double expected = goes[i] != 0 ? (centre == kCentres ? more : 0) : (centre == centre_of[i] ? -more : 0);
        const float actual = savings[std::size_t{i} * (kCentres + 1) + centre];
        if (!(std::abs(actual - expected) <= (expected == 0 ? 0 : tolerance))) {
          return {false, fmt::format("saving of point {} by centre {}: {} instead of {}", i, centre, actual, expected)};
        }
      }
    }
    return {true, fmt::format("savings of {} points within {:.2g} of the host's in double", points(), tolerance)};
  }
};

const Register<tb::Workload, Streamcluster> streamcluster_entry{"streamcluster",
                                                                "savings by new centres of clusters of 65,536 points"};

}  // namespace
}  // namespace heddle::workloads
