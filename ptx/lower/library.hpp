// What clang and nvcc take for granted of a device run-time library: functions that PTX calls without a body of theirs.
//
//   vprintf(format, arguments)                       what printf becomes; the arguments lie one behind the other in
//                                                    memory, each aligned to its size. Returns their number, or -1 for
//                                                    a null format
//   __assertfail(condition, file, line, function, 1) what a failed assert calls. Does not return
//
// Both are PTX like the program's own and are inlined where they are called. They speak by the operation `print`,
// an extension of PTX that is theirs alone; isa/print.hpp says in what form and in which order the host hears it.
#pragma once

#include <optional>
#include <string_view>

#include "ptx/ast.hpp"

namespace heddle::ptx {

// Gives every function of the library that the file declares, and that has no body in it, the library's body.
void add_library(File& file);

// What to do about a function of CUDA's run-time library that this one does not have ("malloc").
[[nodiscard]] std::optional<std::string_view> library_advice(std::string_view function);

}  // namespace heddle::ptx
