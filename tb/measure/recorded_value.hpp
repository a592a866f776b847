// A value of a stats.json or host.json that is read back, with its place: a file that was damaged or edited is refused
// by the name of what is wrong.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameter.hpp"

namespace heddle::tb {

// Every reading throws InputError at the file: "does not hold a run: 'summary.cycles' is missing", "... is "12" instead
// of a whole number".
class RecordedValue {
 public:
  // `value` and `file` outlive it. `name` is its place below the file's outermost object; empty: that object.
  RecordedValue(const boost::json::value& value, const std::string& file, std::string name = {})
      : value_(&value), file_(&file), name_(std::move(name)) {}

  // A member of an object, which must be there; of an array.
  [[nodiscard]] RecordedValue at(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::vector<RecordedValue> entries() const;
  [[nodiscard]] std::vector<std::string> keys() const;  // of an object, in its order

  [[nodiscard]] std::uint64_t count() const;  // a whole number, not below zero
  [[nodiscard]] double number() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool flag() const;
  [[nodiscard]] ParameterValue scalar() const;
  [[nodiscard]] SourceLocation where() const { return {*file_}; }

 private:
  [[noreturn]] void refuse(std::string_view wanted) const;

  const boost::json::value* value_;
  const std::string* file_;
  std::string name_;
};

}  // namespace heddle::tb
