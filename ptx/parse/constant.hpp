// Constant expressions (PTX ISA 4.5): literals, C operators with C precedence, casts (.s64) and (.u64), WARP_SZ.
#pragma once

#include <cstdint>

#include "ptx/parse/stream.hpp"

namespace heddle::ptx {

struct Constant {
  enum class Kind : std::uint8_t { integer, f32, f64 };
  Kind kind = Kind::integer;
  std::uint64_t bits = 0;  // two's complement, or the float's bits
  bool is_unsigned = false;

  [[nodiscard]] bool is_real() const { return kind != Kind::integer; }
  [[nodiscard]] double real() const;  // the value as a double
};

// True when the current token can begin a constant expression.
[[nodiscard]] bool at_constant(const TokenStream& in);

// Parses one; throws InputError for anything that is not constant, for floats where C wants integers, division by zero.
[[nodiscard]] Constant parse_constant(TokenStream& in);

// An integer constant expression in low..high (`what` names it in messages).
std::uint64_t parse_number(TokenStream& in, std::string_view what, std::uint64_t low, std::uint64_t high);

// An integer that may be negative: anything that 64 bits hold.
std::int64_t parse_offset(TokenStream& in);

}  // namespace heddle::ptx
