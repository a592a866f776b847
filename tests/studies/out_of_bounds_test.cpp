// core.load_trap = false as a user meets it: the warning, stats.json, the reference check, and the default.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"
#include "tests/support/sweep_database.hpp"

HEDDLE_LONG_SANITIZED("OutOfBoundsLoads.*")

namespace heddle::studies {
namespace {

namespace json = boost::json;
using test::heddle;
using test::occurrences;
using test::Ran;
using test::Scratch;

// Thread i stores what stands one row (64 words) above its own place: the first 64 threads look before the buffer.
constexpr const char* kRowsKernel = R"(.version 7.0
.target sm_50
.address_size 32
.file 1 "rows.cu"
.visible .entry rows(.param .u32 data, .param .u32 out)
{
  .reg .b32 %r<8>;
  ld.param.u32 %r0, [data];
  ld.param.u32 %r1, [out];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r3, %r2, 32, %r3;
  shl.b32 %r3, %r3, 2;
  add.u32 %r4, %r0, %r3;
  .loc 1 5 9
  ld.global.u32 %r5, [%r4+-256];
  add.u32 %r6, %r1, %r3;
  st.global.u32 [%r6], %r5;
  ret;
}
)";

std::string write_rows_launch(const Scratch& scratch) {
  scratch.write("rows.ptx", kRowsKernel);
  return scratch.write("rows.toml",
                       "ptx = \"rows.ptx\"\n"
                       "[[buffer]]\nname = \"data\"\ntype = \"u32\"\ncount = 128\nvalue = 9\n"
                       "[[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = 128\nvalue = 1\n"
                       "[[launch]]\nentry = \"rows\"\ngrid = [4]\nblock = [32]\n"
                       "arguments = [{ buffer = \"data\" }, { buffer = \"out\" }]\n"
                       "[[output]]\nbuffer = \"out\"\nfile = \"out.bin\"\n");
}

TEST(OutOfBoundsLoads, AreFaultsThatSayWhatToDo) {
  const Scratch scratch;
  const Ran ran = test::heddle({"run", "baseline", write_rows_launch(scratch)});
  EXPECT_EQ(ran.code, 3);
  EXPECT_NE(ran.err.find("256 bytes before the start of buffer 'data'"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("core.load_trap=false reads 0 there"), std::string::npos) << ran.err;
}

TEST(OutOfBoundsLoads, AreWarnedOfOnceAndRecorded) {
  const Scratch scratch;
  const std::string launch = write_rows_launch(scratch);
  const Ran ran = test::heddle(
      {"run", "baseline", launch, "--set", "core.load_trap=false", "--check-reference", "--out", scratch.path("out")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("equals the reference interpreter's"), std::string::npos) << ran.out;
  EXPECT_EQ(
      ran.err.find("heddle: warning: 64 loads by one instruction read 0; the first: out-of-bounds access in kernel "
                   "'rows' at PC "),
      0U)
      << ran.err;
  EXPECT_NE(ran.err.find("rows.ptx:16 (rows.cu:5), block (0, 0, 0), thread (0, 0, 0): 4 bytes at address 0xfffff00: "
                         "load, 256 bytes before the start of buffer 'data' (0x10000000, 512 bytes)\n"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(test::occurrences(ran.err, "\n"), 1U);
  std::string expected;
  for (int i = 0; i < 128; ++i) {
    expected += i < 64 ? std::string(4, '\0') : std::string("\x09\0\0\0", 4);
  }
  EXPECT_EQ(Scratch::read(scratch.path("out/out.bin")), expected);
  const json::value stats = json::parse(Scratch::read(scratch.path("out/stats.json")));
  EXPECT_EQ(stats.at("summary").at("out_of_bounds_loads").as_int64(), 64);
  const json::array& list = stats.at("out_of_bounds_loads").as_array();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("kernel").as_string(), "rows");
  EXPECT_NE(std::string(list[0].at("source").as_string()).find("rows.ptx:16 (rows.cu:5)"), std::string::npos);
  EXPECT_EQ(list[0].at("count").as_int64(), 64);
  EXPECT_EQ(list[0].at("address").as_string(), "0xfffff00");
  EXPECT_EQ(list[0].at("thread"), json::array({0, 0, 0}));
  EXPECT_EQ(list[0].at("block"), json::array({0, 0, 0}));
  EXPECT_GT(list[0].at("pc").as_int64(), 0);
  // Quiet is quiet, and a program without such loads has none.
  EXPECT_EQ(test::heddle({"run", "baseline", launch, "--set", "core.load_trap=false", "--quiet"}).err, "");
  ASSERT_EQ(
      test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--quiet", "--out", scratch.path("none")}).code,
      0);
  const json::value none = json::parse(Scratch::read(scratch.path("none/stats.json")));
  EXPECT_TRUE(none.at("out_of_bounds_loads").as_array().empty());
}

TEST(OutOfBoundsLoads, AreAColumnOfASweep) {
  const Scratch scratch;
  write_rows_launch(scratch);
  const std::string file = scratch.write(
      "x.toml", "config = \"baseline\"\nworkload = \"rows.toml\"\n[axes]\ncore.load_trap = [true, false]\n");
  EXPECT_EQ(test::heddle({"sweep", file, "-d", scratch.path("x.db")}).code, 1);
  EXPECT_EQ(
      test::column(scratch.path("x.db"), "SELECT status || ' ' || out_of_bounds_loads FROM results ORDER BY point"),
      (std::vector<std::string>{"fault 0", "done 64"}));
}

}  // namespace
}  // namespace heddle::studies
