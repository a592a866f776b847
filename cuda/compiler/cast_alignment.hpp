// The alignment of what a program accesses under another type, in LLVM's intermediate text.
#pragma once

#include <string>
#include <string_view>

namespace heddle::cuda {

// Where a pointer to a variable is cast, as in *(float4*)&tile[i][j], clang counts on the alignment of the variable's
// elements alone, and makes accesses of 2 or 4 bytes of it. nvcc counts on that of the type that is accessed, which C++
// demands. `module`, code of clang as text before any pass, with typed pointers (LLVM up to 14), comes back with nvcc's
// alignments at such loads, stores and copies, and with the variables, in shared, local or other memory, aligned so
// that an access to their first byte is. The alignment of a structure is that of CUDA's vectors, or what other copies
// of it in the module have.
[[nodiscard]] std::string with_cast_alignments(std::string_view module);

// Whether optimised code has accesses or copies that with_cast_alignments() may make wider.
[[nodiscard]] bool has_narrow_accesses(std::string_view module);

}  // namespace heddle::cuda
