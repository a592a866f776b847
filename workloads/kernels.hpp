// The workloads' kernels as the build compiled them and put them into this library (cmake/HeddleKernels.cmake): PTX,
// and the CUDA that it was made from.
#pragma once

#include <span>
#include <string_view>

#include "base/embedded_file.hpp"

namespace heddle::workloads {

// workloads/<workload>/kernel.cu as PTX for 32- or 64-bit device addresses; "<workload>-<form>" is
// workloads/<workload>/<form>.cu. Throws InternalError for another name or size.
[[nodiscard]] std::string_view kernel_ptx(std::string_view workload, unsigned address_bits);

// Every kernel's PTX, named "<workload>.<address bits>" or "<workload>-<form>.<address bits>".
[[nodiscard]] std::span<const EmbeddedFile> embedded_kernels();

// The kernels' CUDA sources and the headers that they share, by their path in the source tree
// ("workloads/vecadd/kernel.cu"), as line tables name them.
[[nodiscard]] std::span<const EmbeddedFile> kernel_sources();

}  // namespace heddle::workloads
