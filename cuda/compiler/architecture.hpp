// The architectures that device code is written for, by the numbers in their names: 80 for sm_80, compute capability
// 8.0 and __CUDA_ARCH__ 800. Code chooses by them what it uses; which instructions there are, the machine says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace heddle::cuda {

// What the headers here have at least, and what code is written for that names nothing.
inline constexpr unsigned kLeastArchitecture = 60;

// What the value of nvcc's -arch or -gencode stands for, in no order and older ones as kLeastArchitecture: "sm_80",
// "arch=compute_80,code=[sm_80,compute_80]" (the virtual architecture counts), "all", "all-major", "native". The last
// one is every major architecture, since the machine is known when the program runs. Throws InputError, which names
// `word`: it names no architecture.
[[nodiscard]] std::vector<unsigned> read_architectures(const std::string& word, const std::string& value);

// One name, "sm_80". Throws InputError at `where`.
[[nodiscard]] unsigned read_architecture(const SourceLocation& where, std::string_view name);

// clang's words for device code of that architecture. Its own option would also choose other instructions.
[[nodiscard]] std::vector<std::string> architecture_words(unsigned architecture);

// clang's PTX, which says what it is written for, and the release of PTX that knows of that.
[[nodiscard]] std::string with_target(std::string ptx, unsigned architecture);

}  // namespace heddle::cuda
