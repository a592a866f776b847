// Whether two runs of a workload have computed the same.
#pragma once

#include <string>

namespace heddle::studies {

struct ReviewWork {
  std::string detail;       // of the run's verdict: what was checked, with numbers
  double instructions = 0;  // thread instructions; 0: there was no run

  // As far as can be seen: workloads say in numbers what they have computed, of which some are of threads and not of
  // the input. Then about as many instructions are about as much work.
  [[nodiscard]] bool same_input(const ReviewWork& other) const {
    constexpr double kMost = 1.25;
    return detail == other.detail || instructions == 0 || other.instructions == 0 ||
           (instructions <= kMost * other.instructions && other.instructions <= kMost * instructions);
  }
};

}  // namespace heddle::studies
