#include "tb/measure/json_text.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "tb/measure/number_texts.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

// It keeps a mark of a double (1.0, 2e+20), so that a reader sees the same type in every run.
char* write_number(char* at, double number) {
  if (!std::isfinite(number)) {
    throw InternalError("a statistic is no finite number");
  }
  char* end = fmt::format_to(at, FMT_COMPILE("{}"), number);
  if (std::none_of(at, end, [](char c) { return c == '.' || c == 'e'; })) {
    *end++ = '.';
    *end++ = '0';
  }
  return end;
}

class JsonText {
 public:
  void append(const json::value& value, std::size_t indent) {
    if (value.is_object()) {
      append_object(value.get_object(), indent);
    } else if (value.is_array()) {
      append_array(value.get_array(), indent);
    } else if (value.is_double()) {
      std::array<char, Texts::kLongest> text;
      out_.append(text.data(), write_number(text.data(), value.get_double()));
    } else {
      out_ += json::serialize(value);
    }
  }
  [[nodiscard]] std::string take() {
    out_ += '\n';
    return std::move(out_);
  }

 private:
  using Texts = NumberTexts<decltype(&write_number)>;
  static constexpr std::size_t kLongRow = 64;

  void break_line(std::size_t indent) {
    out_ += '\n';
    out_.append(indent, ' ');
  }
  void append_object(const json::object& object, std::size_t indent);
  void append_array(const json::array& array, std::size_t indent);

  std::string out_;
  std::optional<Texts> texts_;  // of numbers in long rows
};

void JsonText::append_object(const json::object& object, std::size_t indent) {
  if (object.empty()) {
    out_ += "{}";
    return;
  }
  out_ += '{';
  bool first = true;
  for (const auto& [key, value] : object) {
    out_ += first ? "" : ",";
    first = false;
    break_line(indent + 2);
    out_ += json::serialize(json::string(key)) + ": ";
    append(value, indent + 2);
  }
  break_line(indent);
  out_ += '}';
}

void JsonText::append_array(const json::array& array, std::size_t indent) {
  const bool flat = std::all_of(array.begin(), array.end(),
                                [](const json::value& value) { return !value.is_object() && !value.is_array(); });
  const bool long_row = flat && array.size() >= kLongRow;
  if (long_row && !texts_) {
    texts_.emplace(&write_number);
  }
  out_ += '[';
  bool first = true;
  for (const json::value& value : array) {
    out_ += first ? "" : (flat ? ", " : ",");
    first = false;
    if (!flat) {
      break_line(indent + 2);
    }
    if (long_row && value.is_double()) {
      out_ += texts_->of(value.get_double());
    } else {
      append(value, indent + 2);
    }
  }
  if (!flat) {
    break_line(indent);
  }
  out_ += ']';
}

}  // namespace

std::string json_text(const json::value& value) {
  JsonText text;
  text.append(value, 0);
  return text.take();
}

}  // namespace heddle::tb
