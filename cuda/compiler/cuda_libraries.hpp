// CUDA's libraries that nothing stands in for: what their headers and linker words are, and what to do without them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace heddle::cuda {

struct CudaLibrary {
  std::string_view name;        // "cuBLAS"
  std::string_view purpose;     // "matrix functions"
  std::string_view headers;     // names, separated by spaces; '*' stands for any text
  std::string_view words;       // what -l links it by, likewise, without what static libraries have behind
  std::string_view advice;      // what to do instead
  std::string_view names = {};  // what its functions and types that are not there begin with, separated by spaces
};

// The library that a header is of, by the name in #include; the one that -lWORD links. Null: none that is known.
[[nodiscard]] const CudaLibrary* library_of_header(std::string_view header);
[[nodiscard]] const CudaLibrary* library_of_word(std::string_view word);

// A compiler's complaint.
struct Diagnostic {
  SourceLocation where;
  std::string message;
  std::size_t begins = 0;  // where its line begins in what the compiler printed
};
// The first error that clang has printed ("file:line:column: error: message"), colours or not.
[[nodiscard]] std::optional<Diagnostic> first_error(const std::string& output);

// The error in our words if it is that a header of one of CUDA's libraries was not found, or a name that such a library
// has and the part of it that is here has not.
[[nodiscard]] std::optional<InputError> missing_library(const Diagnostic& error);
// Likewise of what the linker has printed.
[[nodiscard]] std::optional<InputError> missing_function(const std::string& linker);

}  // namespace heddle::cuda
