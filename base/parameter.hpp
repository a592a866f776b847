// Parameters that are declared once. A parameter struct gives each field its default in the field's initialiser and
// declares key, limits, unit and meaning in one place, its describe():
//
//   struct DramParameters {
//     unsigned banks = 8;
//     template <class Visitor> void describe(Visitor& visit) {
//       visit("banks", banks, Limits::power_of_two(1, 1024), "banks", "banks of one channel");
//     }
//   };
//
// The TOML reader, its refusals, --set, `heddle list parameters` and the docs are derived from these declarations.
// Field types: bool, unsigned, std::uint64_t, double, std::string.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace heddle {

struct Limits {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool must_be_power_of_two = false;
  std::function<std::vector<std::string>()> choices;  // strings: the values allowed (empty function: any)

  static Limits any() { return {}; }
  static Limits between(double low, double high) { return {low, high, false, {}}; }
  static Limits power_of_two(double low, double high) { return {low, high, true, {}}; }
  static Limits one_of(std::vector<std::string> values) {
    Limits limits;
    limits.choices = [values = std::move(values)] { return values; };
    return limits;
  }
  // The names registered for a policy interface, read when asked for.
  template <class Registry>
  static Limits policy() {
    Limits limits;
    limits.choices = [] {
      std::vector<std::string> names;
      for (const auto& [name, entry] : Registry::instance().entries()) {
        names.push_back(name);
      }
      return names;
    };
    return limits;
  }
};

}  // namespace heddle
