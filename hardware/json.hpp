// JSON as far as campaigns and results need it: numbers are doubles, objects keep their order. The program travels
// alone to hosts of GPUs, so it uses nothing but the standard library.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace heddle::hardware {

// What is wrong with a file, an option or a value that the user gave.
struct Bad : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  Json(bool value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(int value) : value_(static_cast<double>(value)) {}
  Json(unsigned value) : value_(static_cast<double>(value)) {}
  Json(unsigned long value) : value_(static_cast<double>(value)) {}
  Json(unsigned long long value) : value_(static_cast<double>(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  // Throws Bad with the line: `name` is the file's.
  [[nodiscard]] static Json parse(std::string_view text, const std::string& name);
  [[nodiscard]] std::string text() const;   // one line
  [[nodiscard]] std::string lines() const;  // members of the outermost object, and elements of their arrays, on lines

  [[nodiscard]] bool is_null() const { return value_.index() == 0; }
  [[nodiscard]] bool is_number() const { return std::holds_alternative<double>(value_); }
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(value_); }
  [[nodiscard]] bool is_array() const { return std::holds_alternative<Array>(value_); }
  [[nodiscard]] bool is_object() const { return std::holds_alternative<Object>(value_); }

  // Each throws Bad where the value is of another kind; `what` says whose it is.
  [[nodiscard]] double number(const std::string& what) const;
  [[nodiscard]] unsigned long long whole(const std::string& what) const;  // from 0 on
  [[nodiscard]] const std::string& string(const std::string& what) const;
  [[nodiscard]] const Array& array(const std::string& what) const;
  [[nodiscard]] const Object& object(const std::string& what) const;

  // The member of that name, or a null value where there is none or this is no object.
  [[nodiscard]] const Json& operator[](std::string_view name) const;
  void set(const std::string& name, Json value);  // this is an object or null

 private:
  std::variant<std::monostate, bool, double, std::string, Array, Object> value_;
};

}  // namespace heddle::hardware
