// PTX that clang has written, as functions and what stands between them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cuda {

// With its line feed, where there is one; the text is not empty.
[[nodiscard]] std::string_view first_line(std::string_view text);

struct PtxPart {
  std::string_view text;
  std::string name;  // of a function with a body; empty: text between functions
};

// In order, all of the text. clang begins a function at the left margin and ends its body with a brace there.
[[nodiscard]] std::vector<PtxPart> ptx_parts(std::string_view ptx);

// `ptx` with the functions of these names as `other`, another compilation of its source, has them; `other` itself,
// where the two differ in what stands between functions.
[[nodiscard]] std::string with_functions_of(std::string_view ptx, std::string_view other,
                                            const std::set<std::string>& names);

// The functions that have variables in local memory, and how many bytes.
[[nodiscard]] std::map<std::string, std::uint64_t> local_arrays(std::string_view ptx);

// The functions of local_arrays() that go through them: some access has a computed address, not that of a variable or a
// part of it, as arguments of printf have.
[[nodiscard]] std::set<std::string> functions_through_arrays(std::string_view ptx);

}  // namespace heddle::cuda
