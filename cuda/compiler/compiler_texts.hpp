// What clang writes, read: its messages, the list of files that it includes, and the name that it cannot give to PTX.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace heddle::cuda {

// Messages without the sequences that colour a terminal's text, which may stand in the middle of any.
[[nodiscard]] std::string plain_text(std::string_view messages);

// Of "file:line:column"; nowhere if it is none.
[[nodiscard]] SourceLocation place_of(std::string_view place);

// The files of a list of dependencies as `clang -M` writes it for make, but for files below `without`.
[[nodiscard]] std::vector<std::string> included_files(std::string_view list, const std::filesystem::path& without);

// The list with what is below `without` taken out, as target and as what a target depends on.
[[nodiscard]] std::string dependencies_without(std::string_view list, const std::filesystem::path& without);

// Whether clang has ended because a name of device code holds other characters than PTX has.
[[nodiscard]] bool is_name_beyond_ascii(std::string_view output);

// Throws InputError with the place of that name. `code` is the file's LLVM assembly with its places (-emit-llvm -g),
// `folder` a folder whose name is left out of paths, `path` the file that was compiled.
[[noreturn]] void refuse_name(std::string_view code, std::string_view folder, const std::string& path);

}  // namespace heddle::cuda
