// Entry of the bench's tests: SystemC owns main(). Every test runs in a process of its own (tests/CMakeLists.txt).
#include <gtest/gtest.h>

#include <systemc>

int sc_main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
