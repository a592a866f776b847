#include "tb/launch/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/nearest.hpp"
#include "tb/config/toml_text.hpp"

namespace heddle::tb::launch {

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

Section::Section(const toml::table& table, std::string file, std::string title, std::vector<std::string> keys)
    : Section(table, std::move(file), std::move(title)) {
  for (const auto& [key, value] : table_) {
    const std::string word(key.str());
    if (std::find(keys.begin(), keys.end(), word) == keys.end()) {
      const toml::source_position at = key.source().begin;
      throw InputError({file_, at.line, at.column}, fmt::format("there is no key '{}' in {}", excerpt(word), title_),
                       suggest(word, keys, "known here: " + join(keys)));
    }
  }
}

Section::Section(const toml::table& table, std::string file, std::string title)
    : table_(table), file_(std::move(file)), title_(std::move(title)) {}

SourceLocation Section::location(const toml::node& node) const {
  const toml::source_position at = node.source().begin;
  return {file_, at.line, at.column};
}

SourceLocation Section::where(std::string_view key) const {
  const toml::node* found = table_.get(key);
  return found == nullptr ? where() : location(*found);
}

std::string Section::name(std::string_view key) const {
  return fmt::format("'{}' of {}", key, title_);
}

void Section::refuse(const toml::node& node, std::string_view key, const std::string& wanted) const {
  throw InputError(location(node), fmt::format("{} must be {}, not {}", name(key), wanted, kind_of(node)));
}

const toml::node& Section::node(std::string_view key) const {
  const toml::node* found = table_.get(key);
  if (found == nullptr) {
    throw InputError(where(), fmt::format("{} has no '{}'", title_, key), fmt::format("add {} = ...", key));
  }
  return *found;
}

std::string Section::string(std::string_view key) const {
  const toml::node& found = node(key);
  const auto* value = found.as_string();
  if (value == nullptr) {
    refuse(found, key, "a string");
  }
  if (value->get().empty() || value->get().find('\0') != std::string::npos) {
    throw InputError(location(found), name(key) + " is empty or has a null character in it");
  }
  return value->get();
}

std::uint64_t Section::integer(std::string_view key, std::uint64_t low, std::uint64_t high) const {
  const toml::node& found = node(key);
  const auto* value = found.as_integer();
  if (value == nullptr) {
    refuse(found, key, "an integer");
  }
  const std::int64_t i = value->get();
  if (i < 0 || static_cast<std::uint64_t>(i) < low || static_cast<std::uint64_t>(i) > high) {
    throw InputError(location(found), fmt::format("{} is {}", name(key), i), fmt::format("give {} to {}", low, high));
  }
  return static_cast<std::uint64_t>(i);
}

std::uint64_t Section::integer(std::string_view key, std::uint64_t low, std::uint64_t high,
                               std::uint64_t otherwise) const {
  return has(key) ? integer(key, low, high) : otherwise;
}

bool Section::boolean(std::string_view key, bool otherwise) const {
  if (!has(key)) {
    return otherwise;
  }
  const toml::node& found = node(key);
  const auto* value = found.as_boolean();
  if (value == nullptr) {
    refuse(found, key, "true or false");
  }
  return value->get();
}

const toml::array& Section::array(std::string_view key) const {
  const toml::node& found = node(key);
  const toml::array* value = found.as_array();
  if (value == nullptr) {
    refuse(found, key, "an array");
  }
  return *value;
}

const toml::table& Section::table(std::string_view key) const {
  const toml::node& found = node(key);
  const toml::table* value = found.as_table();
  if (value == nullptr) {
    refuse(found, key, "a table");
  }
  return *value;
}

Number Section::number(std::string_view key) const {
  return number_of(node(key), key);
}

Number Section::number_of(const toml::node& found, std::string_view key) const {
  if (const auto* value = found.as_integer()) {
    return Number::of(Wide{value->get()});
  }
  if (const auto* value = found.as_floating_point()) {
    return Number::of(value->get());
  }
  // TOML's integers end at 2^63 - 1; larger ones come as text.
  if (const auto* value = found.as_string()) {
    std::string_view digits = value->get();
    const bool hexadecimal = digits.starts_with("0x");
    digits.remove_prefix(hexadecimal ? 2 : 0);
    std::uint64_t parsed = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), parsed, hexadecimal ? 16 : 10);
    if (result.ec == std::errc() && result.ptr == digits.data() + digits.size()) {
      return Number::of(Wide{parsed});
    }
    throw InputError(location(found), fmt::format("{} is \"{}\", which is no number", name(key), excerpt(value->get())),
                     "give a number; only unsigned integers above 2^63 - 1 are written as text");
  }
  refuse(found, key, "a number");
}

Number Section::number(std::string_view key, isa::Type type) const {
  const Number value = number(key);
  if (const auto reason = objection(type, value)) {
    throw InputError(where(key), fmt::format("{}: {}", name(key), *reason));
  }
  return value;
}

Number Section::number_in(const toml::node& node, std::string_view key, isa::Type type) const {
  const Number value = number_of(node, key);
  if (const auto reason = objection(type, value)) {
    throw InputError(location(node), fmt::format("{}: {}", name(key), *reason));
  }
  return value;
}

std::vector<const toml::table*> Section::tables(std::string_view key) const {
  std::vector<const toml::table*> found;
  if (!has(key)) {
    return found;
  }
  const toml::node& value = node(key);
  const toml::array* elements = value.as_array();
  if (elements == nullptr) {
    refuse(value, key, fmt::format("an array of tables ([[{}]])", key));
  }
  for (const toml::node& element : *elements) {
    if (element.as_table() == nullptr) {
      refuse(element, key, "an array of tables");
    }
    found.push_back(element.as_table());
  }
  return found;
}

}  // namespace heddle::tb::launch
