// Errors for programs that call this one: HEDDLE_ERROR_FILE=FILE has the error that ends a command written to FILE too,
// as JSON with file, line, column and key apart.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace heddle::cli {

class ErrorFile {
 public:
  // Takes the variable out of the environment: processes that this one starts have errors of their own.
  ErrorFile();
  // `text`: what stderr says behind "heddle: ". Says on stderr when the file cannot be written.
  void write(int code, std::string_view kind, std::string_view text, const std::exception* error) const;

 private:
  std::string path_;  // empty: nobody asks
};

}  // namespace heddle::cli
