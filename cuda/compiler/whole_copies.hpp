// Copies and fills of memory in LLVM's intermediate text, made of the widest accesses that their alignment allows.
#pragma once

#include <string>
#include <string_view>

namespace heddle::cuda {

// clang leaves a copy of 16 aligned bytes or more (float4, double2, structures of them) to its back end, which makes
// accesses of 8 bytes of it at the most, and keeps in local memory what is copied to or from a local variable.
// `module`, optimised code as text (typed or opaque pointers, LLVM 14 to 19), comes back with loads and stores of 16
// bytes in place of such copies, as nvcc has them. Of a vector of which some parts are changed clang copies the others
// two at a time, by an access of 8 bytes at an address that is a multiple of 4 alone: it becomes two accesses of 4
// bytes, which LLVM's back end joins with their neighbours (it joins none of different lengths). Three parts of four
// that are copied at once become words for the same reason. Copies of less alignment between two places that are not
// local variables, of changing length, of volatile memory and of more than 512 bytes stay as they are, and so does
// every other line, but for the orders of uses that the text may state: they go where uses have changed, and orders of
// uses of inline assembly, which LLVM writes and cannot read, always.
[[nodiscard]] std::string with_whole_copies(std::string_view module);

}  // namespace heddle::cuda
