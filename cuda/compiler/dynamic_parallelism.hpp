// Kernels that launch kernels, which there are none of here: clang refuses them in words that a user of nvcc does not
// connect with it.
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"

namespace heddle::cuda {

// What is to be said instead of clang's errors, when some of them come of dynamic parallelism: the first place, and how
// many more there are.
struct DynamicParallelism {
  InputError error;
  bool all = false;  // clang has found no other errors
};
[[nodiscard]] std::optional<DynamicParallelism> find_dynamic_parallelism(const std::string& messages);

}  // namespace heddle::cuda
