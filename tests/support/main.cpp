// Entry of the tests that know nothing of SystemC.
#include "tests/support/program.hpp"

int main(int argc, char** argv) {
  return heddle::test::run_program(argc, argv);
}
