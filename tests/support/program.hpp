// What every test program does with its arguments.
//
//   (none), --gtest_...           GoogleTest's own: all cases in this process
//   --each-apart [--gtest_...]    each case in a process of its own, forked from this one, which has everything loaded:
//                                 SystemC elaborates once per process, and starting a program takes longer than most
//                                 cases
//   --ctest=FILE PREFIX [ENVIRONMENT]
//                                 writes FILE, a script that adds the cases to ctest as tests named PREFIX..., with
//                                 their labels (tests/support/marks.hpp); run by tests/support/discover.cmake
#pragma once

namespace heddle::test {

// The body of main() or sc_main(). `each_process` is called before the cases run, in each process that runs some.
int run_program(int argc, char** argv, void (*each_process)() = nullptr);

// False where this process can run no case of an instantiation called Long, by its filter: thousands of such cases need
// not be registered then, once in each process.
bool wants_long_cases();

}  // namespace heddle::test
