// What SystemC reports in a test: warnings and errors fail it. An error ends the simulation too, which would otherwise
// go on without the process that threw, and wait for it.
#pragma once

#include <gtest/gtest.h>

#include <systemc>

#include "tests/support/program.hpp"

namespace heddle::test {

inline void fail_on_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() == sc_core::SC_INFO) {
    return;
  }
  ADD_FAILURE() << report.get_msg_type() << ": " << report.get_msg();
  if (report.get_severity() >= sc_core::SC_ERROR) {
    sc_core::sc_report_handler::default_handler(report, actions);
  }
}

// The body of sc_main of a test program.
inline int run_all(int argc, char** argv) {
  return run_program(argc, argv, [] { sc_core::sc_report_handler::set_handler(fail_on_report); });
}

}  // namespace heddle::test
