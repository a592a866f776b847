// Whole CUDA programs, host and device code: what nvcc does, with clang for both. Device code stays PTX in the program,
// as a fat binary (cuda/cudart/fat_binary.hpp) that the run-time library brings to the simulator.
#pragma once

#include <string>
#include <vector>

namespace heddle::cuda {

// Compiles and links as nvcc's command line `words` says. What clang says goes to standard error as it is. Returns
// clang's exit code, 0 if all went well. Throws InputError for words that make no sense, and where clang or the
// run-time library is missing.
[[nodiscard]] int compile_program(const std::vector<std::string>& words);

}  // namespace heddle::cuda
