#include "tests/ptx/long_kernel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "ptx/compile.hpp"

namespace heddle::ptx::test {
namespace {

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
