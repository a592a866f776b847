#include "tests/ptx/long_kernel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "ptx/compile.hpp"
#include "tests/support/marks.hpp"

HEDDLE_NOT_SANITIZED("LongKernel.TakesTime*")

namespace heddle::ptx::test {
namespace {

double cpu_seconds_of(const std::string& text) {
  const std::clock_t before = std::clock();
  EXPECT_EQ(compile(text, "long.ptx").kernels.size(), 1U);
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

// In CPU time, of which it took more than ten times as much when the pairs of registers that interfere were kept in a
// hash set.
TEST(LongKernel, TakesTimeInProportionToItsLength) {
  const double short_time = cpu_seconds_of(long_kernel(250, 100)), long_time = cpu_seconds_of(long_kernel(1000, 100));
  EXPECT_LT(long_time, 10 * short_time) << "four times the length";
}

TEST(LongKernel, EndsSoonWhenItIsInterrupted) {
  const std::string text = long_kernel(2000, 150);
  std::atomic<bool> interrupted{false};
  std::thread signal([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    interrupted = true;
  });
  CompileOptions options;
  options.interrupted = &interrupted;
  EXPECT_THROW(static_cast<void>(compile(text, "long.ptx", options)), Interrupted);
  signal.join();
}

}  // namespace
}  // namespace heddle::ptx::test
