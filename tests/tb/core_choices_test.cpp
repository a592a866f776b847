// Choices for a core that can be made together run and are right, or are refused for a reason: divergence mechanism,
// scheduler, sub-warp former and warp size on the DWS report's machine, whose core issues one warp in consecutive
// cycles; subdivision and slip on other cores and caches.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/subwarp/former.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

using test::heddle;
using test::Ran;

using Settings = std::vector<std::string>;

// Exit codes of docs/user-guide.md: 2, the machine cannot be. False: it was refused.
bool right_or_refused(const std::string& config, const std::string& workload, const Settings& settings) {
  std::vector<std::string> words = {"run", config, workload, "--scale", "0.0005", "--quiet", "--check-reference"};
  for (const std::string& one : settings) {
    words.insert(words.end(), {"--set", one});
  }
  const Ran ran = test::heddle(words);
  const std::string what = fmt::format("{} {} {}: {}", config, workload, fmt::join(settings, " "), ran.err);
  if (ran.code != 2) {
    EXPECT_EQ(ran.code, 0) << what;
    return true;
  }
  // Names a setting, and what stands in its way beside it.
  EXPECT_NE(ran.err.find("--set core."), std::string::npos) << what;
  const auto names = [&](const std::string& key) { return ran.err.find(key) != std::string::npos ? 1 : 0; };
  EXPECT_GE(names("core.divergence") + names("core.scheduler") + names("core.former") + names("core.warp_size") +
                names("core.issue") + names("core.simd_width"),
            2)
      << what;
  return false;
}

// Those that are registered.
template <class Interface>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry<Interface>::instance().entries()) {
    names.push_back(name);
  }
  return names;
}
std::vector<std::string> divergences() {
  return names_of<hw::Divergence>();
}
constexpr std::array kWarpSizes = {16, 32, 64, 256};

// Blocks of the workloads have 256 threads: two of them fit.
Settings choice(const std::string& divergence, const std::string& scheduler, const std::string& former,
                unsigned warp_size) {
  return {"core.threads=512",
          "core.registers=32256",
          fmt::format("core.divergence={}", divergence),
          fmt::format("core.scheduler={}", scheduler),
          fmt::format("core.former={}", former),
          fmt::format("core.warp_size={}", warp_size)};
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class CoreChoices : public ::testing::TestWithParam<std::string> {};

// Every mechanism meets every scheduler, every former and every warp size once or more.
TEST_P(CoreChoices, OfASampleAreRightOrRefused) {
  const std::vector<std::string> mechanisms = divergences();
  const std::vector<std::string> schedulers = names_of<hw::WarpScheduler>();
  const std::vector<std::string> formers = names_of<hw::SubWarpFormer>();
  const auto mechanism =
      static_cast<std::size_t>(std::find(mechanisms.begin(), mechanisms.end(), GetParam()) - mechanisms.begin());
  unsigned ran = 0;
  for (std::size_t i = 0; i < schedulers.size(); ++i) {
    const bool plain = i % 3 != 2;  // narrow warps, which most mechanisms want
    const std::string former = plain ? "rows" : formers[(i / 3 + mechanism) % formers.size()];
    const unsigned warp = plain ? 16U : static_cast<unsigned>(kWarpSizes[(i / 3 + mechanism) % kWarpSizes.size()]);
    ran += right_or_refused("dws-conv", "vecadd", choice(GetParam(), schedulers[i], former, warp)) ? 1 : 0;
  }
  EXPECT_GT(ran, 0U);
}
INSTANTIATE_TEST_SUITE_P(Each, CoreChoices, ::testing::ValuesIn(divergences()), name_of);

class EveryCoreChoice : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryCoreChoice, IsRightOrRefused) {
  for (const std::string& scheduler : names_of<hw::WarpScheduler>()) {
    for (const std::string& former : names_of<hw::SubWarpFormer>()) {
      for (const int warp : kWarpSizes) {
        for (const char* const workload : {"vecadd", "bfs"}) {
          right_or_refused("dws-conv", workload, choice(GetParam(), scheduler, former, static_cast<unsigned>(warp)));
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Long, EveryCoreChoice, ::testing::ValuesIn(divergences()), name_of);

class OtherCores : public ::testing::TestWithParam<std::string> {
 protected:
  // The LWM report's core, and what stands behind it.
  static std::vector<Settings> caches() {
    return {{},
            {"l1d.write_policy=write-through"},
            {"l1d.enabled=false"},
            {"l1d.write_policy=write-through", "gpu.cores=2"},
            {"core.issue=scoreboard"}};
  }
  static void expect_right(const std::string& config, const std::string& workload, Settings settings) {
    settings.push_back("core.divergence=" + GetParam());
    EXPECT_TRUE(right_or_refused(config, workload, settings)) << fmt::format("{}", fmt::join(settings, " "));
  }
};

TEST_P(OtherCores, RunSplitsBehindAnyCache) {
  for (const Settings& cache : caches()) {
    expect_right("baseline", "bfs", cache);
  }
}
INSTANTIATE_TEST_SUITE_P(Each, OtherCores, ::testing::Values("dws", "slip", "dws-dwf"), name_of);

// A large warp is none that subdivision could part: it says so.
TEST(LargeWarps, AreRefusedUnderSubdivision) {
  for (const char* const divergence : {"dws", "slip", "dws-dwf"}) {
    EXPECT_FALSE(right_or_refused("lwm", "bfs", {std::string("core.divergence=") + divergence}));
  }
}

}  // namespace
}  // namespace heddle::tb
