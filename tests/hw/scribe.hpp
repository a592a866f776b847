// A module that writes down its turns, for tests of the calendar.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <utility>
#include <vector>

#include "tlm/calendar/calendar.hpp"

namespace heddle::test {

inline const sc_core::sc_time kPeriod(2, sc_core::SC_NS);

// Writes down when it runs; what it does then is the test's.
class Scribe final : public link::ClockedModule {
 public:
  Scribe(const char* name, link::Clock clock, std::function<link::Cycle(link::Cycle)> work)
      : ClockedModule(name, clock), work_(std::move(work)) {}
  std::vector<link::Cycle> ran;
  std::vector<std::uint64_t> kernel_ps;  // the kernel's time
  bool asks = true;                      // how far it is ahead, in each turn

 private:
  link::Cycle advance(link::Cycle now) override {
    EXPECT_EQ(clock().now(), now);
    if (asks) {
      EXPECT_EQ(clock().ahead() + sc_core::sc_time_stamp(), clock().cycles(now));
    }
    ran.push_back(now);
    kernel_ps.push_back(sc_core::sc_time_stamp().value());  // at the resolution of 1 ps
    return work_(now);
  }
  std::function<link::Cycle(link::Cycle)> work_;
};

inline link::Cycle never(link::Cycle) {
  return link::kNever;
}
inline link::Cycle until_six(link::Cycle now) {
  return now < 6 ? now + 1 : link::kNever;
}
inline link::Cycle until_nine(link::Cycle now) {
  return now < 9 ? now + 1 : link::kNever;
}

}  // namespace heddle::test
