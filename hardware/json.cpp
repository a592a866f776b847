#include "hardware/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace heddle::hardware {
namespace {

constexpr unsigned kMostDeep = 64;

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Json whole() {
    Json value = any(0);
    blank();
    if (at_ != text_.size()) fail("something stands behind the value");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw Bad(name_ + ":" + std::to_string(line) + ": " + what);
  }
  void blank() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  [[nodiscard]] char peek() {
    blank();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  Json any(unsigned depth) {
    if (depth > kMostDeep) fail("values are nested more than 64 deep");
    const char c = peek();
    if (c == '{') return object(depth);
    if (c == '[') return array(depth);
    if (c == '"') return string();
    if (word("true")) return true;
    if (word("false")) return false;
    if (word("null")) return {};
    return number();
  }

  Json object(unsigned depth) {
    Json::Object members;
    expect('{');
    if (take('}')) return members;
    do {
      if (peek() != '"') fail("expected a name in quotes");
      std::string name = string();
      for (const auto& member : members) {
        if (member.first == name) fail("'" + name + "' is there twice");
      }
      expect(':');
      members.emplace_back(std::move(name), any(depth + 1));
    } while (take(','));
    expect('}');
    return members;
  }

  Json array(unsigned depth) {
    Json::Array elements;
    expect('[');
    if (take(']')) return elements;
    do {
      elements.push_back(any(depth + 1));
    } while (take(','));
    expect(']');
    return elements;
  }

  std::string string() {
    expect('"');
    std::string out;
    while (true) {
      if (at_ >= text_.size() || text_[at_] == '\n') fail("a text without its closing quote");
      const char c = text_[at_++];
      if (c == '"') return out;
      out += c == '\\' ? escaped() : std::string(1, c);
    }
  }
  std::string escaped() {
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = kNames.find(c); c != '\0' && i != std::string_view::npos) return {kValues[i]};
    if (c != 'u') fail("no such escape in a text");
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      const char digit = at_ < text_.size() ? text_[at_++] : '\0';
      const std::size_t value = std::string_view("0123456789abcdefABCDEF").find(digit);
      if (digit == '\0' || value == std::string_view::npos) fail("\\u wants four hexadecimal digits");
      code = 16 * code + static_cast<unsigned>(value < 16 ? value : value - 6);
    }
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xc0 | (code >> 6U)), static_cast<char>(0x80 | (code & 0x3fU))};
    return {static_cast<char>(0xe0 | (code >> 12U)), static_cast<char>(0x80 | ((code >> 6U) & 0x3fU)),
            static_cast<char>(0x80 | (code & 0x3fU))};
  }

  Json number() {
    const std::size_t start = at_;
    while (at_ < text_.size() && std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos) ++at_;
    const std::string digits(text_.substr(start, at_ - start));
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (digits.empty() || *end != '\0' || !std::isfinite(value)) fail("expected a value");
    return value;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string digits_of(double value) {
  char text[40];
  const bool is_whole = std::fabs(value) < 9e15 && value == std::floor(value);
  std::snprintf(text, sizeof text, is_whole ? "%.0f" : "%.9g", value);
  return text;
}

template <class T>
const T& of_kind(const T* value, const std::string& what, const char* kind) {
  if (value == nullptr) throw Bad(what + " must be " + kind);
  return *value;
}

}  // namespace

Json Json::parse(std::string_view text, const std::string& name) {
  return Parser(text, name).whole();
}

std::string Json::text() const {
  if (is_null()) return "null";
  if (const bool* flag = std::get_if<bool>(&value_)) return *flag ? "true" : "false";
  if (is_number()) return digits_of(std::get<double>(value_));
  if (is_string()) return quoted(std::get<std::string>(value_));
  std::string out;
  if (is_array()) {
    for (const Json& element : std::get<Array>(value_)) out += (out.empty() ? "" : ", ") + element.text();
    return "[" + out + "]";
  }
  for (const auto& [name, value] : std::get<Object>(value_)) {
    out += (out.empty() ? "" : ", ") + quoted(name) + ": " + value.text();
  }
  return "{" + out + "}";
}

std::string Json::lines() const {
  std::string out;
  for (const auto& [name, value] : object("a file")) {
    out += (out.empty() ? "  " : ",\n  ") + quoted(name) + ": ";
    if (value.is_array() && !value.array(name).empty()) {
      std::string elements;
      for (const Json& element : value.array(name)) {
        elements += (elements.empty() ? "\n    " : ",\n    ") + element.text();
      }
      out += "[" + elements + "\n  ]";
    } else {
      out += value.text();
    }
  }
  return "{\n" + out + "\n}\n";
}

double Json::number(const std::string& what) const {
  return of_kind(std::get_if<double>(&value_), what, "a number");
}
unsigned long long Json::whole(const std::string& what) const {
  const double value = number(what);
  if (value < 0 || value != std::floor(value) || value > 9e15) throw Bad(what + " must be a whole number from 0 on");
  return static_cast<unsigned long long>(value);
}
const std::string& Json::string(const std::string& what) const {
  return of_kind(std::get_if<std::string>(&value_), what, "a text");
}
const Json::Array& Json::array(const std::string& what) const {
  return of_kind(std::get_if<Array>(&value_), what, "a list");
}
const Json::Object& Json::object(const std::string& what) const {
  return of_kind(std::get_if<Object>(&value_), what, "an object");
}

const Json& Json::operator[](std::string_view name) const {
  static const Json kNone;
  if (const Object* members = std::get_if<Object>(&value_)) {
    for (const auto& member : *members) {
      if (member.first == name) return member.second;
    }
  }
  return kNone;
}

void Json::set(const std::string& name, Json value) {
  if (is_null()) value_ = Object();
  for (auto& member : std::get<Object>(value_)) {
    if (member.first == name) {
      member.second = std::move(value);
      return;
    }
  }
  std::get<Object>(value_).emplace_back(name, std::move(value));
}

}  // namespace heddle::hardware
