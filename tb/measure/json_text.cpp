#include "tb/measure/json_text.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tb/measure/number_texts.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestJsonNumber = 26;  // of a double's shortest forms, and a mark

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

// Between the values of an array on one line.
constexpr std::string_view kBetween = ", ";

char* write_and_part(char* at, double number) {
  char* const end = write_number(at, number);
  return std::copy(kBetween.begin(), kBetween.end(), end);
}

class JsonText {
 public:
  void append(const json::value& value, std::size_t indent) {
    if (value.is_object()) {
      append_object(value.get_object(), indent);
    } else if (value.is_array()) {
      append_array(value.get_array(), indent);
    } else if (value.is_double()) {
      std::array<char, kLongestJsonNumber> text;
      out_.append(text.data(), write_number(text.data(), value.get_double()));
    } else {
      out_ += json::serialize(value);
    }
  }
  // An object, of whose members those before the first are none. `indent` is that of its braces.
  void begin_object() { out_ += '{'; }
  void append_key(bool first, std::string_view key, std::size_t indent) {
    out_ += first ? "" : ",";
    break_line(indent + 2);
    out_ += json::serialize(json::string(key)) + ": ";
  }
  void end_object(bool empty, std::size_t indent) {
    if (!empty) {
      break_line(indent);
    }
    out_ += '}';
  }
  // What has been appended since it was last cleared.
  [[nodiscard]] std::string& text() { return out_; }

 private:
  void break_line(std::size_t indent) {
    out_ += '\n';
    out_.append(indent, ' ');
  }
  void append_object(const json::object& object, std::size_t indent);
  void append_array(const json::array& array, std::size_t indent);

  std::string out_;
};

void JsonText::append_object(const json::object& object, std::size_t indent) {
  begin_object();
  bool first = true;
  for (const auto& [key, value] : object) {
    append_key(first, key, indent);
    first = false;
    append(value, indent + 2);
  }
  end_object(first, indent);
}

void JsonText::append_array(const json::array& array, std::size_t indent) {
  const bool flat = std::all_of(array.begin(), array.end(),
                                [](const json::value& value) { return !value.is_object() && !value.is_array(); });
  out_ += '[';
  bool first = true;
  for (const json::value& value : array) {
    out_ += first ? "" : (flat ? kBetween : ",");
    first = false;
    if (!flat) {
      break_line(indent + 2);
    }
    append(value, indent + 2);
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
  text.text() += '\n';
  return std::move(text.text());
}

struct JsonObjectText::State {
  static constexpr std::size_t kWrittenAtOnce = 64 * 1024;  // bytes, and at most a member more
  static constexpr std::size_t kFormedAtOnce = 1024;        // numbers of a row

  ByteSink& out;
  JsonText text{};
  std::vector<bool> empty{};  // of each object that is open, the whole one first
  NumberTexts<decltype(&write_and_part)> texts{&write_and_part};

  [[nodiscard]] std::size_t indent() const { return 2 * (empty.size() - 1); }
  void append_key(std::string_view key) {
    text.append_key(empty.back(), key, indent());
    empty.back() = false;
  }
  void begin() {
    text.begin_object();
    empty.push_back(true);
  }
  void write() {
    out.write(text.text());
    text.text().clear();
  }
  void write_if_long() {
    if (text.text().size() > kWrittenAtOnce) {
      write();
    }
  }
};

JsonObjectText::JsonObjectText(ByteSink& out) : state_(new State{out}) {
  state_->begin();
}

JsonObjectText::~JsonObjectText() = default;

void JsonObjectText::member(std::string_view key, const json::value& value) {
  state_->append_key(key);
  state_->text.append(value, state_->indent() + 2);
  state_->write_if_long();
}

void JsonObjectText::member(std::string_view key, std::span<const double> row) {
  state_->append_key(key);
  std::string& text = state_->text.text();
  text += '[';
  while (!row.empty()) {
    const std::span<const double> part = row.first(std::min(row.size(), State::kFormedAtOnce));
    row = row.subspan(part.size());
    std::size_t end = text.size();
    text.resize(end + part.size() * state_->texts.kLongest);
    for (const double number : part) {
      const std::string_view of_number = state_->texts.of(number);
      std::memcpy(&text[end], of_number.data(), state_->texts.kLongest);  // what is too much is written over
      end += of_number.size();
    }
    text.resize(row.empty() ? end - kBetween.size() : end);
  }
  text += ']';
  state_->write_if_long();
}

void JsonObjectText::open(std::string_view key) {
  state_->append_key(key);
  state_->begin();
}

void JsonObjectText::close() {
  state_->text.end_object(state_->empty.back(), state_->indent());
  state_->empty.pop_back();
  if (state_->empty.empty()) {
    state_->text.text() += '\n';
    state_->write();
  }
}

}  // namespace heddle::tb
