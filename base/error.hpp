// Errors as a user meets them: what is wrong, where, and what to do about it.
//
// Three kinds leave a Heddle library, each with its exit code:
//   InputError     bad input (PTX, LAUNCH.toml, CONFIG, command line)   exit code 2
//   SimulatedFault the simulated program went wrong                     exit code 3
//   InternalError  Heddle itself went wrong                             exit code 4
#pragma once

#include <stdexcept>
#include <string>

namespace heddle {

enum class ExitCode : int { good = 0, result_mismatch = 1, bad_input = 2, simulated_fault = 3, internal_error = 4 };

// A place in a text that the user wrote. Lines and columns count from 1; 0 means unknown.
struct SourceLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  // "file:line:column", without the parts that are unknown.
  [[nodiscard]] std::string text() const;
};

class InputError : public std::runtime_error {
 public:
  // what() reads "file:line:column: message; hint".
  InputError(SourceLocation where, std::string message, std::string hint = {});

  [[nodiscard]] const SourceLocation& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }

 private:
  SourceLocation where_;
  std::string message_;
  std::string hint_;
};

class SimulatedFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace heddle
