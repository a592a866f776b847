// Entry of the tests that compare the model with the reference interpreter. SystemC owns main(), and elaborates once
// per process: every test runs in a process of its own (tests/support/program.hpp).
#include "tests/hw/report.hpp"
#include "tests/support/marks.hpp"

// The slowest machine shows nothing under sanitizers that the others do not.
HEDDLE_NOT_SANITIZED("*_tiny*", "*/tiny_*")

int sc_main(int argc, char** argv) {
  return heddle::test::run_all(argc, argv);
}
