#include "tb/measure/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/error.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

// A double keeps a mark of one (1.0, 2e+20), so that a reader sees the same type in every run.
std::string number_text(double number) {
  if (!std::isfinite(number)) {
    throw InternalError("a statistic is no finite number");
  }
  const std::string text = fmt::to_string(number);  // as "{}" has it, in a third of the time
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

void append(std::string& out, const json::value& value, std::size_t indent);

void break_line(std::string& out, std::size_t indent) {
  out += '\n';
  out.append(indent, ' ');
}

void append_object(std::string& out, const json::object& object, std::size_t indent) {
  if (object.empty()) {
    out += "{}";
    return;
  }
  out += '{';
  bool first = true;
  for (const auto& [key, value] : object) {
    out += first ? "" : ",";
    first = false;
    break_line(out, indent + 2);
    out += json::serialize(json::string(key)) + ": ";
    append(out, value, indent + 2);
  }
  break_line(out, indent);
  out += '}';
}

void append_array(std::string& out, const json::array& array, std::size_t indent) {
  const bool flat = std::all_of(array.begin(), array.end(),
                                [](const json::value& value) { return !value.is_object() && !value.is_array(); });
  out += '[';
  bool first = true;
  for (const json::value& value : array) {
    out += first ? "" : (flat ? ", " : ",");
    first = false;
    if (!flat) {
      break_line(out, indent + 2);
    }
    append(out, value, indent + 2);
  }
  if (!flat) {
    break_line(out, indent);
  }
  out += ']';
}

void append(std::string& out, const json::value& value, std::size_t indent) {
  if (value.is_object()) {
    append_object(out, value.get_object(), indent);
  } else if (value.is_array()) {
    append_array(out, value.get_array(), indent);
  } else if (value.is_double()) {
    out += number_text(value.get_double());
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string json_text(const json::value& value) {
  std::string out;
  append(out, value, 0);
  out += '\n';
  return out;
}

}  // namespace heddle::tb
