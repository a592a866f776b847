// Waves in FST, written by us and read by GTKWave's own reader: each value in its cycle, whatever the widths and
// however the file is cut into blocks.
#include "traces/fst_form.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "os/process/child_process.hpp"
#include "tb/measure/waves/fst_output.hpp"
#include "tests/support/program_runner.hpp"
#include "tests/support/vcd_reader.hpp"

namespace heddle::traces {
namespace {

using test::Scratch;

class FstFile : public ::testing::TestWithParam<std::size_t> {};

TEST_P(FstFile, IsReadAsItWasWritten) {
  if (os::find_program("fst2vcd").empty()) {
    GTEST_SKIP() << "GTKWave is not installed";
  }
  const Scratch scratch;
  std::vector<WaveForm::Variable> variables;
  std::vector<std::uint32_t> waves;
  for (const unsigned width : {1U, 2U, 7U, 8U, 9U, 31U, 32U, 33U, 63U, 64U, 1U}) {
    // In scopes that come back later, so that the file's order is another one.
    const std::string number = std::to_string(variables.size());
    variables.push_back(
        {(variables.size() % 2 == 0 ? "top.even.s" : "top.odd.s") + number, width, WaveForm::Type::wire, true});
    waves.push_back(static_cast<std::uint32_t>(waves.size()));
  }
  const std::string version = "heddle test";
  const std::vector<std::string> comments = {"a comment"};
  std::map<std::uint64_t, std::map<std::uint32_t, std::uint64_t>> written;
  {
    tb::FstOutput out(scratch.path("a.fst"));
    FstForm form(out, GetParam());
    form.begin({version, comments, -9, variables, waves});
    form.time(7);
    form.first_values(true);
    for (const std::uint32_t wave : waves) {
      if (wave % 3 == 0) {
        form.unknown(wave);
      } else {
        const link::WaveChange first{wave, 1};
        form.changes({&first, 1});
        written[7][wave] = 1;
      }
    }
    form.first_values(false);
    std::mt19937_64 random(4);
    std::vector<std::uint64_t> values(waves.size(), 1);
    for (std::uint64_t time = 9; time < 4000; time += 1 + (random() % 50 == 0 ? random() % 1000 : random() % 2)) {
      form.time(time);
      for (const std::uint32_t wave : waves) {
        const unsigned width = variables[wave].width;
        const std::uint64_t value =
            random() & (~std::uint64_t{0} >> (64 - width)) & (random() % 4 == 0 ? ~0ULL : 0xffULL);
        if (random() % (wave + 1) == 0 && value != values[wave]) {
          values[wave] = value;
          const link::WaveChange change{wave, value};
          form.changes({&change, 1});
          written[time][wave] = value;
        }
      }
    }
    form.time(9000);
    form.end();
    out.commit();
  }
  ASSERT_EQ(test::spawn({"fst2vcd", "-f", scratch.path("a.fst"), "-o", scratch.path("back")}).code, 0);
  const test::VcdDump dump = test::read_vcd(Scratch::read(scratch.path("back")), test::VcdFirstValues::anywhere);
  EXPECT_EQ(dump.version, version);
  EXPECT_EQ(dump.timescale, "1ns");
  ASSERT_EQ(dump.signals.size(), variables.size());
  std::map<std::uint64_t, std::map<std::uint32_t, std::uint64_t>> read;
  for (const std::uint32_t wave : waves) {
    const test::VcdSignal& signal = dump[variables[wave].name];
    EXPECT_EQ(signal.width, variables[wave].width);
    std::optional<std::uint64_t> before;
    for (const auto& change : signal.changes) {
      if (const auto value = signal.number(change.time)) {
        if (before != value) {  // small blocks may tell one again
          read[change.time][wave] = *value;
        }
        before = value;
      } else {
        EXPECT_EQ(change.time, 7U) << wave;
        EXPECT_EQ(wave % 3, 0U);
      }
    }
  }
  EXPECT_TRUE(read == written);
}

INSTANTIATE_TEST_SUITE_P(Blocks, FstFile,
                         ::testing::Values(std::size_t{1}, std::size_t{20}, std::size_t{300}, std::size_t{1} << 25U));

// Without commit() nothing is left.
TEST(FstOutput, IsWholeOrAbsent) {
  const Scratch scratch;
  {
    tb::FstOutput out(scratch.path("a.fst"));
    out.write("half of it");
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace heddle::traces
