// A long kernel of the kind that simulation codes generate: straight code of double arithmetic on many variables, with
// a branch now and then. No register file holds its variables.
#pragma once

#include <fmt/format.h>

#include <string>

namespace heddle::ptx::test {

inline std::string long_kernel(unsigned statements, unsigned variables) {
  std::string text = fmt::format(
      ".version 7.0\n.target sm_60\n.address_size 64\n.entry long_kernel(.param .u64 p)\n{{\n.reg .f64 %s<{}>, "
      "%t<{}>;\n"
      ".reg .u64 %rd<3>;\n.reg .pred %p<{}>;\nld.param.u64 %rd1, [p];\n",
      variables, 3 * statements + 3, statements + 1);
  for (unsigned i = 0; i < variables; ++i) text += fmt::format("ld.global.f64 %s{}, [%rd1+{}];\n", i, 8 * i);
  unsigned random = 7;
  const auto any = [&] { return (random = random * 1664525U + 1013904223U) >> 8U; };
  for (unsigned i = 0; i < statements; ++i) {
    const unsigned a = any() % variables, b = any() % variables, c = any() % variables, d = any() % variables;
    const unsigned t = 3 * i;
    text += fmt::format("mul.rn.f64 %t{}, %s{}, %s{};\n", t, a, b);
    text += fmt::format("fma.rn.f64 %t{}, %t{}, %s{}, %s{};\n", t + 1, t, c, d);
    text += fmt::format("sub.rn.f64 %t{}, %t{}, %t{};\n", t + 2, t + 1, any() % (t + 1));
    if (any() % 8 == 0) {
      text += fmt::format(
          "setp.gt.f64 %p{0}, %t{1}, %s{2};\n@%p{0} bra L{0};\nadd.rn.f64 %s{2}, %s{2}, %t{1};\nL{0}:\n", i, t + 2, a);
    } else {
      text += fmt::format("mov.f64 %s{}, %t{};\n", d, t + 2);
    }
  }
  for (unsigned i = 0; i < variables; ++i) text += fmt::format("st.global.f64 [%rd1+{}], %s{};\n", 8 * i, i);
  return text + "exit;\n}\n";
}

}  // namespace heddle::ptx::test
