// Sub-warps that nothing holds up are let by by stages, at computed times (hw/core/pipeline/pipeline.hpp). A core with
// taps between its stages has every one in its stages: it must count the same, whatever the pipeline's shape and
// whoever is in the way, and tell observers the same; so must a core that a fault stops in between.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "hw/gpu/gpu.hpp"
#include "ptx/compile.hpp"
#include "tb/config/config.hpp"
#include "tb/device/device.hpp"
#include "tests/model/child.hpp"
#include "tests/model/counters.hpp"
#include "tests/model/events_digest.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"
#include "tlm/protocol_tap.hpp"

HEDDLE_SAMPLED_SANITIZED("Shapes/PassagesOn.*")

namespace heddle {
namespace {

struct PipelineShape {
  const char* name;
  const char* machine;
  std::vector<std::string> settings;
};

const std::vector<PipelineShape>& pipeline_shapes() {
  static const std::vector<PipelineShape> all = {
      {"short", "baseline", {"core.execute_stages=1"}},
      {"deep", "baseline", {"core.execute_stages=5", "core.fetch_latency=3", "core.decode_latency=2"}},
      {"late_operands", "baseline", {"core.register_read_latency=4", "core.execute_stages=3"}},
      {"no_complex_queue", "baseline", {"core.complex_queue=0", "core.complex_interval=3"}},
      {"slow_instruction_cache", "baseline", {"icache.hit_latency=3"}},
      {"few_banks", "baseline", {"scratchpad.banks=4", "l1d.ports=1"}},
      {"oldest_first", "gto", {}},
      {"two_cores", "baseline", {"gpu.cores=2", "l1d.write_policy=write-through"}},
      {"compaction", "tbc", {}},
      {"formation", "dwf-majority", {"core.execute_stages=3"}},
      // Sub-warps that decode forms.
      {"large_warps", "lwm", {}},
      {"large_warps_deep", "lwm", {"core.execute_stages=4", "core.decode_latency=2", "core.register_read_latency=3"}},
      {"large_warps_short", "lwm-two-level", {"core.execute_stages=1", "core.complex_queue=0"}},
      {"freely_packed", "lwm", {"core.former=packed-freely", "core.fetch_latency=2"}},
      {"rows_of_large_warps", "baseline", {"core.warp_size=64", "scratchpad.banks=8"}},
      {"large_warps_of_two_cores", "lwm", {"gpu.cores=2", "l1d.write_policy=write-through"}},
      // What accesses memory finds the memory stage occupied more often than not.
      {"few_places", "baseline", {"core.pending_accesses=2", "l1d.mshrs=2", "core.execute_stages=3"}},
      {"little_room", "baseline", {"l1d.mshrs=3", "l1d.mshr_targets=1", "l1d.write_buffer=1", "dram.queue=2"}},
      {"late_hits", "lwm", {"l1d.hit_latency=6", "core.execute_stages=3"}},
      {"throttled_loads", "ccws", {"l1d.mshrs=3"}},
      {"late_results", "baseline", {"scratchpad.latency=20", "l1d.hit_latency=6", "l1d.mshrs=3", "l1d.mshr_targets=1"}},
      // Nothing is let by.
      {"next_pcs_known_early", "baseline", {"core.issue=scoreboard"}},
      {"without_bypasses", "baseline", {"core.issue=scoreboard", "scoreboard.forwarding=false", "core.sub_cores=2"}},
      {"today", "h100-8sm", {"gpu.cores=2"}},
      {"today_one_behind_the_other", "rtx3070-8sm", {"gpu.cores=1", "core.issue=strict"}},
  };
  return all;
}

// Watches the cores for some cycles in the middle of a run, which may begin and end within a rest.
class Visitor final : public tb::RunObserver {
 public:
  static constexpr link::Cycle kFrom = 1777, kTo = 4321;
  void attached(hw::Gpu& gpu) override { clock_.emplace(gpu.clock()); }
  [[nodiscard]] link::Cycle watches_cores_from() const override { return kFrom; }
  [[nodiscard]] Window window() const override { return {kFrom, kTo}; }
  void window_over(link::Cycle) override { over_ = true; }
  [[nodiscard]] bool over() const override { return over_; }
  [[nodiscard]] bool knows_rests() const override { return true; }
  void joined(const hw::CoreState&) override { ++joined_; }
  void fetched(const hw::CoreState&, const link::SubWarp&) override { hear(); }
  void retired(const hw::CoreState&, const link::SubWarp&) override { hear(); }
  // What it has to say against what it was told.
  [[nodiscard]] std::string complaint(unsigned cores) const {
    return joined_ != cores ? "has joined " + std::to_string(joined_) + " cores\n" : outside_ ? "heard too much\n" : "";
  }
  [[nodiscard]] unsigned heard() const { return heard_; }

 private:
  void hear() {
    ++heard_;
    outside_ = outside_ || joined_ == 0 || clock_->now() < kFrom || clock_->now() > kTo;
  }
  std::optional<link::Clock> clock_;
  unsigned joined_ = 0, heard_ = 0;
  bool over_ = false, outside_ = false;
};

// A tap in front of each stage: every sub-warp comes by it, so that no stage lets one by.
hw::CoreExtension stage_by_stage() {
  hw::CoreExtension extension;
  extension.sub_warps = [](const hw::CorePlace& place, link::Clock) {
    return std::make_unique<link::ProtocolTap<link::WarpProtocol>>(("tap_" + place.text()).c_str());
  };
  return extension;
}

// Who watches a run: nobody; somebody who wants each cycle; a visitor; a visitor between two who know of rests.
enum class WatchedHow { no, in_each_cycle, for_a_while, with_rests };

struct SeenRun {
  std::string counters;  // or what is wrong
  std::string events;    // in their order
  std::string sums;      // of events, in any order
};

// `tapped`: stage by stage.
SeenRun run_on(const std::string& name, const hw::Machine& machine, WatchedHow watched, bool tapped = false) {
  constexpr char kBetween = '\0';
  const std::string text = test::in_child([&] {
    const auto workload = test::make_workload(name, machine, 0.5);
    const bool rests = watched == WatchedHow::with_rests;
    test::EventsDigest first(rests), second(rests);
    Visitor visitor;
    tb::DeviceOptions options;
    if (watched == WatchedHow::in_each_cycle) {
      options.observers = {&first};
    } else if (watched == WatchedHow::for_a_while) {
      options.observers = {&visitor};
    } else if (rests) {
      options.observers = {&first, &visitor, &second};
    }
    if (tapped) {
      options.extension = stage_by_stage();
    }
    tb::Device device(machine, options);
    device.load(workload->compile());
    const tb::Verdict verdict = workload->run(device);
    const bool visited = watched == WatchedHow::for_a_while && device.now() > Visitor::kTo;  // with nobody beside
    const std::string complaint = visited ? visitor.complaint(hw::all_sub_cores(machine)) : "";
    if (!verdict.correct || !complaint.empty() || (visited && visitor.heard() == 0)) {
      return "wrong: " + verdict.detail + complaint;
    }
    if (watched == WatchedHow::in_each_cycle && (first.count() == 0 || first.rests() != 0)) {
      return std::string("wrong: not told in each cycle");
    }
    if (rests && first.text() != second.text()) {
      return std::string("wrong: two observers have been told different things");
    }
    return test::counters_of(device) + kBetween + first.text() + kBetween + first.sums();
  });
  const std::size_t end = text.find(kBetween);
  const std::size_t end_of_events = text.rfind(kBetween);
  return end == std::string::npos ? SeenRun{text, "", ""}
                                  : SeenRun{text.substr(0, end), text.substr(end + 1, end_of_events - end - 1),
                                            text.substr(end_of_events + 1)};
}

class PassagesOn : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

// Counters; events, each in its cycle and in the order of the stages' turns; and what is told of rests behind them.
// (That waves show the same of a rest: tests/hw/waves_at_rest_test.cpp.)
TEST_P(PassagesOn, CountAndTellWhatTheStagesDo) {
  const std::string name = std::get<0>(GetParam());
  const PipelineShape& shape = pipeline_shapes()[std::get<1>(GetParam())];
  const hw::Machine machine = tb::read_machine(shape.machine, shape.settings);
  const SeenRun stages = run_on(name, machine, WatchedHow::in_each_cycle, true);
  ASSERT_EQ(stages.counters.rfind("cycles ", 0), 0U) << stages.counters;
  const SeenRun passages = run_on(name, machine, WatchedHow::in_each_cycle);
  EXPECT_EQ(passages.counters, stages.counters);
  EXPECT_EQ(passages.events, stages.events);
  const SeenRun rests = run_on(name, machine, WatchedHow::with_rests);
  EXPECT_EQ(rests.counters, stages.counters);
  EXPECT_EQ(rests.sums, stages.sums);
  EXPECT_EQ(run_on(name, machine, WatchedHow::no).counters, stages.counters);
  EXPECT_EQ(run_on(name, machine, WatchedHow::for_a_while).counters, stages.counters);
}

std::vector<std::tuple<std::string, std::size_t>> passages(bool usual) {
  return test::cases_in_turn({"nqueens", "blackscholes", "bfs"}, pipeline_shapes().size(), usual);
}

std::string passages_name(const ::testing::TestParamInfo<std::tuple<std::string, std::size_t>>& info) {
  return std::get<0>(info.param) + "_" + pipeline_shapes()[std::get<1>(info.param)].name;
}

INSTANTIATE_TEST_SUITE_P(Shapes, PassagesOn, ::testing::ValuesIn(passages(true)), passages_name);
INSTANTIATE_TEST_SUITE_P(Long, PassagesOn, ::testing::ValuesIn(passages(false)), passages_name);

// Warps compute at their own pace; one of them stores out of bounds in the middle of it.
constexpr const char* kStray = R"(.version 7.0
.target sm_50
.address_size 32
.visible .entry stray(.param .u32 data) {
  .reg .b32 %r<9>; .reg .pred %p<3>;
  ld.param.u32 %r0, [data];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  add.u32 %r3, %r2, 40;
again:
  mad.lo.u32 %r4, %r4, 5, %r3;
  xor.b32 %r4, %r4, %r1;
  sub.u32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra again;
  setp.eq.u32 %p2, %r2, 2;
  @%p2 st.global.u32 [%r0+4096], %r4;
  bra again;
}
)";

std::string counters_at_a_fault(const std::string& machine, bool tapped, bool watched) {
  return test::in_child([&] {
    tb::RunObserver nobody;
    tb::DeviceOptions options;
    if (watched) {
      options.observers = {&nobody};
    }
    if (tapped) {
      options.extension = stage_by_stage();
    }
    tb::Device device(tb::read_machine(machine), options);
    device.load(ptx::compile(kStray, "stray.ptx"));
    const auto data = static_cast<std::uint32_t>(device.memory().allocate("data", 1024));
    isa::LaunchRequest request;
    request.kernel = "stray";
    request.block = {256, 1, 1};
    request.parameters.resize(sizeof data);
    std::memcpy(request.parameters.data(), &data, sizeof data);
    try {
      device.launch(request);
    } catch (const SimulatedFault&) {
      return test::counters_of(device);
    }
    return std::string("no fault");
  });
}

TEST(Passages, CountsWhatTheStagesCountUpToAFault) {
  for (const char* const machine : {"baseline", "lwm", "h100-8sm"}) {
    const std::string stages = counters_at_a_fault(machine, true, false);
    EXPECT_NE(stages, "no fault") << machine;
    EXPECT_EQ(counters_at_a_fault(machine, false, false), stages) << machine;
    EXPECT_EQ(counters_at_a_fault(machine, false, true), stages) << machine;
  }
}

}  // namespace
}  // namespace heddle
