// The compiled kernels as they stand in the library: PTX texts, named FILE.LETTER.
#pragma once

#include <span>
#include <string_view>

namespace heddle::cublas {

struct EmbeddedKernels {
  std::string_view name;
  std::string_view ptx;
};
[[nodiscard]] std::span<const EmbeddedKernels> embedded_kernels();

}  // namespace heddle::cublas
