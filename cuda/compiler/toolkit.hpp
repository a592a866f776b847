// Where Heddle has what CUDA programs are built with.
#pragma once

#include <string>

namespace heddle::cuda {

inline constexpr const char* kRuntimeLibrary = "libheddle_cudart.so";

// The folder of the run-time library: beside the program, or where an installation has it. Throws InputError: it is in
// neither.
[[nodiscard]] std::string runtime_library_folder();

// A folder laid out like CUDA's toolkit, with bin/nvcc, include and lib64 (cmake/HeddleToolkit.cmake). Throws
// InputError: it is not there.
[[nodiscard]] std::string toolkit_folder();

}  // namespace heddle::cuda
