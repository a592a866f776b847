#include "tb/studies/reproduce/figures/dws_study.hpp"

namespace heddle::tb::dws {

Variant conventional() {
  return {"Conv", "dws-conv", {}};
}

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> all = {
      {"FFT", {"fft", 1}, 59, 0.034, 7, 0.69},
      {"Filter", {"filter", 1}, 12, 0, 27, 0.88},
      {"HotSpot", {"hotspot:dws", 0.1}, 16, 0.014, 7, 0.77},
      {"LU", {"lu", 0.5}, 53, 0.043, 5, 0.81},
      {"Merge", {"merge", 0.25}, 9, 0.131, 45, 0.60},
      {"Short", {"short", 1}, 19, 0.22, 6, 0.79},
      {"KMeans", {"kmeans:dws", 0.5}, 10, 0.02, 47, 0.83},
      {"SVM", {"svm", 0.25}, 12, 0.043, 11, 0.62},
  };
  return all;
}

std::vector<StudyWorkload> eight(const std::string& variant) {
  std::vector<StudyWorkload> all;
  for (const Benchmark& benchmark : benchmarks()) {
    StudyWorkload workload = benchmark.workload;
    if (!variant.empty()) {
      workload.name += (workload.name.find(':') == std::string::npos ? ":" : ",") + variant;
    }
    all.push_back(workload);
  }
  return all;
}

Characterisation characterise(const Summary& summary) {
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return {ratio(summary.warp_instructions, summary.branches), ratio(summary.divergent_branches, summary.branches),
          ratio(summary.warp_instructions, summary.missed_accesses),
          ratio(summary.partly_missed_accesses, summary.missed_accesses)};
}

}  // namespace heddle::tb::dws
