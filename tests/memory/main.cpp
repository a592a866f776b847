// Entry of the memory system's tests: SystemC owns main(). Every test runs in a process of its own
// (tests/support/program.hpp) and may elaborate its own hierarchy; warnings and errors of SystemC fail the test that
// causes them.
#include <systemc>

#include "system.hpp"
#include "tests/support/program.hpp"

int sc_main(int argc, char** argv) {
  return heddle::test::run_program(argc, argv,
                                   [] { sc_core::sc_report_handler::set_handler(heddle::hw::test::fail_on_report); });
}
