// Waves of every machine, read by a strict reader: no value is wider than its signal is declared, which a viewer would
// show cut or not at all.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "os/process/child_process.hpp"
#include "tb/config/config.hpp"
#include "tests/support/launch_folder.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"
#include "tests/support/vcd_reader.hpp"

HEDDLE_LONG_SANITIZED("WavesOfMachine.AreTheSame*")

namespace heddle::tb {
namespace {

using test::heddle;
using test::LaunchFolder;
using test::Ran;

// Branches, loops of different lengths, loads and stores of the same and of different lines, and barriers.
constexpr const char* kWavesKernel = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 g) {
  .reg .b64 %g, %a;
  .reg .b32 %t, %b, %i, %j, %v, %m, %n;
  .reg .pred %p, %q;
  ld.param.u64 %g, [g];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mad.lo.u32 %m, %b, 64, %t;
  mul.wide.u32 %a, %m, 4;
  add.u64 %a, %a, %g;
  mov.u32 %i, 0;
round:
  mad.lo.u32 %n, %t, 7, %i;
  rem.u32 %n, %n, 3;
  setp.ne.u32 %p, %n, 0;
  @%p bra other;
  add.u32 %n, %t, %i;
  rem.u32 %n, %n, 5;
  mov.u32 %j, 0;
inner:
  setp.ge.u32 %q, %j, %n;
  @%q bra joined;
  ld.global.u32 %v, [%a];
  mad.lo.u32 %v, %v, 5, %t;
  st.global.u32 [%a], %v;
  add.u32 %j, %j, 1;
  bra inner;
other:
  ld.global.u32 %v, [%a];
  xor.b32 %v, %v, %i;
  st.global.u32 [%a], %v;
joined:
  bar.sync 0;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 6;
  @%p bra round;
  ret;
}
)";
constexpr const char* kWavesLaunch = R"(
ptx = "kernel.ptx"
[[buffer]]
name = "g"
type = "u32"
count = 256
[[launch]]
entry = "k"
grid = [4]
block = [64]
arguments = [{buffer = "g"}]
)";

struct WavesMachine {
  std::string name;
  std::vector<std::string> words;  // machine, options
};
void PrintTo(const WavesMachine& machine, std::ostream* out) {
  *out << machine.name;
}

std::vector<WavesMachine> waves_machines() {
  std::vector<WavesMachine> all;
  for (const ConfigEntry& config : list_configs()) {
    all.push_back({config.name, {config.name}});
    // The kernel's first blocks begin within the cycles that are looked at.
    all.back().words.insert(all.back().words.end(), {"--set", "gpu.launch_latency=0"});
    if (read_machine(config.name).gpu.cores > 2) {
      all.back().words.insert(all.back().words.end(), {"--set", "gpu.cores=2"});
    }
  }
  // Many requests and guests in a cycle.
  all.push_back({"mimd_ideal_icache",
                 {"odgs-mimd", "--set", "gpu.cores=2", "--set", "icache.ideal=true", "--set", "l1d.ports=1", "--set",
                  "core.blocks=1"}});
  all.push_back({"few_mshrs", {"baseline", "--set", "l1d.mshrs=1", "--set", "icache.mshrs=1"}});
  all.push_back({"three_of_all",
                 {"baseline", "--set", "core.blocks=3", "--set", "l1d.ports=3", "--set", "icache.ports=3", "--set",
                  "l1d.mshrs=3"}});
  for (WavesMachine& machine : all) {
    std::replace(machine.name.begin(), machine.name.end(), '-', '_');
  }
  return all;
}

class WavesOfMachine : public ::testing::TestWithParam<WavesMachine> {};

TEST_P(WavesOfMachine, KeepToTheirWidths) {
  const LaunchFolder folder;
  folder.write("kernel.ptx", kWavesKernel);
  folder.write("launch.toml", kWavesLaunch);
  std::vector<std::string> words = {
      "run", GetParam().words.front(), folder.path("launch.toml"), "--quiet", "--vcd", folder.path("w.vcd"), "--to",
      "1500"};
  words.insert(words.end(), GetParam().words.begin() + 1, GetParam().words.end());
  const Ran ran = test::heddle(words);
  ASSERT_EQ(ran.code, 0) << ran.err;
  const test::VcdDump dump = test::read_vcd(folder.read("w.vcd"));  // refuses what is wrong
  const bool parts = read_machine(GetParam().words.front()).core.sub_cores > 1;
  EXPECT_GT(dump.sum(parts ? "gpu.core0.sub0.fetch.valid" : "gpu.core0.fetch.valid"), 0U);
}

INSTANTIATE_TEST_SUITE_P(Machines, WavesOfMachine, ::testing::ValuesIn(waves_machines()),
                         [](const auto& info) { return info.param.name; });

// GTKWave's own reader of its compressed form: the values that it gives back are the plain file's, and as wide.
TEST(WavesOfMachine, AreTheSameInTheCompressedForm) {
  if (os::find_program("fst2vcd").empty()) {
    GTEST_SKIP() << "GTKWave is not installed";
  }
  const LaunchFolder folder;
  folder.write("kernel.ptx", kWavesKernel);
  folder.write("launch.toml", kWavesLaunch);
  for (const char* const file : {"w.vcd", "w.fst"}) {
    const Ran ran = test::heddle({"run", "odgs-mimd", folder.path("launch.toml"), "--quiet", "--set", "gpu.cores=2",
                                  "--vcd", folder.path(file), "--to", "800"});
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  ASSERT_EQ(test::spawn({"fst2vcd", "-f", folder.path("w.fst"), "-o", folder.path("back.vcd")}).code, 0);
  const test::VcdDump ours = test::read_vcd(folder.read("w.vcd"));
  const test::VcdDump back = test::read_vcd(folder.read("back.vcd"), test::VcdFirstValues::anywhere);
  ASSERT_EQ(back.signals.size(), ours.signals.size());
  for (const auto& [path, signal] : ours.signals) {
    EXPECT_EQ(back[path].width, signal.width) << path;
    for (const auto& change : signal.changes) {
      ASSERT_EQ(back[path].at(change.time), change.value) << path << " at " << change.time;
    }
  }
}

}  // namespace
}  // namespace heddle::tb
