// What the lowerings of mma and wmma share.
#pragma once

#include <vector>

#include "isa/instruction.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

// A product of matrices that the lanes of a warp hold in parts.
struct Product {
  isa::Factor a = isa::Factor::f16, b = isa::Factor::f16;
  unsigned parts = 1;  // registers of a lane's part of a, or pairs
  bool half_sum = false, clamps = false;
};

// .f16 .bf16 .tf32 .s8 .u8 .f64
[[nodiscard]] isa::Factor elements_of_factor(Modifiers& m);
[[nodiscard]] bool of_integers(isa::Factor of);
// What a register of the sum holds.
[[nodiscard]] Type type_of_sum(const Product& product);

// The elements of {a, b}, or the one operand that stands without braces: `count` of them, of which a message says that
// `what` has them.
[[nodiscard]] std::vector<const Operand*> registers_of(Selector& s, std::size_t index, unsigned count,
                                                       const char* what);

// All lanes of the warp take part in the statement.
void take_all_lanes(Selector& s);

// One machine operation on parts of matrices.
void multiply(Selector& s, const Product& product, unsigned parts, const std::vector<VReg>& d,
              const std::vector<VReg>& a, const std::vector<VReg>& b, const std::vector<VReg>& c);

}  // namespace heddle::ptx
