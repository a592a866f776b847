// What programs of warps have in common: a word of input for each thread, and a few of output.
#pragma once

#include <string>
#include <vector>

#include "tests/ptx_ops/program.hpp"

namespace heddle::ptx_ops {

inline constexpr unsigned kWarp = 32;

// Loads the thread's input word into %v; %mine is its output address, `words` words per thread.
inline std::string warp_prologue(unsigned words) {
  return "  .reg .u$p %o, %mine; .reg .b32 %v, %w, %x, %lane; .reg .pred %p, %q, %even;\n"
         "  cvt.u$p.u32 %o, %tid0; shl.b$p %o, %o, 2; add.u$p %in, %in, %o; ld.global.b32 %v, [%in];\n"
         "  mul.lo.u$p %o, %o, " +
         std::to_string(words) +
         "; add.u$p %mine, %out, %o; mov.u32 %lane, %laneid;\n"
         "  and.b32 %w, %lane, 1; setp.eq.u32 %even, %w, 0;\n";
}
inline std::string store(unsigned word, const char* value) {
  return "  st.global.b32 [%mine+" + std::to_string(4 * word) + "], " + value + ";\n";
}
inline std::string store_predicate(unsigned word, const char* predicate) {
  return std::string("  selp.b32 %x, 1, 0, ") + predicate + ";\n" + store(word, "%x");
}

inline std::vector<u32> values(unsigned count, u32 modulus) {
  std::vector<u32> result;
  for (u32 i = 0; i < count; ++i) result.push_back((i + 1) * 0x9e3779b9U % modulus);
  return result;
}

}  // namespace heddle::ptx_ops
