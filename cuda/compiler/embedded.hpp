// What compiling CUDA takes, put into this library by the build (cmake/HeddleKernels.cmake): the device headers, and
// the options that clang gets.
#pragma once

#include <span>
#include <string_view>

#include "base/embedded_file.hpp"

namespace heddle::cuda {

// The files below cuda/include, by their path there ("heddle/cuda.h", ...).
[[nodiscard]] std::span<const EmbeddedFile> device_headers();

// cuda/compiler/clang_options.txt: one option per line.
[[nodiscard]] std::string_view clang_options();

}  // namespace heddle::cuda
