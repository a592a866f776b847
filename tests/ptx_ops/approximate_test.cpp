// Approximate functions (PTX ISA, section 9.7.3): div.approx div.full rcp.approx sqrt.approx rsqrt sin cos ex2 lg2
// tanh. The bounds are those that isa/semantics_*.cpp document: the quotients, reciprocals and square roots are
// correctly rounded, rsqrt.f64 is within 2 ulp, the others within 0.5001 ulp, which is one step from the host's rounded
// value.
#include <gtest/gtest.h>

#include "tests/ptx_ops/host_float.hpp"

namespace heddle::ptx_ops {
namespace {

FloatMode nearest(bool ftz) {
  return {FE_TONEAREST, ftz, false};
}

TEST(PtxApproximate, QuotientsAndRoots) {
  OperationTable table;
  for (const bool ftz : {false, true}) {
    const FloatMode mode = nearest(ftz);
    const std::string type = ftz ? ".ftz.f32 " : ".f32 ";
    for (const char* form : {".approx", ".full"}) {
      table.add(std::string("div") + form + type + "$d, $a, $b;", [mode](float a, float b) {
        return rounded<float>(
            mode, [](float x, float y) { return x / y; }, a, b);
      });
    }
    table.add("rcp.approx" + type + "$d, $a;", [mode](float a) {
      return rounded<float>(
          mode, [](float x) { return 1 / x; }, a);
    });
    table.add("sqrt.approx" + type + "$d, $a;", [mode](float a) {
      return rounded<float>(
          mode, [](float x) { return std::sqrt(x); }, a);
    });
  }
  table.add("rcp.approx.ftz.f64 $d, $a;", [](double a) {
    return rounded<double>(
        nearest(true), [](double x) { return 1 / x; }, a);
  });
  for (const bool ftz : {false, true}) {
    const FloatMode mode = nearest(ftz);
    table
        .add(ftz ? "rsqrt.approx.ftz.f64 $d, $a;" : "rsqrt.approx.f64 $d, $a;",
             [mode](double a) {
               const auto root = [](double x) {
                 return static_cast<double>(1 / std::sqrt(static_cast<long double>(x)));
               };
               return rounded<double>(mode, root, a);
             })
        .within(2);
  }
  table.run();
}

using Function = double (*)(double);

void add_function(OperationTable& table, const std::string& opcode, bool has_ftz, Function f) {
  for (const bool ftz : {false, true}) {
    if (ftz && !has_ftz) continue;
    const FloatMode mode = nearest(ftz);
    struct Call {
      Function f;
      bool ftz;
      float operator()(float a) const { return finish(static_cast<float>(f(double{flush(a, ftz)})), nearest(ftz)); }
    };
    table.add(opcode + ".approx" + (mode.ftz ? ".ftz" : "") + ".f32 $d, $a;", Call{f, ftz}).within(1);
  }
}

TEST(PtxApproximate, TranscendentalFunctions) {
  OperationTable table;
  add_function(table, "rsqrt", true, [](double x) { return 1 / std::sqrt(x); });
  add_function(table, "sin", true, [](double x) { return std::sin(x); });
  add_function(table, "cos", true, [](double x) { return std::cos(x); });
  add_function(table, "ex2", true, [](double x) { return std::exp2(x); });
  add_function(table, "lg2", true, [](double x) { return std::log2(x); });
  add_function(table, "tanh", false, [](double x) { return std::tanh(x); });
  table.run();
}

// What PTX promises at the ends (tables of the functions' descriptions), without any tolerance.
TEST(PtxApproximate, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = canonical_nan<float>();
  struct Special {
    const char* opcode;
    float in, out;
  };
  const Special kSpecials[] = {{"rcp", 0.0F, infinity},      {"rcp", -0.0F, -infinity},   {"rcp", infinity, 0.0F},
                               {"rcp", -infinity, -0.0F},    {"sqrt", -0.0F, -0.0F},      {"sqrt", -1.0F, nan},
                               {"sqrt", infinity, infinity}, {"rsqrt", 0.0F, infinity},   {"rsqrt", -0.0F, -infinity},
                               {"rsqrt", infinity, 0.0F},    {"rsqrt", -1.0F, nan},       {"sin", -0.0F, -0.0F},
                               {"sin", infinity, nan},       {"cos", 0.0F, 1.0F},         {"cos", -infinity, nan},
                               {"ex2", 0.0F, 1.0F},          {"ex2", -infinity, 0.0F},    {"ex2", infinity, infinity},
                               {"ex2", 3.0F, 8.0F},          {"lg2", 0.0F, -infinity},    {"lg2", -0.0F, -infinity},
                               {"lg2", -1.0F, nan},          {"lg2", infinity, infinity}, {"lg2", 1.0F, 0.0F},
                               {"lg2", 0.125F, -3.0F},       {"tanh", -0.0F, -0.0F},      {"tanh", infinity, 1.0F},
                               {"tanh", -infinity, -1.0F},   {"ex2", -200.0F, 0.0F},      {"tanh", nan, nan}};
  OperationTable table;
  for (const Special& special : kSpecials) {
    char literal[16];
    std::snprintf(literal, sizeof literal, "0f%08x", std::bit_cast<u32>(special.in));
    table.add(std::string("mov.f32 $d, ") + literal + "; " + special.opcode + ".approx.f32 $d, $d;",
              [out = special.out](u32) { return out; });
  }
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
