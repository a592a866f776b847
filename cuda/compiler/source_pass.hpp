// What NVIDIA's compiler takes and clang does not, changed in the text of CUDA files before clang reads them. Lines
// stay where they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cuda {

// The text as clang takes it; nothing when clang takes it as it is. Comments, text in quotes and what is no valid C++
// for other reasons stay untouched.
//   kernel << <1, 32>> >(p)             the marks of a launch with white space or comments between them become <<<, >>>
//   asm("mov.u32 %0, %laneid;" : ...)   a register's name gets a second %, where there are operands
//   __device__ __shared__ int a[32];    is __shared__ alone
//   __shared__ alignas(16) char a[64];  has its alignment before __shared__
//   __managed__ int n = 3;              becomes a variable of the device, and for the host a reference to it
//                                       (HEDDLE_MANAGED_ of cuda_runtime.h); also by a macro of the file that is
//                                       nothing but the word, perhaps with __device__
[[nodiscard]] std::optional<std::string> text_for_clang(std::string_view text);

struct ChangedSource {
  std::string path;
  std::string text;
};

// Of a CUDA file and of all files that it includes from beside it and from `folders`, in the order of the includes:
// the files that text_for_clang changes. Files that cannot be read are left to clang.
[[nodiscard]] std::vector<ChangedSource> sources_for_clang(const std::string& input,
                                                           const std::vector<std::string>& folders);

}  // namespace heddle::cuda
