#include "studies/sweep/ask.hpp"

#include <utility>

#include "base/error.hpp"
#include "os/process/child_process.hpp"

namespace heddle::studies::sweep {

Answer ask(const std::vector<std::string>& words, const std::string& hint) {
  try {
    os::Finished said = os::run_program(words);
    return {said.end.shell_code(), std::move(said.out), std::move(said.err)};
  } catch (const os::StartError& error) {
    throw InputError({words.front()}, "cannot be started: " + error.reason(), hint);
  }
}

std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (const char c : word) {
    out += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return out + "'";
}

}  // namespace heddle::studies::sweep
