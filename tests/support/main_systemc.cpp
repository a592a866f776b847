// Entry of the bench's tests: SystemC owns main(). Every test runs in a process of its own (tests/support/program.hpp).
#include <systemc>

#include "tests/support/program.hpp"

int sc_main(int argc, char** argv) {
  return heddle::test::run_program(argc, argv);
}
