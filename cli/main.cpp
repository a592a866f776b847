// The program. The SystemC library would bring its own main(); the main() here only switches off SystemC's copyright
// banner first, which would stand in front of every output.
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <systemc>
#include <vector>

#include "base/error.hpp"
#include "cli/command.hpp"

namespace {

[[noreturn]] void end_as_internal_error() {
  std::fputs("heddle: internal error: an exception left a place from which none may\n", stderr);
  ::_exit(static_cast<int>(heddle::ExitCode::internal_error));
}

}  // namespace

int sc_main(int count, char** words) {
  std::set_terminate(end_as_internal_error);
  return heddle::cli::run_program({words + std::min(count, 1), words + count});
}

namespace {

// A limit on the size of files (ulimit -f) is an error of write(), as a full disk is, and does not end the process. A
// handler, unlike a signal that is ignored, is not handed on to programs that Heddle starts.
void leave_it_to_write(int /*signal*/) {}

void report_large_files() {
  struct sigaction before {};
  if (::sigaction(SIGXFSZ, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
    struct sigaction action {};
    action.sa_handler = leave_it_to_write;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGXFSZ, &action, nullptr);
  }
}

// HEDDLE_PARENT=PID: who has started the program waits for it, and it is not to go on alone when that process is killed
// and can say no word (the Python package; a notebook's kernel that is started anew).
void end_with_parent() {
  constexpr const char* kVariable = "HEDDLE_PARENT";
  const char* const named = std::getenv(kVariable);
  if (named == nullptr) {
    return;
  }
  const auto parent = static_cast<::pid_t>(std::atoi(named));
  ::unsetenv(kVariable);
  if (::getppid() == parent) {  // or a script is in between, which ends by itself
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  }
  if (parent > 0 && ::kill(parent, 0) != 0 && errno == ESRCH) {
    ::raise(SIGTERM);  // it was killed before
  }
}

}  // namespace

int main(int count, char** words) {
  report_large_files();
  end_with_parent();
  ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return sc_core::sc_elab_and_sim(count, words);
}
