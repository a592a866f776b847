// The pipeline log of a run that is stopped goes on to its last cycle, also where the cores rest then.
#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>

#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

struct LogEnd {
  std::uint64_t cycle = 0;
  unsigned flushed = 0;  // rows
};

LogEnd end_of(const std::string& log) {
  LogEnd end;
  std::istringstream lines(log);
  std::string command;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::uint64_t first = 0, second = 0, third = 0;
    fields >> command >> first >> second >> third;
    if (command == "C=" || command == "C") {
      end.cycle = first + (command == "C" ? end.cycle : 0);
    } else if (command == "R") {
      end.flushed += third == 1 ? 1 : 0;
    }
  }
  return end;
}

TEST(KanataOfAStoppedRun, EndsWithIt) {
  const test::Scratch scratch;
  const std::string log = scratch.path("stopped.log");
  for (const std::uint64_t cycles : {3000U, 3100U, 3257U, 3411U, 3566U, 3701U}) {
    const test::Ran ran = test::heddle({"run", "baseline", "vecadd", "--scale", "0.01", "--set", "l1d.mshrs=2",
                                        "--quiet", "--max-cycles", std::to_string(cycles), "--pipeline", log});
    ASSERT_NE(ran.code, 0);
    const LogEnd end = end_of(test::Scratch::read(log));
    EXPECT_NEAR(static_cast<double>(end.cycle), static_cast<double>(cycles), 1) << ran.err;
    EXPECT_GT(end.flushed, 0U);
  }
}

}  // namespace
}  // namespace heddle::tb
