// Counts over time, the profile as JSON, and the texts of source files.
#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>
#include <cstdlib>
#include <vector>

#include "os/files/atomic_file.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tb/measure/json_text.hpp"
#include "tb/measure/profile/profile_json.hpp"
#include "tb/measure/profile/source_text.hpp"
#include "tb/measure/profile/time_buckets.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

TEST(TimeBuckets, KeepsWhatItCountsHoweverLongTheRun) {
  TimeBuckets buckets(2);
  std::uint64_t cycle = 0;
  std::array<std::uint64_t, 2> counted{};
  while (cycle < 100'000'000'000) {
    buckets.add(0, cycle, 3);
    buckets.add_span(1, cycle, cycle + 1000, 2);
    counted[0] += 3;
    counted[1] += 2000;
    cycle += 1000 + cycle / 7;
  }
  EXPECT_EQ(buckets.total(0), counted[0]);
  EXPECT_EQ(buckets.total(1), counted[1]);
  EXPECT_GE(buckets.width() * TimeBuckets::kCount, cycle - cycle / 8);
  // No wider than it has to be: more than half of the buckets are in use.
  std::size_t used = 0;
  for (std::size_t i = 0; i != TimeBuckets::kCount; ++i) {
    used = buckets.row(1)[i] != 0 ? i + 1 : used;
  }
  EXPECT_GT(used, TimeBuckets::kCount / 2);
}

TEST(TimeBuckets, SpansFallIntoTheirBuckets) {
  constexpr link::Cycle kWidth = TimeBuckets::kFirstWidth;
  TimeBuckets buckets(1);
  buckets.add_span(0, kWidth - 1, 2 * kWidth + 5, 10);
  EXPECT_EQ(buckets.row(0)[0], 10U);
  EXPECT_EQ(buckets.row(0)[1], 10 * kWidth);
  EXPECT_EQ(buckets.row(0)[2], 50U);
  EXPECT_EQ(buckets.row(0)[3], 0U);
  buckets.add_span(0, 7, 7);  // no cycle at all
  EXPECT_EQ(buckets.total(0), 10 + 10 * kWidth + 50);
  // The last cycle of the last bucket leaves the width; the next one doubles it.
  buckets.add(0, kWidth * TimeBuckets::kCount - 1);
  EXPECT_EQ(buckets.width(), kWidth);
  buckets.add(0, kWidth * TimeBuckets::kCount);
  EXPECT_EQ(buckets.width(), 2 * kWidth);
  EXPECT_EQ(buckets.row(0)[0], 10 + 10 * kWidth);
  EXPECT_EQ(buckets.row(0)[1], 50U);
  EXPECT_EQ(buckets.row(0)[TimeBuckets::kCount / 2 - 1], 1U);
  EXPECT_EQ(buckets.row(0)[TimeBuckets::kCount / 2], 1U);
}

TEST(TimeBuckets, NeighboursJoin) {
  TimeBuckets buckets(4);
  for (std::size_t row = 0; row != 4; ++row) {
    buckets.add(row, 20, 1 + row);
  }
  buckets.join_neighbours(1, 3);
  EXPECT_EQ(buckets.total(0), 1U);
  EXPECT_EQ(buckets.total(1), 5U);
  EXPECT_EQ(buckets.total(2), 4U);
  EXPECT_EQ(buckets.total(3), 0U);
}

TEST(SourceText, KnowsItsOwnSourcesAndFiles) {
  SourceFiles sources;
  const auto own = sources.text("./workloads/vecadd/kernel.cu");
  ASSERT_TRUE(own);
  EXPECT_EQ(*own, test::Scratch::read(HEDDLE_SOURCE_DIR "/workloads/vecadd/kernel.cu"));
  const test::Scratch scratch;
  sources.allow_below(scratch.path());
  EXPECT_EQ(sources.text(scratch.write("mine.cu", "a\nb <\u00e4>\n")), "a\nb <\u00e4>\n");
  EXPECT_EQ(sources.text(scratch.write("latin.cu", "a \xe4 b")), std::nullopt);
  EXPECT_EQ(sources.text(scratch.write("binary.cu", std::string("a\0b", 3))), std::nullopt);
  EXPECT_EQ(sources.text(scratch.path("missing.cu")), std::nullopt);
  EXPECT_EQ(sources.text(scratch.path()), std::nullopt);
}

// The whole profile of a tiny run. tests/tb/profile.json is what this run gave when it was last looked at; where a
// change of the model moves it, the text that the failure names is the new one.
TEST(ProfileJson, OfATinyRun) {
  hw::Machine machine;
  machine.core.simd_width = 8;
  machine.core.warp_size = 64;
  machine.core.threads = 256;
  WorkloadOptions options;
  options.scale = 1e-5;
  options.resident_threads = 256;
  const auto workload = make_workload("vecadd", options);
  Profile profile(machine);
  DeviceOptions device_options;
  device_options.observers = {&profile};
  Device device(machine, device_options);
  device.load(workload->compile());
  ASSERT_TRUE(workload->run(device).correct);
  const std::string text = json_text(profile_json(profile, nullptr));
  const std::string golden = test::Scratch::read(HEDDLE_SOURCE_DIR "/tests/tb/profile.json");
  if (text != golden) {
    if (const char* const folder = std::getenv("HEDDLE_NEW_GOLDEN")) {
      os::write_file(std::string(folder) + "/profile.json", text);
    }
  }
  EXPECT_EQ(text, golden) << "HEDDLE_NEW_GOLDEN=FOLDER writes the new text there";
}

}  // namespace
}  // namespace heddle::tb
