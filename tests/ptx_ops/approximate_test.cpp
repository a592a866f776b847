// Approximate functions (PTX ISA, section 9.7.3): div.approx div.full rcp.approx sqrt.approx rsqrt sin cos ex2 lg2
// tanh. The bounds are what isa/semantics_*.cpp document: the quotients, reciprocals and square roots are
// correctly rounded (but where PTX says what div.approx gives for very large divisors), rsqrt.f64 is within 2 ulp, the
// others within 0.5001 ulp, which is one step from the host's rounded value. The .ftz forms of f64 are upper words.
#include <gtest/gtest.h>

#include "tests/ptx_ops/host_float.hpp"

namespace heddle::ptx_ops {
namespace {

FloatMode nearest(bool ftz) {
  return {FE_TONEAREST, ftz, false};
}

// f of the operand's upper word, rounded to an upper word; the NaN is the one that PTX names.
template <class Function>
double of_upper_words(double a, Function f) {
  const double operand = std::bit_cast<double>(std::bit_cast<u64>(a) >> 32U << 32U);
  const double result = flush(f(flush(operand, true)), true);
  if (std::isnan(result)) return std::bit_cast<double>(0x7fffffff00000000U);
  if (std::isinf(result) || result == 0) return result;
  int exponent = 0;
  const double fraction = std::frexp(result, &exponent);  // 21 bits with the leading one
  return std::ldexp(std::nearbyint(fraction * 0x1p21), exponent - 21);
}

TEST(PtxApproximate, QuotientsAndRoots) {
  OperationTable table;
  for (const bool ftz : {false, true}) {
    const FloatMode mode = nearest(ftz);
    const std::string type = ftz ? ".ftz.f32 " : ".f32 ";
    for (const bool full : {false, true}) {
      table.add(std::string("div") + (full ? ".full" : ".approx") + type + "$d, $a, $b;",
                [mode, full](float a, float b) {
                  const bool large = !full && std::fabs(b) > 0x1p126F && !std::isinf(b) && !std::isnan(a);
                  if (large && std::isinf(a)) return canonical_nan<float>();
                  if (large) return std::signbit(a) != std::signbit(b) ? -0.0F : 0.0F;
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
  table.add("rcp.approx.ftz.f64 $d, $a;", [](double a) { return of_upper_words(a, [](double x) { return 1 / x; }); });
  table.add("rsqrt.approx.ftz.f64 $d, $a;",
            [](double a) { return of_upper_words(a, [](double x) { return 1 / std::sqrt(x); }); });
  table
      .add("rsqrt.approx.f64 $d, $a;",
           [](double a) {
             const auto root = [](double x) { return static_cast<double>(1 / std::sqrt(static_cast<long double>(x))); };
             return rounded<double>(nearest(false), root, a);
           })
      .within(2);
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
  constexpr float kSmall = 0x1p-127F;  // subnormal
  const Special kFlushed[] = {{"rcp", kSmall, infinity},
                              {"rcp", -kSmall, -infinity},
                              {"rcp", 0x1p127F, 0.0F},
                              {"rcp", -0x1p127F, -0.0F},
                              {"rcp", -infinity, -0.0F},
                              {"rcp", nan, nan},
                              {"sqrt", kSmall, 0.0F},
                              {"sqrt", -kSmall, -0.0F},
                              {"sqrt", -infinity, nan},
                              {"sqrt", -0.0F, -0.0F},
                              {"sqrt", nan, nan},
                              {"rsqrt", kSmall, infinity},
                              {"rsqrt", -kSmall, -infinity},
                              {"rsqrt", -0.0F, -infinity},
                              {"rsqrt", -infinity, nan},
                              {"rsqrt", infinity, 0.0F},
                              {"rsqrt", nan, nan},
                              {"sin", kSmall, 0.0F},
                              {"sin", -kSmall, -0.0F},
                              {"sin", -infinity, nan},
                              {"sin", nan, nan},
                              {"cos", kSmall, 1.0F},
                              {"cos", -kSmall, 1.0F},
                              {"cos", infinity, nan},
                              {"cos", nan, nan},
                              {"lg2", kSmall, -infinity},
                              {"lg2", -kSmall, -infinity},
                              {"lg2", -0.0F, -infinity},
                              {"lg2", -infinity, nan},
                              {"lg2", -1.0F, nan},
                              {"lg2", nan, nan},
                              {"ex2", kSmall, 1.0F},
                              {"ex2", -kSmall, 1.0F},
                              {"ex2", -127.0F, 0.0F},
                              {"ex2", -infinity, 0.0F},
                              {"ex2", nan, nan}};
  const Special kKept[] = {{"rcp", 0x1p127F, kSmall},      {"rcp", kSmall, 0x1p127F},
                           {"rcp", -0x1p-149F, -infinity}, {"rcp", nan, nan},
                           {"sqrt", 0x1p-148F, 0x1p-74F},  {"sqrt", -kSmall, nan},
                           {"rsqrt", 0x1p-148F, 0x1p74F},  {"rsqrt", -kSmall, nan},
                           {"rsqrt", -infinity, nan},      {"sin", kSmall, kSmall},
                           {"sin", -kSmall, -kSmall},      {"cos", -0.0F, 1.0F},
                           {"cos", kSmall, 1.0F},          {"lg2", kSmall, -127.0F},
                           {"lg2", -kSmall, nan},          {"lg2", -infinity, nan},
                           {"ex2", -kSmall, 1.0F},         {"ex2", -127.0F, kSmall},
                           {"tanh", kSmall, kSmall},       {"tanh", -kSmall, -kSmall},
                           {"tanh", 0x1p-149F, 0x1p-149F}};
  const auto add = [&table](const Special& special, const char* type) {
    char literal[16];
    std::snprintf(literal, sizeof literal, "0f%08x", std::bit_cast<u32>(special.in));
    table.add(std::string("mov.f32 $d, ") + literal + "; " + special.opcode + ".approx" + type + " $d, $d;",
              [out = special.out](u32) { return out; });
  };
  for (const Special& special : kFlushed) add(special, ".ftz.f32");
  for (const Special& special : kKept) add(special, ".f32");
  for (const Special& special : kSpecials) add(special, ".f32");
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
