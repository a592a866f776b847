// Files that the build puts into this library (cmake/HeddleKernels.cmake), so that an installed program needs no folder
// of its own beside it: the workloads' kernels as PTX and CUDA, the device header, and the options that clang compiles
// CUDA with.
#pragma once

#include <span>
#include <string_view>

namespace heddle::tb {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

// tb/workloads/<workload>/kernel.cu as PTX for 32- or 64-bit device addresses. Throws InternalError for another name or
// size.
[[nodiscard]] std::string_view kernel_ptx(std::string_view workload, unsigned address_bits);

// Every kernel's PTX, named "<workload>.<address bits>".
[[nodiscard]] std::span<const EmbeddedFile> embedded_kernels();

// The kernels' CUDA sources, by their path in the source tree ("tb/workloads/vecadd/kernel.cu"), as line tables name
// them.
[[nodiscard]] std::span<const EmbeddedFile> kernel_sources();

// The files below tb/include, by their path there ("heddle/cuda.h", ...).
[[nodiscard]] std::span<const EmbeddedFile> device_headers();

// tb/cuda/clang_options.txt: one option per line.
[[nodiscard]] std::string_view clang_options();

}  // namespace heddle::tb
