// The program. The SystemC library would bring its own main(); this one only switches off its copyright banner first,
// which would stand in front of every output.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <systemc>
#include <vector>

#include "base/error.hpp"
#include "tb/program/command.hpp"

namespace {

[[noreturn]] void end_as_internal_error() {
  std::fputs("heddle: internal error: an exception left a place from which none may\n", stderr);
  ::_exit(static_cast<int>(heddle::ExitCode::internal_error));
}

}  // namespace

int sc_main(int count, char** words) {
  std::set_terminate(end_as_internal_error);
  return heddle::program::run_program({words + std::min(count, 1), words + count});
}

int main(int count, char** words) {
  ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(count, words);
}
