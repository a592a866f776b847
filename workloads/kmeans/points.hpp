// kmeans with the variant `dws`: the DWS report's KMeans (table 2), clustering of 10,000 points in 20 dimensions.
#pragma once

#include <vector>

#include "workloads/support.hpp"

namespace heddle::tb::kmeans {

// Of the workload kmeans.
[[nodiscard]] inline std::vector<Variants::Known> known_variants() {
  return {{"pthreads"}, {"progress"}, {"dws"}, {"interleaved"}};
}

class PointClustering final : public KernelWorkload {
 public:
  explicit PointClustering(const WorkloadOptions& options) : KernelWorkload("kmeans", options, known_variants()) {}
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] Verdict run(Executor& executor) override;
};

}  // namespace heddle::tb::kmeans
