#include "tb/measure/recorded_value.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "tb/config/toml_text.hpp"

namespace heddle::tb {

namespace json = boost::json;

void RecordedValue::refuse(std::string_view wanted) const {
  throw InputError({*file_}, fmt::format("does not hold a run: {} is {} instead of {}",
                                         name_.empty() ? "the whole" : "'" + name_ + "'",
                                         excerpt(json::serialize(*value_)), wanted));
}

bool RecordedValue::has(std::string_view key) const {
  if (!value_->is_object()) {
    refuse("an object");
  }
  return value_->get_object().contains(key);
}

RecordedValue RecordedValue::at(std::string_view key) const {
  if (!value_->is_object()) {
    refuse("an object");
  }
  std::string name = name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
  const json::value* const member = value_->get_object().if_contains(key);
  if (member == nullptr) {
    throw InputError({*file_}, fmt::format("does not hold a run: '{}' is missing", name));
  }
  return {*member, *file_, std::move(name)};
}

std::vector<RecordedValue> RecordedValue::entries() const {
  if (!value_->is_array()) {
    refuse("an array");
  }
  std::vector<RecordedValue> all;
  for (const json::value& entry : value_->get_array()) {
    all.emplace_back(entry, *file_, fmt::format("{}[{}]", name_, all.size()));
  }
  return all;
}

std::vector<std::string> RecordedValue::keys() const {
  if (!value_->is_object()) {
    refuse("an object");
  }
  std::vector<std::string> all;
  for (const auto& member : value_->get_object()) {
    all.emplace_back(member.key());
  }
  return all;
}

std::uint64_t RecordedValue::count() const {
  json::error_code error;
  const auto number = value_->is_number() ? value_->to_number<std::uint64_t>(error) : 0;
  if (!value_->is_number() || error) {
    refuse("a whole number");
  }
  return number;
}

double RecordedValue::number() const {
  if (!value_->is_number()) {
    refuse("a number");
  }
  return value_->to_number<double>();
}

std::string RecordedValue::text() const {
  if (!value_->is_string()) {
    refuse("a text");
  }
  return std::string(value_->get_string());
}

bool RecordedValue::flag() const {
  if (!value_->is_bool()) {
    refuse("true or false");
  }
  return value_->get_bool();
}

ParameterValue RecordedValue::scalar() const {
  if (value_->is_bool()) {
    return value_->get_bool();
  }
  if (value_->is_double()) {
    return value_->get_double();
  }
  if (value_->is_string()) {
    return std::string(value_->get_string());
  }
  json::error_code error;
  const auto number = value_->is_number() ? value_->to_number<std::int64_t>(error) : 0;
  if (!value_->is_number() || error) {
    refuse("a parameter's value");
  }
  return number;
}

}  // namespace heddle::tb
