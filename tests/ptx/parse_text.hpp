// Short texts for the parser's tests.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "ptx/ast.hpp"

namespace heddle::ptx::test {

inline constexpr std::string_view kHeader = ".version 7.0\n.target sm_60\n.address_size 32\n";

// A module: the first line of `items` is line 4.
inline File parse_module(std::string_view items) {
  return parse(std::string(kHeader) + std::string(items), "t.ptx");
}

// A kernel k(u32 n) with registers %p<4> %r<4> %f<4> %rd<4> %h<2>: the first line of `statements` is line 6.
inline std::string in_kernel(std::string_view statements) {
  return std::string(kHeader) +
         ".global .u32 g;\n.entry k(.param .u32 n) {.reg .pred %p<4>; .reg .b32 %r<4>; "
         ".reg .f32 %f<4>; .reg .b64 %rd<4>; .reg .b16 %h<2>;\n" +
         std::string(statements) + "\n}\n";
}
inline Function parse_body(std::string_view statements) {
  return parse(in_kernel(statements), "t.ptx").functions.at(0);
}
inline Statement parse_instruction(std::string_view text) {
  return parse_body(text).body.at(0);
}
inline Operand parse_operand(std::string_view text) {
  return parse_instruction("op.u32 " + std::string(text) + ";").operands.at(0);
}

// what() of the error, or "no error".
inline std::string error_of(std::string_view text) {
  try {
    static_cast<void>(parse(text, "t.ptx"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}
inline std::string module_error(std::string_view items) {
  return error_of(std::string(kHeader) + std::string(items));
}
inline std::string body_error(std::string_view statements) {
  return error_of(in_kernel(statements));
}

}  // namespace heddle::ptx::test
