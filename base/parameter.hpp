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

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace heddle {

struct Limits {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool must_be_power_of_two = false;
  std::function<std::vector<std::string>()> choices;   // strings: the values allowed (empty function: any)
  bool list = false;                                   // the value is a list of choices, with commas between
  std::function<std::string(std::string_view)> about;  // what a choice does (empty function: not said)
  // The sections with the parameters of a choice (empty function: none has any).
  std::function<std::vector<std::string>(std::string_view)> sections;

  static Limits any() { return {}; }
  static Limits between(double low, double high) { return {low, high, false, {}, false, {}, {}}; }
  static Limits power_of_two(double low, double high) { return {low, high, true, {}, false, {}, {}}; }
  static Limits one_of(std::vector<std::string> values) {
    Limits limits;
    limits.choices = [values = std::move(values)] { return values; };
    return limits;
  }
  // The names registered for a policy interface, read when asked for; with `takes`, names whose entry it takes.
  template <class Registry>
  static Limits policy(bool (*takes)(const typename Registry::Entry&) = nullptr) {
    Limits limits;
    limits.choices = [takes] {
      std::vector<std::string> names;
      for (const auto& [name, entry] : Registry::instance().entries()) {
        if (takes == nullptr || takes(entry)) {
          names.push_back(name);
        }
      }
      return names;
    };
    limits.about = [](std::string_view name) { return Registry::instance().entry(name).description; };
    limits.sections = [](std::string_view name) {
      const auto& entries = Registry::instance().entries();
      const auto found = entries.find(name);
      return found == entries.end() ? std::vector<std::string>{} : found->second.about.sections;
    };
    return limits;
  }
  // A list of what `limits` have as choices.
  static Limits list_of(Limits limits);
};

// The items of a list, without the spaces around them. A list without a comma has one item, perhaps an empty one.
[[nodiscard]] std::vector<std::string> list_items(std::string_view list);

// What is wrong with a list whose items are each to be one of `choices`, once: "has 'gtoo'", and what to do. Empty:
// nothing.
struct WrongList {
  std::string text;
  std::string hint;
};
[[nodiscard]] WrongList wrong_list(const std::string& list, const std::vector<std::string>& choices);

// One declared parameter of a live struct, type-erased: what the reader, --set, the listings and the docs work on.
struct ParameterReference {
  using Field = std::variant<bool*, unsigned*, std::uint64_t*, double*, std::string*>;
  std::string section;
  std::string section_meaning;
  std::string key;
  Field field;
  Limits limits;
  std::string unit;
  std::string meaning;

  [[nodiscard]] std::string path() const { return section.empty() ? key : section + "." + key; }
  [[nodiscard]] std::string_view type_name() const;  // "boolean", "integer", "number" or "string"
  [[nodiscard]] std::string value_text() const;      // as a TOML value
  [[nodiscard]] std::string range_text() const;  // "1 to 32", "power of two, 1 to 1024", "stack | dwf"; may be empty
};

// A describe() visitor that collects references.
struct ParameterCollector {
  std::vector<ParameterReference> found;
  std::string section_name;
  std::string section_meaning;
  void section(std::string_view name, std::string_view meaning) {
    section_name = name;
    section_meaning = meaning;
  }
  template <class Field>
  void operator()(std::string_view key, Field& field, Limits limits, std::string_view unit, std::string_view meaning) {
    found.push_back({section_name, section_meaning, std::string(key), &field, std::move(limits), std::string(unit),
                     std::string(meaning)});
  }
};

// Every parameter of a struct with describe(), in order of declaration. Sections are what describe() announces
// with visit.section(name, meaning). The references point into `described`.
template <class Described>
[[nodiscard]] std::vector<ParameterReference> parameters_of(Described& described) {
  ParameterCollector collector;
  described.describe(collector);
  return std::move(collector.found);
}

// Bad input about one parameter, or what stands where one should.
class ParameterError : public InputError {
 public:
  // `key`: as the user names it, "core.warp_size".
  ParameterError(std::string key, SourceLocation where, std::string message, std::string hint = {})
      : InputError(std::move(where), std::move(message), std::move(hint)), key_(std::move(key)) {}
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

 private:
  std::string key_;
};

// A value as a user wrote it.
using ParameterValue = std::variant<bool, std::int64_t, double, std::string>;
[[nodiscard]] std::string_view type_name(const ParameterValue& value);

// Checks type and limits, then assigns. Throws ParameterError at `where`, naming the parameter by its path.
void assign(const ParameterReference& parameter, const ParameterValue& value, const SourceLocation& where);

// Throws InputError when the value that the field has is not one that assign would take: of a struct filled in by code.
void check_value(const ParameterReference& parameter);

}  // namespace heddle
