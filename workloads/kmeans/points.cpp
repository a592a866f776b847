#include "workloads/kmeans/points.hpp"

namespace heddle::workloads::kmeans {
namespace {

constexpr std::size_t kFeatures = 20;
constexpr std::size_t kCentreCount = 5;     // the report gives none; what MineBench's program takes in Rodinia's copy
constexpr std::uint32_t kMostFeature = 63;  // a whole number: sums of up to 2^18 points are exact in single precision

struct ClusteredPoints {
  std::vector<std::uint32_t> members;
  std::vector<float> centres;
  std::vector<std::uint32_t> iterations;  // one number: compared as the others are
};

// Points scattered around hidden centres, so wide that clusters touch.
std::vector<float> make_points(std::uint32_t n, Random& random) {
  std::array<std::uint32_t, kCentreCount * kFeatures> hidden{};
  for (std::uint32_t& component : hidden) {
    component = random.below(kMostFeature / 2);
  }
  std::vector<float> features;
  features.reserve(n * kFeatures);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::size_t of = random.below(kCentreCount);
    for (std::size_t d = 0; d < kFeatures; ++d) {
      features.push_back(static_cast<float>(hidden[of * kFeatures + d] + random.below(kMostFeature / 2 + 1)));
    }
  }
  return features;
}

// Goes on while more than one point in a thousand moves (MineBench's threshold).
bool goes_on(std::uint32_t moved, std::size_t points) {
  return std::uint64_t{moved} * 1000 > points;
}

// Squares are rounded as the kernel's must be: one by one, in the order of the dimensions. Sums are exact, and so are
// kept in whole numbers.
ClusteredPoints cluster_points(const std::vector<float>& features, std::uint32_t most) {
  const std::size_t n = features.size() / kFeatures;
  ClusteredPoints result{
      std::vector<std::uint32_t>(n, kCentreCount), {features.begin(), features.begin() + kCentreCount * kFeatures}, {}};
  std::uint32_t iterations = 0;
  for (bool more = true; more && iterations < most; ++iterations) {
    std::array<std::array<std::uint64_t, kFeatures>, kCentreCount> sums{};
    std::array<std::uint64_t, kCentreCount> counts{};
    std::uint32_t moved = 0;
    for (std::size_t i = 0; i < n; ++i) {
      std::array<float, kCentreCount> distances{};
      for (std::size_t d = 0; d < kFeatures; ++d) {
        for (std::size_t c = 0; c < kCentreCount; ++c) {
          const float apart = result.centres[c * kFeatures + d] - features[i * kFeatures + d];
          const float square = apart * apart;
          distances[c] = distances[c] + square;
        }
      }
      const auto nearest =
          static_cast<std::uint32_t>(std::min_element(distances.begin(), distances.end()) - distances.begin());
      moved += result.members[i] == nearest ? 0 : 1;
      result.members[i] = nearest;
      ++counts[nearest];
      for (std::size_t d = 0; d < kFeatures; ++d) {
        sums[nearest][d] += static_cast<std::uint64_t>(features[i * kFeatures + d]);
      }
    }
    for (std::size_t c = 0; c < kCentreCount; ++c) {
      for (std::size_t d = 0; d < kFeatures && counts[c] != 0; ++d) {
        result.centres[c * kFeatures + d] = static_cast<float>(sums[c][d]) / static_cast<float>(counts[c]);
      }
    }
    more = goes_on(moved, n);
  }
  result.iterations = {iterations};
  return result;
}

}  // namespace

tb::Verdict PointClustering::run(tb::Executor& executor) {
  const std::uint32_t n = scaled(10'000, 4 * kCentreCount);
  // Few points settle nearly as slowly as many: a small scale also bounds the iterations. Scale 1 needs far fewer.
  const auto most = static_cast<std::uint32_t>(std::max(4.0, 400 * scale()));
  Random random(options().seed);
  const std::vector<float> features = make_points(n, random);
  const ClusteredPoints expected = cluster_points(features, most);
  constexpr std::size_t kCentres = kCentreCount * kFeatures;
  const std::uint64_t points = upload(executor, "points", features);
  const std::uint64_t members = upload(executor, "members", std::vector<std::uint32_t>(n, kCentreCount));
  const std::uint64_t centres =
      upload(executor, "centres", std::vector<float>(features.begin(), features.begin() + kCentres));
  const std::uint64_t sums = allocate(executor, "sums", std::uint64_t{loop_threads()} * kCentres * sizeof(float));
  const std::uint64_t counts =
      allocate(executor, "counts", std::uint64_t{loop_threads()} * kCentreCount * sizeof(std::uint32_t));
  const std::uint64_t moved = upload(executor, "moved", std::vector<std::uint32_t>{n});
  const isa::Module& module = executor.module();
  const std::uint64_t rounds = expected.iterations.front();
  executor.plan({2 * rounds, 2 * rounds * groups()});
  std::uint32_t iterations = 0;
  for (; iterations < most && goes_on(executor.memory().get<std::uint32_t>(moved), n); ++iterations) {
    executor.memory().put<std::uint32_t>(moved, 0);
    launch_loop(executor, "assign",
                tb::Arguments(module, "assign")
                    .pointer(points)
                    .pointer(members)
                    .pointer(centres)
                    .pointer(sums)
                    .pointer(counts)
                    .pointer(moved)
                    .value(static_cast<std::uint32_t>(kFeatures))
                    .value(static_cast<std::uint32_t>(kCentreCount)),
                n);
    launch_loop(executor, "reduce",
                tb::Arguments(module, "reduce")
                    .pointer(centres)
                    .pointer(sums)
                    .pointer(counts)
                    .value(static_cast<std::uint32_t>(kFeatures))
                    .value(static_cast<std::uint32_t>(kCentreCount))
                    .value(loop_threads()),
                kCentres);
  }
  tb::Verdict verdict = both(compare("clusters", download<std::uint32_t>(executor, members, n), expected.members),
                             compare("centres", download<float>(executor, centres, kCentres), expected.centres));
  verdict.detail += fmt::format(" ({} iterations)", iterations);
  return both(verdict, compare("number of iterations", {iterations}, expected.iterations));
}

}  // namespace heddle::workloads::kmeans
