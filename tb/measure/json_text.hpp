// JSON as text, deterministic: keys in the order in which they were put in, numbers in their shortest form that reads
// back exactly, two spaces of indentation, arrays of numbers on one line.
#pragma once

#include <boost/json/fwd.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_sink.hpp"

namespace heddle::tb {

[[nodiscard]] std::string json_text(const boost::json::value& value);

// An object that is written member by member, for one too large to be held: the bytes of json_text() of an object with
// the members.
class JsonObjectText {
 public:
  explicit JsonObjectText(ByteSink& out);
  ~JsonObjectText();
  JsonObjectText(const JsonObjectText&) = delete;
  JsonObjectText& operator=(const JsonObjectText&) = delete;
  // Of the innermost object that is open; at first the whole one is.
  void member(std::string_view key, const boost::json::value& value);
  void member(std::string_view key, std::span<const double> row);
  void open(std::string_view key);  // a member that is an object
  // The innermost object; with the whole one, the text is complete.
  void close();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace heddle::tb
