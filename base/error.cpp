#include "base/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace heddle {

std::string SourceLocation::text() const {
  std::string out = file;
  if (line != 0) {
    out += fmt::format("{}{}", out.empty() ? "line " : ":", line);
    if (column != 0) {
      out += fmt::format(":{}", column);
    }
  }
  return out;
}

namespace {

std::string compose(const SourceLocation& where, const std::string& message, const std::string& hint) {
  std::string out = where.text();
  if (!out.empty()) {
    out += ": ";
  }
  out += message;
  if (!hint.empty()) {
    out += "; " + hint;
  }
  return out;
}

}  // namespace

InputError::InputError(SourceLocation where, std::string message, std::string hint)
    : std::runtime_error(compose(where, message, hint)),
      where_(std::move(where)),
      message_(std::move(message)),
      hint_(std::move(hint)) {}

}  // namespace heddle
