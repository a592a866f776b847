// kmeans with the variant `dws`: the DWS report's KMeans (table 2), clustering of 10,000 points in 20 dimensions.
#pragma once

#include <vector>

#include "workloads/support.hpp"

namespace heddle::workloads::kmeans {

// Of the workload kmeans.
[[nodiscard]] inline std::vector<tb::Variants::Known> known_variants() {
  return {{"pthreads"}, {"progress"}, {"dws"}, {"interleaved"}};
}

class PointClustering final : public KernelWorkload {
 public:
  explicit PointClustering(const tb::WorkloadOptions& options) : KernelWorkload("kmeans", options, known_variants()) {}
  [[nodiscard]] std::uint64_t threads() const override { return loop_threads(); }
  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override;
};

}  // namespace heddle::workloads::kmeans
