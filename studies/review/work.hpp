// Whether two runs of a workload have computed the same.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace heddle::studies {

struct ReviewWork {
  std::string detail;       // of the run's verdict: what was checked, with numbers
  double instructions = 0;  // thread instructions; 0: there was no run

  // Workloads say in numbers what they have computed, clause by clause. A clause that counts per thread says nothing of
  // the input.
  [[nodiscard]] bool same_input(const ReviewWork& other) const {
    return instructions == 0 || other.instructions == 0 || of_input(detail) == of_input(other.detail);
  }

 private:
  static std::string of_input(const std::string& detail) {
    constexpr std::string_view kBetween = "; ";
    std::string out;
    for (std::size_t begin = 0; begin <= detail.size();) {
      const std::size_t end = std::min(detail.find(kBetween, begin), detail.size());
      const std::string clause = detail.substr(begin, end - begin);
      out += clause.find("per thread") == std::string::npos ? clause + "\n" : "";
      begin = end + kBetween.size();
    }
    return out;
  }
};

}  // namespace heddle::studies
