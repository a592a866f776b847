#include "cli/error_file.hpp"

#include <boost/json.hpp>
#include <cstdlib>
#include <iostream>

#include "base/error.hpp"
#include "base/parameter.hpp"
#include "os/files/atomic_file.hpp"
#include "tb/measure/json_text.hpp"

namespace heddle::cli {
namespace {

namespace json = boost::json;

constexpr const char* kErrorVariable = "HEDDLE_ERROR_FILE";

json::value known(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}
json::value known(unsigned number) {
  return number == 0 ? json::value(nullptr) : json::value(number);
}

}  // namespace

ErrorFile::ErrorFile() {
  if (const char* const path = std::getenv(kErrorVariable)) {
    path_ = path;
    ::unsetenv(kErrorVariable);
  }
}

void ErrorFile::write(int code, std::string_view kind, std::string_view text, const std::exception* error) const {
  if (path_.empty()) {
    return;
  }
  json::object out{{"code", code}, {"kind", kind}, {"text", text}};
  if (const auto* input = dynamic_cast<const InputError*>(error)) {
    const auto* parameter = dynamic_cast<const ParameterError*>(error);
    out["file"] = known(input->where().file);
    out["line"] = known(input->where().line);
    out["column"] = known(input->where().column);
    out["key"] = parameter == nullptr ? json::value(nullptr) : json::value(parameter->key());
    out["message"] = input->message();
    out["hint"] = known(input->hint());
  }
  try {
    os::write_file(path_, tb::json_text(out));
  } catch (const InputError& problem) {
    std::cerr << "heddle: " << kErrorVariable << ": " << problem.what() << "\n";
  }
}

}  // namespace heddle::cli
