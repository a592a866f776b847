// CUDA programs whose host threads call at once. The build with the thread sanitizer has a run-time library with it,
// which the program, built with it too, takes in place of the usual one; kernels are simulated by the usual build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/program_runner.hpp"

namespace heddle {
namespace {

using ::testing::HasSubstr;

// The program of several host threads, in a folder that goes away.
class CallsOfHostThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::string> words = {"nvcc", "-O1",   "-g", HEDDLE_SOURCE_DIR "/tests/cuda/programs/host_threads.cu",
                                      "-o",   program_};
#ifdef HEDDLE_SANITIZED_LIBRARY
    words.insert(words.end(), {"-Xcompiler", "-fsanitize=thread"});
    setup_.environment = {"LD_LIBRARY_PATH=" HEDDLE_SANITIZED_LIBRARY, "TSAN_OPTIONS=halt_on_error=1"};
#endif
    const test::Ran made = test::heddle(words);
    ASSERT_EQ(made.code, 0) << made.err;
#ifdef HEDDLE_SANITIZED_LIBRARY
    const test::Ran libraries = test::spawn({"ldd", program_}, setup_);
    ASSERT_THAT(libraries.out, HasSubstr(HEDDLE_SANITIZED_LIBRARY "/libheddle_cudart.so"));
#endif
  }
  test::Ran run(const std::vector<std::string>& options, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"exec", "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", program_});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return test::heddle(words, setup_);
  }

 private:
  test::Scratch scratch_;
  std::string program_ = scratch_.path("host_threads");
  test::RunSetup setup_;
};

TEST_F(CallsOfHostThreads, GetWhatEachAskedFor) {
  const test::Ran ran = run({"--set", "gpu.cores=4", "--set", "l1d.write_policy=write-through"}, {"12", "2"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
}

TEST_F(CallsOfHostThreads, AllHearOfTheFaultOfOne) {
  const test::Ran ran = run({"--keep-going"}, {"6", "1", "fault"});
  EXPECT_EQ(ran.out, "PASSED\n") << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("out-of-bounds access in kernel '_Z5strayPi'"));
}

}  // namespace
}  // namespace heddle
