// Programs with the interpreter's results, written by the tests that have them, as a campaign: the whole way that they
// take to a GPU, which is simulated here.
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <filesystem>

#include "tests/support/program_runner.hpp"

namespace heddle::test {
namespace {

TEST(GpuPrograms, GiveTheInterpretersMemory) {
  const Scratch scratch;
  const std::string folder = scratch.path("semantics");
  const std::string tests = HEDDLE_TEST_PROGRAMS "/";
  const RunSetup setup{{"HEDDLE_GPU_PROGRAMS=" + folder, "HEDDLE_RANDOM_PROGRAMS=8"}, {}, {}, {}};
  const Ran random = spawn({tests + "random_tests", "--gtest_filter=RandomPrograms.AreWrittenForGpus"}, setup);
  ASSERT_EQ(random.code, 0) << random.out;
  const Ran exact = spawn({tests + "ptx_ops_tests", "--gtest_filter=PtxInteger.SignsAndSaturation"}, setup);
  ASSERT_EQ(exact.code, 0) << exact.out;
  const Ran near = spawn({tests + "ptx_ops_tests", "--gtest_filter=PtxApproximate.TranscendentalFunctions"}, setup);
  ASSERT_EQ(near.code, 0) << near.out;
  const Ran programs = spawn({tests + "ptx_ops_tests", "--gtest_filter=PtxWarp.ReductionsAndElections"}, setup);
  ASSERT_EQ(programs.code, 0) << programs.out;
  // One word of what is expected is changed: it must be found.
  std::string wrong = Scratch::read(folder + "/random-7.out");
  wrong[100] = static_cast<char>(wrong[100] ^ 4);
  scratch.write("semantics/random-7.out", wrong);
  const std::string out = scratch.path("out.json");
  const Ran ran = heddle({"exec", "--quiet", "--keep-going", "--set", "core.registers_per_thread=63", "--set",
                          "core.registers=65536", "--", HEDDLE_MEASURE, folder, "--out", out, "--clock", "1000"});
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, ::testing::HasSubstr(" 1 different from what is expected, 0 refused, 0 failed, 0 missing"));
  const boost::json::value file = boost::json::parse(Scratch::read(out));
  double compared = 0;
  std::size_t approximate = 0;
  std::size_t of_programs = 0;
  for (const auto& row : file.at("rows").as_array()) {
    const bool changed = row.at("name").as_string() == "random/7";
    EXPECT_EQ(row.at("status").as_string(), changed ? "differs" : "measured") << row;
    EXPECT_EQ(row.at("different"), changed ? 1 : 0) << row;
    compared += row.at("compared").to_number<double>();
    approximate += row.at("name").as_string().find("approx") != std::string::npos ? 1 : 0;
    of_programs += row.at("group").as_string() == "programs" ? 1 : 0;
  }
  EXPECT_GT(compared, 20'000);
  EXPECT_GT(approximate, 3U);
  EXPECT_EQ(of_programs, 9U);
}

// One with a constant that the host writes, one whose host writes between launches, one without either, and one whose
// result depends on the order of its atomics. Each is measured twice, and begins with the same memory both times.
TEST(GpuPrograms, WorkloadsGiveTheInterpretersMemory) {
  const Scratch scratch;
  const Ran recorded = spawn({HEDDLE_RECORD_WORKLOADS, scratch.path("w"), "--scale", "0.001", "--scale", "0.002",
                              "raytrace", "bfs", "vecadd", "hash_join", "table_scan:cond_acc"});
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  EXPECT_EQ(recorded.out, "10 items: " + scratch.path("w") + "/workloads.json\n");
  const std::string out = scratch.path("out.json");
  const Ran ran = heddle({"exec", "--quiet", "--keep-going", "--", HEDDLE_MEASURE, scratch.path("w/workloads.json"),
                          "--out", out, "--clock", "1000", "--repetitions", "2"});
  EXPECT_EQ(ran.out,
            "workloads: 10 measured, 0 different from what is expected, 0 refused, 0 failed, 0 missing: " + out + "\n")
      << ran.err;
  const boost::json::value file = boost::json::parse(Scratch::read(out));
  for (const auto& row : file.at("rows").as_array()) {
    const std::string name(row.at("name").as_string());
    const bool compared = name.find("hash_join") == std::string::npos && name.find("table_scan") == std::string::npos;
    EXPECT_EQ(row.as_object().contains("compared"), compared) << name;
    EXPECT_GT(row.at("value").to_number<double>(), 0) << name;
  }
  // Kernels that are not launched stay away: they may have instructions that only Heddle knows.
  std::size_t texts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path("w"))) {
    if (entry.path().extension() != ".ptx" || entry.path().string().find("table_scan") == std::string::npos) continue;
    EXPECT_EQ(occurrences(Scratch::read(entry.path()), ".entry "), 1U) << entry.path();
    ++texts;
  }
  EXPECT_EQ(texts, 2U);
}

}  // namespace
}  // namespace heddle::test
