#include "tb/measure/json_text.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/json.hpp>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

// The text of a double and, for a row of the same ones, of the latest. It keeps a mark of one (1.0, 2e+20), so that a
// reader sees the same type in every run.
class NumberText {
 public:
  [[nodiscard]] std::string_view of(double number) {
    if (size_ != 0 && std::bit_cast<std::uint64_t>(number) == latest_) {
      return {text_.data(), size_};
    }
    if (!std::isfinite(number)) {
      throw InternalError("a statistic is no finite number");
    }
    char* end = fmt::format_to(text_.data(), FMT_COMPILE("{}"), number);
    if (std::none_of(text_.data(), end, [](char c) { return c == '.' || c == 'e'; })) {
      *end++ = '.';
      *end++ = '0';
    }
    latest_ = std::bit_cast<std::uint64_t>(number);
    size_ = static_cast<std::size_t>(end - text_.data());
    return {text_.data(), size_};
  }

 private:
  std::array<char, 40> text_{};
  std::size_t size_ = 0;
  std::uint64_t latest_ = 0;
};

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
  NumberText numbers;
  for (const json::value& value : array) {
    out += first ? "" : (flat ? ", " : ",");
    first = false;
    if (!flat) {
      break_line(out, indent + 2);
    }
    if (value.is_double()) {
      out += numbers.of(value.get_double());
    } else {
      append(out, value, indent + 2);
    }
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
    out += NumberText().of(value.get_double());
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
