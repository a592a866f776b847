// Maps of the threads of a grid: the path lengths and divergences of a kernel whose branches are known by hand, on
// machines of every kind. The kernel is the synthetic one of the ODGS paper's figure 9 in small: two branches, which go
// by the colour of the thread's pixel.
#include "tb/measure/profile/thread_map.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

using test::heddle;
using test::Scratch;

TEST(ThreadMap, IsOfPlanesOnly) {
  EXPECT_TRUE(ThreadMap::is_plane({1, 1, 1}, {2, 2, 1}));
  EXPECT_TRUE(ThreadMap::is_plane({4, 4, 1}, {1, 1, 1}));
  EXPECT_TRUE(ThreadMap::is_plane({1, 7, 1}, {32, 1, 1}));
  EXPECT_FALSE(ThreadMap::is_plane({64, 1, 1}, {256, 1, 1}));
  EXPECT_FALSE(ThreadMap::is_plane({1, 9, 1}, {1, 1, 1}));
  EXPECT_FALSE(ThreadMap::is_plane({4, 4, 2}, {1, 1, 1}));
  EXPECT_FALSE(ThreadMap::is_plane({4, 4, 1}, {1, 1, 2}));
}

// The place of thread (x, y) of a block.
std::uint32_t cell_in(const ThreadMap& map, isa::Dim3 block, std::uint32_t x, std::uint32_t y) {
  hw::ThreadHome home;
  home.context.block_index = block;
  home.context.tid_x[5] = x;
  home.context.tid_y[5] = y;
  return map.cell_of({&home, 5});
}

TEST(ThreadMap, HoldsLargeGridsInSquaresOfThreads) {
  const ThreadMap exact("k", {16, 16, 1}, {16, 16, 1});
  EXPECT_EQ(exact.cell_side(), 1U);
  EXPECT_EQ(exact.columns(), 256U);
  EXPECT_EQ(exact.rows(), 256U);
  EXPECT_EQ(cell_in(exact, {15, 15, 0}, 15, 15), 65535U);
  EXPECT_EQ(cell_in(exact, {1, 2, 0}, 3, 4), (2 * 16 + 4) * 256U + 16 + 3);
  // One thread more than cells: two threads to a side.
  const ThreadMap wide("k", {257, 2, 1}, {1, 3, 1});
  EXPECT_EQ(wide.cell_side(), 2U);
  EXPECT_EQ(wide.columns(), 129U);
  EXPECT_EQ(wide.rows(), 3U);
  EXPECT_EQ(wide.instructions().size(), 129 * 3U);
  EXPECT_EQ(cell_in(wide, {256, 1, 0}, 0, 2), 2 * 129U + 128);
  // The largest grid that can be launched.
  const ThreadMap most("k", {0x7fffffffU, 65535, 1}, {1024, 1, 1});
  EXPECT_EQ(most.width(), 0x7fffffffULL * 1024);
  EXPECT_EQ(most.columns(), 256U);
  EXPECT_LT(cell_in(most, {0x7ffffffeU, 65534, 0}, 1023, 0), most.instructions().size());
}

// 32 x 8 threads in blocks of 16 x 4, so that a warp of 32 is two rows of a block.
constexpr unsigned kWidth = 32, kHeight = 8, kBlockWidth = 16, kBlockHeight = 4;
// What a branch that is taken spares.
constexpr unsigned kOddPath = 5, kHighPath = 3;

unsigned colour_at(unsigned x, unsigned y) {
  return x < 16 ? y / 4 : x < 20 ? 3 : y == 6 ? 2 : 0;
}

constexpr const char* kColours = R"(.version 6.0
.target sm_60
.address_size 32
.visible .entry colours(.param .u32 image, .param .u32 result) {
  .reg .pred %p<3>;
  .reg .u32 %r<16>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 16, %r2;
  mov.u32 %r4, %ctaid.y;
  mov.u32 %r5, %tid.y;
  mad.lo.u32 %r6, %r4, 4, %r5;
  mad.lo.u32 %r7, %r6, 32, %r3;
  shl.b32 %r8, %r7, 2;
  ld.param.u32 %r9, [image];
  add.u32 %r9, %r9, %r8;
  ld.global.u32 %r10, [%r9];
  and.b32 %r11, %r10, 1;
  setp.eq.u32 %p1, %r11, 0;
  @%p1 bra A_END;
  xor.b32 %r7, %r7, %r8;
  add.u32 %r7, %r7, %r3;
  xor.b32 %r7, %r7, %r6;
  add.u32 %r7, %r7, %r8;
  xor.b32 %r7, %r7, %r3;
A_END:
  and.b32 %r12, %r10, 2;
  setp.eq.u32 %p2, %r12, 0;
  @%p2 bra B_END;
  add.u32 %r7, %r7, %r6;
  xor.b32 %r7, %r7, %r8;
  add.u32 %r7, %r7, %r3;
B_END:
  ld.param.u32 %r13, [result];
  add.u32 %r13, %r13, %r8;
  st.global.u32 [%r13], %r7;
  ret;
}
)";

std::string colours_launch() {
  std::vector<unsigned> image;
  for (unsigned y = 0; y != kHeight; ++y) {
    for (unsigned x = 0; x != kWidth; ++x) {
      image.push_back(colour_at(x, y));
    }
  }
  return fmt::format(
      "ptx = \"k.ptx\"\n[[buffer]]\nname = \"image\"\ntype = \"u32\"\nvalues = [{}]\n"
      "image = {{ width = 32, height = 8, format = \"scaled\" }}\n"
      "[[buffer]]\nname = \"result\"\ntype = \"u32\"\ncount = 256\n"
      "[[launch]]\nentry = \"colours\"\ngrid = [2, 2]\nblock = [16, 4]\n"
      "arguments = [{{ buffer = \"image\" }}, {{ buffer = \"result\" }}]\n",
      fmt::join(image, ", "));
}

struct Maps {
  boost::json::value data;
  std::vector<std::uint64_t> instructions, divergences;
};

Maps run_colours(const Scratch& scratch, const std::string& machine, const std::vector<std::string>& more = {}) {
  scratch.write("k.ptx", kColours);
  const std::string launch = scratch.write("launch.toml", colours_launch());
  std::vector<std::string> words = {"run", machine, launch, "-q", "--report-data", scratch.path("data.json")};
  words.insert(words.end(), more.begin(), more.end());
  const test::Ran ran = test::heddle(words);
  EXPECT_EQ(ran.code, 0) << machine << ": " << ran.err;
  Maps maps;
  maps.data = boost::json::parse(Scratch::read(scratch.path("data.json")));
  const boost::json::array& all = maps.data.at("profile").at("thread_maps").as_array();
  EXPECT_EQ(all.size(), 1U);
  const boost::json::value& map = all.at(0);
  EXPECT_EQ(map.at("kernel"), boost::json::value("colours"));
  EXPECT_EQ(map.at("width"), boost::json::value(kWidth));
  EXPECT_EQ(map.at("height"), boost::json::value(kHeight));
  EXPECT_EQ(map.at("cell"), boost::json::value(1));
  maps.instructions = boost::json::value_to<std::vector<std::uint64_t>>(map.at("instructions"));
  maps.divergences = boost::json::value_to<std::vector<std::uint64_t>>(map.at("divergences"));
  return maps;
}

std::uint64_t added(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

// Whether the threads of the warp of (x, y) differ in a bit of their colours.
bool mixed_warp(unsigned x, unsigned y, unsigned bit) {
  const unsigned left = x / kBlockWidth * kBlockWidth, top = y / 2 * 2;
  static_assert(kBlockHeight % 2 == 0);
  bool all = true, any = false;
  for (unsigned row = top; row != top + 2; ++row) {
    for (unsigned column = left; column != left + kBlockWidth; ++column) {
      const bool has = (colour_at(column, row) & bit) != 0;
      all = all && has;
      any = any || has;
    }
  }
  return any && !all;
}

class ThreadMaps : public ::testing::TestWithParam<const char*> {};

// What the cores fetched, by the statistics and by the series of the profile.
void expect_fetched(const boost::json::value& data) {
  std::uint64_t fetched = 0, banded = 0;
  for (const auto& module : data.at("stats").at("modules").as_object()) {
    if (module.key().starts_with("gpu.core") && module.value().as_object().contains("fetched")) {
      fetched += module.value().at("fetched").to_number<std::uint64_t>();
    }
  }
  for (const boost::json::value& band : data.at("profile").at("time").at("fetched_by_band").as_array()) {
    banded += added(boost::json::value_to<std::vector<std::uint64_t>>(band));
  }
  EXPECT_GT(fetched, 0U);
  EXPECT_EQ(banded, fetched);
}

// Mechanisms change when and with whom a thread executes, not what.
TEST_P(ThreadMaps, HaveThePathThatEachThreadTook) {
  const Scratch scratch;
  const Maps maps = run_colours(scratch, GetParam());
  const std::uint64_t shortest = maps.instructions.at(4);  // of colour 0
  ASSERT_EQ(colour_at(4, 0), 0U);
  for (unsigned y = 0; y != kHeight; ++y) {
    for (unsigned x = 0; x != kWidth; ++x) {
      const unsigned own = colour_at(x, y);
      EXPECT_EQ(maps.instructions.at(y * kWidth + x), shortest + (own & 1U) * kOddPath + (own >> 1U) * kHighPath)
          << x << ' ' << y;
    }
  }
  EXPECT_EQ(added(maps.instructions),
            maps.data.at("stats").at("summary").at("thread_instructions").to_number<std::uint64_t>());
  expect_fetched(maps.data);
  // Each divergent branch is one of two threads at least.
  EXPECT_GE(added(maps.divergences),
            2 * maps.data.at("stats").at("summary").at("divergent_branches").to_number<std::uint64_t>());
}

INSTANTIATE_TEST_SUITE_P(Machines, ThreadMaps,
                         ::testing::Values("baseline", "thesis-lwm-scalar", "tbc", "dwf-majority", "per-thread-pc",
                                           "dws-revive-bypass", "lw-plus"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ThreadMaps, HaveTheDivergencesOfWarps) {
  const Scratch scratch;
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"--set", "core.simd_width=8"},
                                               {"--set", "gpu.cores=3", "--set", "l1d.write_policy=write-through"}}) {
    const Maps maps = run_colours(scratch, "baseline", more);
    for (unsigned y = 0; y != kHeight; ++y) {
      for (unsigned x = 0; x != kWidth; ++x) {
        EXPECT_EQ(maps.divergences.at(y * kWidth + x),
                  (mixed_warp(x, y, 1) ? 1U : 0U) + (mixed_warp(x, y, 2) ? 1U : 0U))
            << x << ' ' << y;
      }
    }
    EXPECT_GT(added(maps.divergences), 0U);
  }
}

// The series of each core and channel of the page's data are the statistics' totals, read from the JSON alone.
TEST(ReportData, AddsUpToTheStatisticsOfEachCoreAndChannel) {
  const Scratch scratch;
  const std::vector<std::string> words = {
      "run",   "baseline",       "matrixmult",  "--scale", "0.05",
      "-q",    "--set",          "gpu.cores=6", "--set",   "l1d.write_policy=write-through",
      "--set", "dram.channels=3"};
  std::array<std::string, 2> texts;
  for (std::string& text : texts) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--report-data", scratch.path("d.json")});
    const test::Ran ran = test::heddle(all);
    ASSERT_EQ(ran.code, 0) << ran.err;
    text = Scratch::read(scratch.path("d.json"));
  }
  EXPECT_EQ(texts[0], texts[1]);
  const boost::json::value data = boost::json::parse(texts[0]);
  const boost::json::value& time = data.at("profile").at("time");
  const auto total = [](const boost::json::value& row) {
    return added(boost::json::value_to<std::vector<std::uint64_t>>(row));
  };
  const auto count = [&](const std::string& module, const char* name) {
    return data.at("stats").at("modules").at(module).at(name).to_number<std::uint64_t>();
  };
  for (unsigned core = 0; core != 6; ++core) {
    const std::string module = fmt::format("gpu.core{}", core);
    EXPECT_EQ(total(time.at("core_instructions").at(core)), count(module, "thread_instructions")) << core;
    // A block takes its cycles from beginning to end, and no block has more than there are.
    const std::uint64_t cycles = total(time.at("core_block_cycles").at(core));
    EXPECT_GT(cycles, 0U);
    EXPECT_LE(cycles, data.at("profile").at("cycles").to_number<std::uint64_t>() * count(module, "blocks"));
  }
  expect_fetched(data);
  for (unsigned channel = 0; channel != 3; ++channel) {
    const std::string module = fmt::format("gpu.dram{}", channel);
    EXPECT_EQ(total(data.at("stats").at("modules").at(module).at("bus_series")), count(module, "bus_busy_cycles"));
  }
}

TEST(ReportData, IsAFileOfItsOwn) {
  const Scratch scratch;
  const test::Ran wrong = test::heddle({"run", "baseline", "vecadd", "--report-data", scratch.path("data.html")});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--report-data: writes JSON"), std::string::npos) << wrong.err;
  const test::Ran both = test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--report",
                                       scratch.path("p.html"), "--report-data", scratch.path("d.json")});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_NE(both.out.find("written: " + scratch.path("d.json")), std::string::npos);
  // The page holds the same map, less what HTML must not see.
  std::string data = Scratch::read(scratch.path("d.json"));
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos;) {
    data.replace(at, 1, "\\u003c");
  }
  EXPECT_NE(Scratch::read(scratch.path("p.html")).find(data), std::string::npos);
}

}  // namespace
}  // namespace heddle::tb
