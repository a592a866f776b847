// What clang and nvcc take for granted of a device run-time library: functions that PTX calls without a body of theirs.
//
//   vprintf(format, arguments)                       what printf becomes; the arguments lie one behind the other in
//                                                    memory, each aligned to its size. Returns their number, or -1 for
//                                                    a null format
//   __assertfail(condition, file, line, function, 1) what a failed assert calls. Does not return
//
//   malloc(size), free(pointer)                      and new and delete under their mangled names: the device heap
//                                                    (isa/device_heap.hpp)
//
// They are PTX like the program's own and are inlined where they are called. The first two speak by the operation
// `print`; isa/print.hpp says in what form and in which order the host hears it. It and `heap` are extensions of PTX
// that are theirs alone.
#pragma once

#include "ptx/ast.hpp"

namespace heddle::ptx {

// Gives every function of the library that the file declares, and that has no body in it, the library's body.
void add_library(File& file);

}  // namespace heddle::ptx
