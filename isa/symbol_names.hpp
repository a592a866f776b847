// Names of kernels and variables: as they stand in PTX ("_Z7prescanILb1ELb0EEvPfi", the Itanium C++ ABI's mangling,
// which clang and nvcc share) and as a C++ source has them ("prescan<true, false>").
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/module.hpp"

namespace heddle::isa {

// "prescan<true, false>" of "_Z7prescanILb1ELb0EEvPfi"; with `parameters` "prescan<true, false>(float*, int)". A name
// that is not mangled is returned as it is.
[[nodiscard]] std::string source_name(std::string_view name, bool parameters = false);

// Which of `names` (as in PTX) `wanted` means: the first of these rules that any name fits decides, and all names that
// fit it are returned, in their order. More than one: `wanted` is ambiguous.
//   1. the name in PTX itself
//   2. the whole name in the source, with namespaces, template arguments and parameter types
//   3. the same without parameter types: "filter::scale<float, 4>"
//   4. and without template arguments: "filter::scale"
//   5. and 6. as 3 and 4, and without namespaces: "scale<float, 4>", "scale"
// Texts of one meaning are equal: `const float*` and `float const*`, `unsigned` and `unsigned int`, `256` and `256u`,
// `5` and `(short)5`; spaces and a function's return type do not count.
[[nodiscard]] std::vector<std::size_t> find_named(std::span<const std::string> names, std::string_view wanted);

// The global or constant variable of that name, in a sense of find_named; null: none, or several.
[[nodiscard]] const Variable* find_variable(const Module& module, std::string_view wanted);

// The names of several entries as a message lists them: in the source, with parameter types where that alone does not
// tell two of them apart.
[[nodiscard]] std::vector<std::string> listed_names(std::span<const std::string> names);

// What a mistyped name may have meant: the listed names, and these names without namespaces and template arguments.
[[nodiscard]] std::vector<std::string> names_to_suggest(std::span<const std::string> names);

}  // namespace heddle::isa
