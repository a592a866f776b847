// What a review runs on its machines: Heddle's workloads, and kernels by launch files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::studies {

struct ReviewSubject {
  std::string name;      // a workload with its variants, or the path of a launch file
  std::string contents;  // of a launch file: a digest of all that it reads and of what its kernels compile to

  [[nodiscard]] bool is_launch_file() const { return !contents.empty(); }
};

// Throws InputError: one is unknown, is named twice, is no launch file, or has kernels that do not compile.
[[nodiscard]] std::vector<ReviewSubject> read_review_subjects(const std::vector<std::string>& names);

}  // namespace heddle::studies
