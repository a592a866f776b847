// Entry of the hardware's tests: SystemC owns main(). Every test runs in a process of its own
// (tests/support/program.hpp) and may elaborate its own hierarchy.
#include "tests/hw/report.hpp"

int sc_main(int argc, char** argv) {
  return heddle::test::run_all(argc, argv);
}
