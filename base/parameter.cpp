#include "base/parameter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/nearest.hpp"

namespace heddle {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

// 1e15 as "1e15", 1073741824 in full, 0.001 as it is: the shortest text that reads back as the same number.
std::string limit_text(double limit) {
  return fmt::format("{}", limit);
}

std::string interval_text(const Limits& limits) {
  std::string out = limits.must_be_power_of_two ? "a power of two " : "";
  return out + (std::isinf(limits.high)
                    ? fmt::format("of at least {}", limit_text(limits.low))
                    : fmt::format("between {} and {}", limit_text(limits.low), limit_text(limits.high)));
}

std::string with_unit(const std::string& text, const std::string& unit) {
  return unit.empty() ? text : text + " " + unit;
}

[[noreturn]] void refuse_range(const ParameterReference& parameter, const std::string& value,
                               const SourceLocation& where) {
  throw ParameterError(parameter.path(), where,
                       fmt::format("{} must be {}, not {}", parameter.path(),
                                   with_unit(interval_text(parameter.limits), parameter.unit), value));
}

void check_number(const ParameterReference& parameter, double value, const std::string& text,
                  const SourceLocation& where) {
  const Limits& limits = parameter.limits;
  if (!(value >= limits.low && value <= limits.high)) {  // written so that NaN is refused
    refuse_range(parameter, text, where);
  }
}

std::uint64_t checked_integer(const ParameterReference& parameter, std::int64_t value, const SourceLocation& where) {
  const std::string text = fmt::format("{}", value);
  if (value < 0) {
    refuse_range(parameter, text, where);
  }
  check_number(parameter, static_cast<double>(value), text, where);
  const auto result = static_cast<std::uint64_t>(value);
  if (parameter.limits.must_be_power_of_two && !std::has_single_bit(result)) {
    refuse_range(parameter, text, where);
  }
  return result;
}

void check_choice(const ParameterReference& parameter, const std::string& value, const SourceLocation& where) {
  if (!parameter.limits.choices) {
    return;
  }
  const std::vector<std::string> choices = parameter.limits.choices();
  if (parameter.limits.list) {
    if (const WrongList wrong = wrong_list(value, choices); !wrong.text.empty()) {
      throw ParameterError(parameter.path(), where, fmt::format("{} {}", parameter.path(), wrong.text), wrong.hint);
    }
    return;
  }
  if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    const std::string known = choices.empty() ? "there is none to choose from" : "known: " + join(choices);
    const std::string near = suggest(value, choices);
    throw ParameterError(parameter.path(), where, fmt::format("{} cannot be '{}'", parameter.path(), value),
                         near.empty() ? known : near + " (" + known + ")");
  }
}

}  // namespace

Limits Limits::list_of(Limits limits) {
  limits.list = true;
  if (limits.sections) {
    limits.sections = [of_one = std::move(limits.sections)](std::string_view list) {
      std::vector<std::string> all;
      for (const std::string& item : list_items(list)) {
        const std::vector<std::string> its = of_one(item);
        all.insert(all.end(), its.begin(), its.end());
      }
      return all;
    };
  }
  return limits;
}

std::vector<std::string> list_items(std::string_view list) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string_view item = list.substr(begin, end - begin);
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    item = item.substr(0, item.find_last_not_of(' ') + 1);
    items.emplace_back(item);
    begin = end + 1;
  }
  return items;
}

WrongList wrong_list(const std::string& list, const std::vector<std::string>& choices) {
  const std::vector<std::string> items = list_items(list);
  for (auto item = items.begin(); item != items.end(); ++item) {
    if (std::find(choices.begin(), choices.end(), *item) == choices.end()) {
      return {fmt::format("has '{}'", *item),
              suggest(*item, choices, "give names with commas between; known: " + join(choices))};
    }
    if (std::find(items.begin(), item, *item) != item) {
      return {fmt::format("has '{}' twice", *item), "name it once"};
    }
  }
  return {};
}

std::string_view ParameterReference::type_name() const {
  return std::visit(Overloaded{[](const bool*) { return "boolean"; }, [](const unsigned*) { return "integer"; },
                               [](const std::uint64_t*) { return "integer"; }, [](const double*) { return "number"; },
                               [](const std::string*) { return "string"; }},
                    field);
}

std::string ParameterReference::value_text() const {
  return std::visit(Overloaded{[](const std::string* text) { return '"' + *text + '"'; },
                               [](const double* number) {
                                 const std::string text = fmt::format("{}", *number);
                                 return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
                               },
                               [](const auto* value) { return fmt::format("{}", *value); }},
                    field);
}

std::string ParameterReference::range_text() const {
  if (std::holds_alternative<bool*>(field)) {
    return "true | false";
  }
  if (std::holds_alternative<std::string*>(field)) {
    return limits.choices ? (limits.list ? "list of " : "") + join(limits.choices(), " | ") : "";
  }
  const std::string power = limits.must_be_power_of_two ? "power of two, " : "";
  return power + (std::isinf(limits.high) ? fmt::format("{} or more", limit_text(limits.low))
                                          : fmt::format("{} to {}", limit_text(limits.low), limit_text(limits.high)));
}

std::string_view type_name(const ParameterValue& value) {
  return std::visit(Overloaded{[](bool) { return "boolean"; }, [](std::int64_t) { return "integer"; },
                               [](double) { return "number"; }, [](const std::string&) { return "string"; }},
                    value);
}

void assign(const ParameterReference& parameter, const ParameterValue& value, const SourceLocation& where) {
  const auto wrong_type = [&]() -> ParameterError {
    const std::string_view wanted = parameter.type_name();
    return {parameter.path(), where,
            fmt::format("{} must be {} {}, not {} {}", parameter.path(), wanted == "integer" ? "an" : "a", wanted,
                        type_name(value) == "integer" ? "an" : "a", type_name(value))};
  };
  std::visit(
      Overloaded{[&](bool* field, bool given) { *field = given; },
                 [&](unsigned* field, std::int64_t given) {
                   const std::uint64_t number = checked_integer(parameter, given, where);
                   if (number > std::numeric_limits<unsigned>::max()) {
                     throw ParameterError(parameter.path(), where,
                                          fmt::format("{} must fit into 32 bits, not {}", parameter.path(), given));
                   }
                   *field = static_cast<unsigned>(number);
                 },
                 [&](std::uint64_t* field, std::int64_t given) { *field = checked_integer(parameter, given, where); },
                 [&](double* field, double given) {
                   check_number(parameter, given, fmt::format("{}", given), where);
                   *field = given;
                 },
                 [&](double* field, std::int64_t given) {
                   check_number(parameter, static_cast<double>(given), fmt::format("{}", given), where);
                   *field = static_cast<double>(given);
                 },
                 [&](std::string* field, const std::string& given) {
                   check_choice(parameter, given, where);
                   *field = given;
                 },
                 [&](auto*, const auto&) { throw wrong_type(); }},
      parameter.field, value);
}

void check_value(const ParameterReference& parameter) {
  const SourceLocation nowhere;
  std::visit(
      Overloaded{[](const bool*) {}, [&](const std::string* text) { check_choice(parameter, *text, nowhere); },
                 [&](const double* number) { check_number(parameter, *number, fmt::format("{}", *number), nowhere); },
                 [&](const auto* number) {
                   const std::string text = fmt::format("{}", *number);
                   check_number(parameter, static_cast<double>(*number), text, nowhere);
                   if (parameter.limits.must_be_power_of_two && !std::has_single_bit(*number)) {
                     refuse_range(parameter, text, nowhere);
                   }
                 }},
      parameter.field);
}

}  // namespace heddle
