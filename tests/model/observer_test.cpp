// What a core tells its observers adds up to its statistics, and each sub-warp passes the stages in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "hw/core/memory/memory_access.hpp"
#include "hw/gpu/gpu.hpp"
#include "hw/state/core_state.hpp"
#include "tb/config/config.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/machines.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED("All/Watched.*")
HEDDLE_LONG_SANITIZED("All/Watched.*")

namespace heddle {
namespace {

// Follows every payload and counts what the statistics count.
class Follower final : public tb::RunObserver {
 public:
  std::uint64_t fetched_count = 0, retired_count = 0, lanes = 0, threads_issued = 0, lines = 0, asides = 0;
  std::uint64_t branches = 0, diverged = 0, blocks = 0, started = 0, accesses = 0, loads = 0, launches = 0, left = 0;
  std::vector<std::uint64_t> active = std::vector<std::uint64_t>(isa::kLanes + 1);
  std::array<std::uint64_t, hw::kIdleCauseCount> idle_cycles{};
  std::map<std::pair<unsigned, hw::GroupId>, hw::GroupState> groups;
  hw::Gpu* gpu = nullptr;

  void attached(hw::Gpu& of) override { gpu = &of; }
  void loaded(const isa::Module& module) override { EXPECT_FALSE(module.kernels.empty()); }
  void launching(const tb::LaunchInfo& launch) override { EXPECT_EQ(launch.kernel.name, launch.request.kernel); }
  void launched(const tb::LaunchInfo& /*launch*/, bool complete) override { launches += complete ? 1 : 0; }

  void launch_began(const hw::CoreState& core, hw::Cycle /*first*/) override {
    EXPECT_NE(core.launch, nullptr);
    groups.clear();
    by_lane_ = hw::about<hw::Divergence>(core.core.divergence).traits.mimd_lanes;
  }
  void block_started(const hw::CoreState& core, unsigned slot) override {
    EXPECT_TRUE(core.blocks[slot].used);
    ++started;
  }
  void block_finished(const hw::CoreState& core, unsigned slot) override {
    EXPECT_EQ(core.block(slot).live_threads, 0U);
    ++blocks;
  }
  void group_changed(const hw::CoreState& core, const hw::Group& group, hw::GroupState before) override {
    const auto [known, fresh] = groups.try_emplace({core.index, group.id}, hw::GroupState::free);
    EXPECT_EQ(known->second, before);
    EXPECT_NE(group.state, before);
    known->second = group.state;
  }
  void fetched(const hw::CoreState& core, const link::SubWarp& sub_warp) override {
    ++fetched_count;
    EXPECT_TRUE(at_.emplace(&sub_warp, Place{hw::CoreStage::fetch, core.now}).second);
  }
  void formed(const hw::CoreState& core, const link::SubWarp& sub_warp, const link::SubWarp& instruction) override {
    expect_at(core, instruction, {hw::CoreStage::decode});
    if (!by_lane_) {
      EXPECT_EQ(&sub_warp == &instruction, sub_warp.last);
    }
    EXPECT_EQ(sub_warp.pc, instruction.pc);
    at_[&sub_warp] = {hw::CoreStage::decode, core.now};
  }
  void entered(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage stage) override {
    using enum hw::CoreStage;
    switch (stage) {
      case fetch:
        ADD_FAILURE() << "nothing enters fetch";
        break;
      case decode:
        expect_at(core, sub_warp, {fetch});
        break;
      case register_read:
        expect_at(core, sub_warp, {decode});
        break;
      case execute:
        expect_at(core, sub_warp, {register_read});
        break;
      case memory:
        expect_at(core, sub_warp, {execute});
        EXPECT_TRUE(at_[&sub_warp].issued);
        break;
      case write_back:
        expect_at(core, sub_warp, {memory});
        EXPECT_FALSE(at_[&sub_warp].aside);
        break;
      case returns:
        expect_at(core, sub_warp, {memory});
        EXPECT_TRUE(at_[&sub_warp].aside || at_[&sub_warp].late || sub_warp.decoded->queues);
        break;
      case added:
        ADD_FAILURE() << "no stage has been added";
        break;
    }
    at_[&sub_warp].stage = stage;
    at_[&sub_warp].since = core.now;
  }
  void left_out(const hw::CoreState&, const hw::Group& group, std::uint32_t, unsigned row, hw::LaneMask out) override {
    EXPECT_LT(row, group.rows());
    EXPECT_NE(out, 0U);
    left += static_cast<unsigned>(std::popcount(out));
  }
  void held(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage stage, hw::IdleCause, hw::Cycle,
            hw::Cycle) override {
    expect_at(core, sub_warp, {stage}, /*same_cycle=*/true);
  }
  void issued(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::Cycle last) override {
    expect_at(core, sub_warp, {hw::CoreStage::execute});
    EXPECT_GE(last, core.now);
    at_[&sub_warp].issued = true;
    // Sub-warps of lanes that execute each an instruction of its own begin in one cycle.
    Issued& before = issued_[core.index];
    if (before.cycle == core.now) {
      --active[before.lanes];
    } else {
      before.lanes = 0;
    }
    before.cycle = core.now;
    before.lanes += static_cast<unsigned>(std::popcount(hw::working_lanes(sub_warp)));
    ++active[before.lanes];
  }
  void accessed(const hw::CoreState& core, const hw::MemoryAccess& access, hw::Cycle last) override {
    expect_at(core, *access.sub_warp, {hw::CoreStage::memory});
    EXPECT_GE(last, core.now);
    accesses += (access.global | access.local) != 0 ? 1 : 0;
  }
  void line(const hw::CoreState&, const hw::MemoryAccess& access, unsigned line, hw::LineOutcome outcome) override {
    EXPECT_LT(line, access.count);
    lines +=
        outcome != hw::LineOutcome::refused && !access.by_constants ? 1 : 0;  // constants have counters of their own
    missing_ += outcome == hw::LineOutcome::missed || outcome == hw::LineOutcome::late ? 1 : 0;
    if (outcome == hw::LineOutcome::late) {
      at_[access.sub_warp].late = true;
    }
  }
  void line_came(const hw::CoreState&, const hw::MemoryAccess&, std::uint64_t) override { --missing_; }
  void put_aside(const hw::CoreState& core, const link::SubWarp& sub_warp) override {
    expect_at(core, sub_warp, {hw::CoreStage::memory});
    at_[&sub_warp].aside = true;
    asides += sub_warp.decoded->instruction.op != isa::Op::MEMBAR ? 1 : 0;
  }
  void gathered(const hw::CoreState& core, const link::SubWarp& sub_warp) override {
    expect_at(core, sub_warp, {hw::CoreStage::memory});
    at_[&sub_warp].late = true;
  }
  void parted(const hw::CoreState&, const link::SubWarp& part, const link::SubWarp& rest) override {
    ASSERT_TRUE(at_.contains(&rest));
    EXPECT_TRUE(at_[&rest].aside) << "only what is put aside is parted";
    EXPECT_EQ(part.lanes & rest.lanes, 0U);
    EXPECT_EQ(part.pc, rest.pc);
    EXPECT_NE(part.group, rest.group);
    const Place place = at_[&rest];
    EXPECT_TRUE(at_.emplace(&part, place).second);
  }
  void retired(const hw::CoreState& core, const link::SubWarp& sub_warp) override {
    expect_at(core, sub_warp, {hw::CoreStage::write_back, hw::CoreStage::returns});
    ++retired_count;
    lanes += static_cast<unsigned>(std::popcount(hw::working_lanes(sub_warp)));
    at_.erase(&sub_warp);
  }
  void completed(const hw::CoreState&, const hw::Group&, const hw::Completion& completion) override {
    EXPECT_GE(completion.sub_warps, 1U);
    branches += completion.conditional ? 1 : 0;
    diverged += completion.diverged ? 1 : 0;
  }
  void idle(const hw::CoreState&, hw::Cycle, hw::Cycle cycles, hw::IdleCause cause) override {
    idle_cycles[static_cast<std::size_t>(cause)] += cycles;
  }
  [[nodiscard]] std::size_t in_flight() const { return at_.size(); }
  [[nodiscard]] std::int64_t missing() const { return missing_; }

 private:
  struct Place {
    hw::CoreStage stage = hw::CoreStage::fetch;
    hw::Cycle since = 0;
    bool issued = false;
    bool aside = false;
    bool late = false;
  };
  void expect_at(const hw::CoreState& core, const link::SubWarp& sub_warp, std::initializer_list<hw::CoreStage> stages,
                 bool same_cycle = false) {
    const auto found = at_.find(&sub_warp);
    ASSERT_NE(found, at_.end()) << "PC " << sub_warp.pc << ": an event of a payload that was not fetched";
    EXPECT_NE(std::find(stages.begin(), stages.end(), found->second.stage), stages.end())
        << "PC " << sub_warp.pc << " is in " << name_of(found->second.stage);
    // What was handed on in a cycle is seen in the next; only what fetch reads goes to decode at once.
    if (!same_cycle && found->second.stage != hw::CoreStage::fetch && found->second.stage != hw::CoreStage::decode) {
      EXPECT_GT(core.now, found->second.since);
    }
  }
  struct Issued {
    hw::Cycle cycle = link::kNever;
    unsigned lanes = 0;
  };
  std::map<unsigned, Issued> issued_;  // by core
  bool by_lane_ = false;
  std::map<const link::SubWarp*, Place> at_;
  std::int64_t missing_ = 0;
};

std::vector<hw::Machine> make_watched_machines() {
  std::vector<hw::Machine> all = test::machines();
  for (const char* name : {"lwm-two-level", "tbc", "dwf-majority", "per-thread-pc", "database-hints"}) {
    all.push_back(tb::read_machine(std::string(HEDDLE_SOURCE_DIR "/configs/") + name + ".toml"));
    all.back().name = std::string("config-") + name;
  }
  return all;
}

const std::vector<hw::Machine>& watched_machines() {
  static const std::vector<hw::Machine> all = make_watched_machines();
  return all;
}

class Watched : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(Watched, AddsUpToTheStatistics) {
  const auto& [name, index] = GetParam();
  const hw::Machine machine = watched_machines()[index];
  const auto workload = test::make_workload(name, machine, 0.25);
  Follower first, second;
  tb::DeviceOptions device_options;
  device_options.observers = {&first, &second};
  tb::Device device(machine, device_options);
  device.load(workload->compile());
  const tb::Verdict verdict = workload->run(device);
  ASSERT_TRUE(verdict.correct) << verdict.detail;

  const hw::Totals totals = device.totals();
  std::uint64_t fetched = 0, put_aside = 0;
  for (const hw::SubCore* const sub_core : first.gpu->sub_cores()) {
    fetched += sub_core->state().statistics.fetched;
    put_aside += sub_core->state().statistics.put_aside;
  }
  for (const Follower* const seen : {&first, &second}) {
    EXPECT_EQ(seen->fetched_count, fetched);
    EXPECT_EQ(seen->retired_count, totals.core.warp_instructions);
    EXPECT_EQ(seen->lanes, totals.core.lane_instructions);
    EXPECT_EQ(seen->lines, totals.core.line_requests - totals.core.joined_lines);
    EXPECT_EQ(seen->accesses, totals.core.memory_instructions);
    EXPECT_EQ(seen->asides, put_aside);
    EXPECT_EQ(seen->branches, totals.core.branches);
    EXPECT_EQ(seen->diverged, totals.core.divergent_branches);
    EXPECT_EQ(seen->blocks, totals.core.blocks);
    EXPECT_EQ(seen->started, totals.core.blocks);
    EXPECT_EQ(seen->launches, totals.dispatcher.launches);
    EXPECT_EQ(seen->in_flight(), 0U);
    if (machine.core.former == "rows") {
      EXPECT_EQ(seen->left, 0U);
    }
    EXPECT_EQ(seen->missing(), 0);
    for (std::size_t i = 1; i < totals.core.fu_active.size(); ++i) {
      EXPECT_EQ(seen->active[i], totals.core.fu_active[i]) << i << " lanes";
    }
    for (std::size_t i = 0; i < hw::kIdleCauseCount; ++i) {
      EXPECT_EQ(seen->idle_cycles[i], totals.core.idle[i]) << hw::kIdleCauses[i].name;
    }
    for (const auto& [group, state] : seen->groups) {
      EXPECT_EQ(state, hw::GroupState::free) << "group " << group.second << " of core " << group.first;
    }
  }
}

std::vector<std::tuple<std::string, std::size_t>> watched(bool usual) {
  return test::cases_in_turn({"bfs", "needleman", "histogram"}, watched_machines().size(), usual);
}

std::string watched_name(const ::testing::TestParamInfo<std::tuple<std::string, std::size_t>>& info) {
  return test::case_name(std::get<0>(info.param), watched_machines()[std::get<1>(info.param)].name);
}

INSTANTIATE_TEST_SUITE_P(All, Watched, ::testing::ValuesIn(watched(true)), watched_name);
INSTANTIATE_TEST_SUITE_P(Long, Watched, ::testing::ValuesIn(watched(false)), watched_name);

}  // namespace
}  // namespace heddle
