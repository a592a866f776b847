// kmeans: clustering of 16K one-dimensional 8-bit points (thesis table 5.2, after MineBench and Rodinia) into 16
// clusters, until no point changes its cluster. Points come from memory once per iteration; all else is on the chip.
#include "base/registry.hpp"
#include "workloads/kmeans/points.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

constexpr std::uint32_t kClusters = 16;
constexpr std::uint32_t kNone = 0xff;  // no cluster: before the first iteration

struct Clustering {
  std::vector<float> centres;
  std::vector<std::uint8_t> members;
  std::vector<std::uint32_t> iterations;  // one number: compared as the others are
};

// On the host over the 256 values that a point can have instead of over the points: equal values have equal clusters.
Clustering cluster(const std::vector<std::uint8_t>& points, std::vector<float> centres, std::uint32_t most) {
  std::array<std::uint32_t, 256> number{};
  for (const std::uint8_t point : points) {
    ++number[point];
  }
  std::array<std::uint32_t, 256> cluster_of{};
  cluster_of.fill(kNone);
  std::uint32_t iterations = 0;
  for (bool changed = true; changed && iterations < most; ++iterations) {
    changed = false;
    std::vector<std::uint64_t> sums(centres.size(), 0);
    std::vector<std::uint64_t> counts(centres.size(), 0);
    for (std::uint32_t value = 0; value < 256; ++value) {
      const auto nearer = [value](float a, float b) {
        return std::abs(static_cast<float>(value) - a) < std::abs(static_cast<float>(value) - b);
      };
      const auto nearest =
          static_cast<std::uint32_t>(std::min_element(centres.begin(), centres.end(), nearer) - centres.begin());
      changed = changed || (number[value] != 0 && cluster_of[value] != nearest);
      cluster_of[value] = nearest;
      sums[nearest] += std::uint64_t{number[value]} * value;
      counts[nearest] += number[value];
    }
    for (std::size_t c = 0; c < centres.size(); ++c) {
      if (counts[c] != 0) {
        centres[c] = static_cast<float>(sums[c]) / static_cast<float>(counts[c]);
      }
    }
  }
  Clustering result{std::move(centres), {}, {iterations}};
  for (const std::uint8_t point : points) {
    result.members.push_back(static_cast<std::uint8_t>(cluster_of[point]));
  }
  return result;
}

class KMeans final : public KernelWorkload {
 public:
  explicit KMeans(const tb::WorkloadOptions& options) : KernelWorkload("kmeans", options, kmeans::known_variants()) {}
  [[nodiscard]] std::uint64_t threads() const override {
    return pthreads() ? team() : dws() ? loop_threads() : resident_threads();
  }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    if (dws()) {
      return kmeans::PointClustering(options()).run(executor);
    }
    const std::uint32_t words = scaled(4U << 10U, resident_threads());
    // A thread's sums hold 64 words of four points.
    const std::uint32_t grid = std::max(blocks(), (words + 64 * kBlock - 1) / (64 * kBlock));
    // Few points settle nearly as slowly as many: a small scale also bounds the iterations. Scale 1 needs far fewer.
    const auto most = static_cast<std::uint32_t>(std::max(4.0, 400 * scale()));
    Random random(options().seed);
    std::vector<std::uint8_t> points(std::size_t{words} * 4);
    for (std::uint8_t& point : points) {
      point = static_cast<std::uint8_t>(random.next32() >> 24U);
    }
    // The first points are the first centres, as in Rodinia.
    const std::vector<float> centres(points.begin(), points.begin() + kClusters);
    if (pthreads()) {
      return run_team(executor, points, centres, most);
    }

    const std::uint64_t device_points = upload(executor, "points", points);
    const std::uint64_t device_members =
        upload(executor, "members", std::vector<std::uint8_t>(points.size(), static_cast<std::uint8_t>(kNone)));
    const std::uint64_t device_centres = upload(executor, "centres", centres);
    const std::uint64_t sums = allocate(executor, "sums", std::uint64_t{grid} * kClusters * sizeof(std::uint32_t));
    const std::uint64_t counts = allocate(executor, "counts", std::uint64_t{grid} * kClusters * sizeof(std::uint32_t));
    const std::uint64_t changed = upload(executor, "changed", std::vector<std::uint32_t>{1});
    const isa::Module& module = executor.module();
    const Clustering expected = cluster(points, centres, most);
    const std::uint64_t rounds = expected.iterations.front();
    executor.plan({2 * rounds, rounds * (grid + 1)});
    std::uint32_t iterations = 0;
    for (; iterations < most && executor.memory().get<std::uint32_t>(changed) != 0; ++iterations) {
      executor.memory().put<std::uint32_t>(changed, 0);
      launch(executor, "assign", {grid}, {kBlock},
             tb::Arguments(module, "assign")
                 .pointer(device_points)
                 .pointer(device_members)
                 .pointer(device_centres)
                 .pointer(sums)
                 .pointer(counts)
                 .pointer(changed)
                 .value(words)
                 .value(kClusters));
      launch(executor, "update", {1}, {kBlock},
             tb::Arguments(module, "update")
                 .pointer(device_centres)
                 .pointer(sums)
                 .pointer(counts)
                 .value(grid)
                 .value(kClusters));
    }
    tb::Verdict verdict =
        both(compare("clusters", download<std::uint8_t>(executor, device_members, points.size()), expected.members),
             compare("centres", download<float>(executor, device_centres, kClusters), expected.centres));
    verdict.detail += fmt::format(" ({} iterations)", iterations);
    return both(verdict, compare("number of iterations", {iterations}, expected.iterations));
  }

 private:
  [[nodiscard]] tb::Verdict run_team(tb::Executor& executor, const std::vector<std::uint8_t>& points,
                                     const std::vector<float>& centres, std::uint32_t most) const {
    const auto n = static_cast<std::uint32_t>(points.size());
    const std::uint64_t device_points = upload(executor, "points", points);
    const std::uint64_t members = upload(executor, "members", std::vector<std::uint32_t>(n, kNone));
    const std::uint64_t device_centres = upload(executor, "centres", centres);
    const std::vector<std::uint32_t> zeros(kClusters, 0);
    const std::uint64_t sums = upload(executor, "sums", zeros);
    const std::uint64_t counts = upload(executor, "counts", zeros);
    const std::uint64_t changed = allocate(executor, "changed", sizeof(std::uint32_t));
    executor.plan({1, 1});
    launch_team(executor, "kmeans",
                tb::Arguments(executor.module(), "kmeans")
                    .pointer(device_points)
                    .pointer(members)
                    .pointer(device_centres)
                    .pointer(sums)
                    .pointer(counts)
                    .pointer(changed)
                    .value(n)
                    .value(kClusters)
                    .value(most));
    const Clustering expected = cluster(points, centres, most);
    tb::Verdict verdict =
        both(compare("clusters", download<std::uint32_t>(executor, members, n),
                     std::vector<std::uint32_t>(expected.members.begin(), expected.members.end())),
             compare("centres", download<float>(executor, device_centres, kClusters), expected.centres));
    return both(verdict,
                compare("number of iterations", download<std::uint32_t>(executor, changed, 1), expected.iterations));
  }
};

const Register<tb::Workload, KMeans> kmeans_entry{
    "kmeans", "clustering of 16K one-dimensional 8-bit points; variants pthreads, dws"};

}  // namespace
}  // namespace heddle::workloads
