// The table from PTX opcodes to the functions that lower them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ptx {

class Selector;

struct Handler {
  std::string_view opcode;
  void (*lower)(Selector&);
};

// One table per file of handlers.
[[nodiscard]] std::span<const Handler> integer_handlers();      // add sub mul mad div rem min max ... (floats included)
[[nodiscard]] std::span<const Handler> multiply_handlers();     // mul mad fma and their kin
[[nodiscard]] std::span<const Handler> logic_handlers();        // and or xor not shl shr bfe ...
[[nodiscard]] std::span<const Handler> video_handlers();        // vadd2 ... vset4 fns
[[nodiscard]] std::span<const Handler> real_handlers();         // rcp sqrt sin ...
[[nodiscard]] std::span<const Handler> compare_handlers();      // setp set selp slct testp
[[nodiscard]] std::span<const Handler> move_handlers();         // mov cvta isspacep
[[nodiscard]] std::span<const Handler> convert_handlers();      // cvt
[[nodiscard]] std::span<const Handler> memory_handlers();       // ld ldu st prefetch ...
[[nodiscard]] std::span<const Handler> atomic_handlers();       // atom red membar fence
[[nodiscard]] std::span<const Handler> control_handlers();      // bra brx call ret exit trap
[[nodiscard]] std::span<const Handler> warp_handlers();         // vote shfl match redux ... bar barrier progress
[[nodiscard]] std::span<const Handler> matrix_handlers();       // mma ldmatrix
[[nodiscard]] std::span<const Handler> warp_matrix_handlers();  // wmma
[[nodiscard]] std::span<const Handler> copy_handlers();         // cp
[[nodiscard]] std::span<const Handler> barrier_object_handlers();  // mbarrier
[[nodiscard]] std::span<const Handler> hint_handlers();            // griddepcontrol setmaxnreg createpolicy mapa ...
[[nodiscard]] std::span<const Handler> search_handlers();          // cond_acc tree_traverse
[[nodiscard]] std::span<const Handler> library_handlers();         // print
[[nodiscard]] std::span<const Handler> texture_handlers();         // tex txq suq
[[nodiscard]] std::span<const Handler> surface_handlers();         // suld sust

// In call.cpp, listed with the control flow.
void lower_call(Selector& s);

// Null for an opcode that no table has.
[[nodiscard]] const Handler* find_handler(std::string_view opcode);
[[nodiscard]] std::vector<std::string> handled_opcodes();  // in alphabetical order

}  // namespace heddle::ptx
