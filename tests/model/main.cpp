// Entry of the tests that compare the model with the reference interpreter. SystemC owns main(), and elaborates once
// per process: every test runs in a process of its own (tests/CMakeLists.txt).
#include "tests/hw/report.hpp"

int sc_main(int argc, char** argv) {
  return heddle::test::run_all(argc, argv);
}
