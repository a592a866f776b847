// A run's profile adds up to its statistics, whatever the mechanisms.
#include "tb/measure/profile/profile.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hw/state/core_state.hpp"
#include "tb/config/config.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/machines.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("All/Profiled.*_on_config_*", "All/Profiled.*/bfs_on_nocache", "All/Profiled.*/*nocache",
                      "All/Profiled.*/bfs_on_*")

namespace heddle {
namespace {

std::vector<hw::Machine> make_profiled_machines() {
  std::vector<hw::Machine> all;
  for (const hw::Machine& machine : test::machines()) {
    for (const char* const wanted : {"baseline", "simd8warp32", "warp256", "tiny", "throughcores4", "nocache"}) {
      if (machine.name == wanted) {
        all.push_back(machine);
      }
    }
  }
  for (const char* name : {"lwm-two-level", "tbc", "dwf-majority", "per-thread-pc", "database-hints"}) {
    all.push_back(tb::read_machine(std::string(HEDDLE_SOURCE_DIR "/configs/") + name + ".toml"));
    all.back().name = std::string("config-") + name;
  }
  return all;
}

const std::vector<hw::Machine>& profiled_machines() {
  static const std::vector<hw::Machine> all = make_profiled_machines();
  return all;
}

using Member = std::uint64_t tb::InstructionCounters::*;

class Profiled : public ::testing::TestWithParam<std::tuple<const char*, std::size_t>> {
 protected:
  [[nodiscard]] std::uint64_t sum(Member member) const {
    std::uint64_t out = 0;
    for (const tb::Profile::KernelProfile& kernel : profile->kernels()) {
      for (const tb::InstructionCounters& counters : kernel.counters) {
        out += counters.*member;
      }
    }
    return out;
  }
  [[nodiscard]] std::uint64_t row(std::size_t row) const { return profile->buckets().total(row); }
  void expect_instructions(const hw::Totals& totals) const;
  void expect_time(const hw::Totals& totals) const;
  void expect_places(const hw::Totals& totals) const;
  void expect_cores(const tb::Device& device) const;
  std::unique_ptr<tb::Profile> profile;
  const hw::Machine* machine = nullptr;
};

void Profiled::expect_instructions(const hw::Totals& totals) const {
  using Counters = tb::InstructionCounters;
  EXPECT_EQ(sum(&Counters::instructions), totals.core.warp_instructions);
  EXPECT_EQ(sum(&Counters::thread_instructions), totals.core.thread_instructions);
  EXPECT_EQ(sum(&Counters::lane_instructions), totals.core.lane_instructions);
  EXPECT_EQ(sum(&Counters::float_lane_instructions), totals.core.float_lane_instructions);
  EXPECT_EQ(sum(&Counters::register_reads), totals.registers.reads);
  EXPECT_EQ(sum(&Counters::register_writes), totals.registers.writes);
  // Lanes that execute each an instruction of its own may access it together.
  EXPECT_GE(sum(&Counters::scratchpad_accesses), totals.scratchpad.accesses);
  if (machine->core.divergence != "per-thread-pc") {
    EXPECT_EQ(sum(&Counters::scratchpad_accesses), totals.scratchpad.accesses);
  }
  EXPECT_EQ(sum(&Counters::branches), totals.core.branches);
  EXPECT_EQ(sum(&Counters::divergent_branches), totals.core.divergent_branches);
  EXPECT_EQ(sum(&Counters::memory_instructions), totals.core.memory_instructions);
  EXPECT_EQ(sum(&Counters::line_requests), totals.core.line_requests);
  // With fewer banks than lanes an access takes several cycles without a conflict.
  EXPECT_GE(sum(&Counters::scratchpad_extra_cycles), totals.scratchpad.bank_conflicts);
  if (machine->scratchpad.banks >= machine->core.simd_width) {
    EXPECT_EQ(sum(&Counters::scratchpad_extra_cycles), totals.scratchpad.bank_conflicts);
  }
  EXPECT_EQ(sum(&Counters::late_lines), row(tb::Profile::kLateLines));
  for (const tb::Profile::KernelProfile& kernel : profile->kernels()) {
    ASSERT_EQ(kernel.counters.size(), kernel.kernel.words.size() + 1);
    EXPECT_EQ(kernel.counters.back().instructions, 0U) << "an instruction outside of the kernel";
  }
  EXPECT_EQ(profile->launch_count(), totals.dispatcher.launches);
}

void Profiled::expect_time(const hw::Totals& totals) const {
  EXPECT_EQ(profile->cycles(), totals.cycles);
  EXPECT_GE(profile->clock(), totals.cycles);
  const std::uint64_t busy =
      std::accumulate(totals.core.fu_active.begin() + 1, totals.core.fu_active.end(), std::uint64_t{0});
  std::uint64_t lanes = 0;
  for (std::size_t active = 1; active < totals.core.fu_active.size(); ++active) {
    lanes += totals.core.fu_active[active] * active;
  }
  EXPECT_EQ(sum(&tb::InstructionCounters::cycles), busy);
  EXPECT_EQ(row(tb::Profile::kBusyCycles), busy);
  EXPECT_EQ(sum(&tb::InstructionCounters::lane_cycles), lanes);
  EXPECT_EQ(row(tb::Profile::kLaneCycles), lanes);
  EXPECT_EQ(row(tb::Profile::kWarpInstructions), totals.core.warp_instructions);
  EXPECT_EQ(row(tb::Profile::kThreadInstructions), totals.core.thread_instructions);
  EXPECT_EQ(row(tb::Profile::kMemoryInstructions), totals.core.memory_instructions);
  EXPECT_EQ(row(tb::Profile::kLineRequests), totals.core.line_requests);
  EXPECT_EQ(row(tb::Profile::kBranches), totals.core.branches);
  EXPECT_EQ(row(tb::Profile::kDivergentBranches), totals.core.divergent_branches);
  for (std::size_t cause = 0; cause != hw::kIdleCauseCount; ++cause) {
    EXPECT_EQ(row(profile->idle_row(cause)), totals.core.idle[cause]) << hw::kIdleCauses[cause].name;
    // A cycle that is idle for want of room is one in which some instruction stood in the memory stage for it.
    std::uint64_t held = 0;
    for (const tb::Profile::KernelProfile& kernel : profile->kernels()) {
      for (const tb::InstructionCounters& counters : kernel.counters) {
        held += counters.held_cycles[cause];
      }
    }
    if (hw::is_want_of_room(static_cast<hw::IdleCause>(cause))) {
      EXPECT_LE(totals.core.idle[cause], held) << hw::kIdleCauses[cause].name;
    } else {
      EXPECT_EQ(held, 0U) << hw::kIdleCauses[cause].name;
    }
  }
  // Every core accounts every cycle of every stretch of time once.
  const link::Cycle width = profile->buckets().width();
  for (unsigned bucket = 0; bucket != tb::TimeBuckets::kCount; ++bucket) {
    std::uint64_t cycles = profile->buckets().row(tb::Profile::kBusyCycles)[bucket];
    for (std::size_t cause = 0; cause != hw::kIdleCauseCount; ++cause) {
      cycles += profile->buckets().row(profile->idle_row(cause))[bucket];
    }
    const link::Cycle begin = std::min(totals.cycles, bucket * width);
    const link::Cycle end = std::min(totals.cycles, (bucket + 1) * width);
    EXPECT_EQ(cycles, (end - begin) * totals.sub_cores) << "bucket " << bucket;
  }
}

void Profiled::expect_places(const hw::Totals& totals) const {
  std::uint64_t cores = 0, lanes = 0, warps = 0, core_lanes = 0, core_warps = 0;
  for (unsigned core = 0; core != profile->core_count(); ++core) {
    cores += row(profile->core_row(core));
    for (unsigned lane = 0; lane != profile->lanes(); ++lane) {
      core_lanes += profile->lane_active(core, lane);
    }
    for (unsigned warp = 0; warp != profile->warp_rows(); ++warp) {
      core_warps += profile->issued_by(core, warp);
    }
  }
  for (unsigned lane = 0; lane != profile->lanes(); ++lane) {
    lanes += row(profile->lane_row(lane));
  }
  for (unsigned warp = 0; warp != profile->warp_rows(); ++warp) {
    warps += row(profile->warp_row(warp));
  }
  EXPECT_EQ(cores, row(tb::Profile::kBusyCycles));
  EXPECT_EQ(lanes, row(tb::Profile::kLaneCycles));
  EXPECT_EQ(core_lanes, lanes);
  const auto off = totals.core.idle[static_cast<std::size_t>(hw::IdleCause::predicated_off)];
  EXPECT_EQ(warps, row(tb::Profile::kBusyCycles) + off);
  EXPECT_EQ(core_warps, warps);
  EXPECT_LE(profile->warp_rows(), tb::Profile::kWarpRows);
  // The time of the groups by instruction is that by stretch of time, and no more than there are groups.
  for (std::size_t state = 0; state != hw::kGroupStates; ++state) {
    std::uint64_t cycles = 0;
    for (const tb::Profile::KernelProfile& kernel : profile->kernels()) {
      for (const tb::InstructionCounters& counters : kernel.counters) {
        cycles += counters.warp_cycles[state];
      }
    }
    EXPECT_EQ(cycles, row(profile->state_row(state))) << tb::kGroupStateNames[state];
  }
  EXPECT_EQ(row(profile->state_row(0)), 0U);
  EXPECT_GT(row(profile->state_row(static_cast<std::size_t>(hw::GroupState::in_flight))), 0U);
}

// When blocks began and finished, one by one, on the clock.
class BlockTimes final : public tb::RunObserver {
 public:
  void block_started(const hw::CoreState& core, unsigned slot) override { began_[{core.index, slot}] = core.now; }
  void block_finished(const hw::CoreState& core, unsigned slot) override {
    const std::pair key{core.index, slot};
    cycles[core.index] += core.now - began_.at(key);
    ++blocks[core.index];
    began_.erase(key);
  }
  std::map<unsigned, std::uint64_t> cycles, blocks;  // by core

 private:
  std::map<std::pair<unsigned, unsigned>, link::Cycle> began_;
};

std::uint64_t counter_of(const tb::Device& device, unsigned core, const std::string& name) {
  for (const StatisticsRegistry::Scalar& scalar : device.statistics().scalars()) {
    if (scalar.declaration.module == fmt::format("gpu.core{}", core) && scalar.declaration.name == name) {
      return *scalar.value;
    }
  }
  ADD_FAILURE() << "no statistic " << name << " of core " << core;
  return 0;
}

void Profiled::expect_cores(const tb::Device& device) const {
  std::uint64_t fetched = 0, begun = 0;
  for (unsigned core = 0; core != profile->core_count(); ++core) {
    EXPECT_EQ(row(profile->instruction_row(core)), counter_of(device, core, "thread_instructions")) << core;
    begun += row(profile->block_row(core));
    fetched += counter_of(device, core, "fetched");
  }
  EXPECT_GT(begun, 0U);
  std::uint64_t banded = 0;
  for (unsigned band = 0; band != tb::Profile::kThreadBands; ++band) {
    banded += row(profile->band_row(band));
  }
  EXPECT_EQ(banded, fetched);
}

TEST_P(Profiled, AddsUpToTheStatistics) {
  const auto& [name, index] = GetParam();
  machine = &profiled_machines()[index];
  const auto workload = test::make_workload(name, *machine, 0.25);
  profile = std::make_unique<tb::Profile>(*machine);
  BlockTimes blocks;
  tb::DeviceOptions device_options;
  device_options.observers = {profile.get(), &blocks};
  tb::Device device(*machine, device_options);
  device.load(workload->compile());
  const tb::Verdict verdict = workload->run(device);
  ASSERT_TRUE(verdict.correct) << verdict.detail;
  const hw::Totals totals = device.totals();
  expect_instructions(totals);
  expect_time(totals);
  expect_places(totals);
  expect_cores(device);
  for (unsigned core = 0; core != profile->core_count(); ++core) {
    EXPECT_EQ(row(profile->block_row(core)), blocks.cycles[core]) << core;
    EXPECT_EQ(counter_of(device, core, "blocks"), blocks.blocks[core]) << core;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Profiled,
                         ::testing::Combine(::testing::Values("bfs", "reduction"),
                                            ::testing::Range<std::size_t>(0, profiled_machines().size())),
                         [](const auto& info) {
                           return test::case_name(std::get<0>(info.param),
                                                  profiled_machines()[std::get<1>(info.param)].name);
                         });

// A run that is stopped is accounted up to where it stopped.
TEST(StoppedProfile, AddsUpToo) {
  const hw::Machine machine = profiled_machines()[0];
  const auto workload = test::make_workload("bfs", machine);
  tb::Profile profile(machine);
  tb::DeviceOptions device_options;
  device_options.observers = {&profile};
  device_options.max_cycles = 5000;
  tb::Device device(machine, device_options);
  device.load(workload->compile());
  EXPECT_THROW((void)workload->run(device), tb::RunStopped);
  const hw::Totals totals = device.totals();
  EXPECT_EQ(profile.cycles(), totals.cycles);
  std::uint64_t accounted = profile.buckets().total(tb::Profile::kBusyCycles);
  for (std::size_t cause = 0; cause != hw::kIdleCauseCount; ++cause) {
    accounted += profile.buckets().total(profile.idle_row(cause));
  }
  EXPECT_EQ(accounted, std::accumulate(totals.core.fu_active.begin(), totals.core.fu_active.end(), std::uint64_t{0}));
  // Blocks have begun that will not finish: they count up to there.
  std::uint64_t blocks = 0;
  for (unsigned core = 0; core != profile.core_count(); ++core) {
    blocks += profile.buckets().total(profile.block_row(core));
  }
  EXPECT_GT(blocks, totals.cycles / 2);
  EXPECT_LE(blocks, totals.cycles * machine.core.blocks * totals.sub_cores);
  ASSERT_FALSE(profile.launches().empty());
  EXPECT_FALSE(profile.launches().back().complete);
}

}  // namespace
}  // namespace heddle
