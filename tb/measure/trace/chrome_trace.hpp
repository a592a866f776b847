// A run as Chrome's trace events in JSON (heddle run --pipeline FILE.json), which Perfetto and chrome://tracing show.
// One microsecond there is one cycle here.
//
//   process "GPU"       the launches
//   process "core N"    a track per group: its states, states in which an instruction is under way by the instruction's
//                       name; a track per block slot: the thread blocks
//   process "memory"    each request beyond an L1, as an asynchronous event from the L1 back to the L1, with its way
//                       inside it: interconnect, L2, DRAM queue, DRAM access, return. What an L2 asks of DRAM for
//                       itself (line fills, write-backs) is an event of its own
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "hw/dram/timing.hpp"
#include "hw/gpu/tap.hpp"
#include "tb/device/run_observer.hpp"
#include "tb/measure/trace/instruction_text.hpp"
#include "tb/measure/trace/window.hpp"

namespace heddle::tb {

class ChromeTrace final : public RunObserver {
 public:
  // `out` outlives it.
  ChromeTrace(std::ostream& out, const CycleWindow& window);
  ~ChromeTrace() override;
  // Writes what is under way, and the end of the file; nothing may follow.
  void finish();
  // The taps that show it the requests; `other` makes further taps on the same connections. It outlives the taps.
  [[nodiscard]] hw::MakeTap taps(hw::MakeTap other);

  void attached(hw::Gpu& gpu) override;
  [[nodiscard]] hw::DramObserver* dram(unsigned channel) override;
  void launching(const LaunchInfo& launch) override;
  void launched(const LaunchInfo& launch, bool complete) override;
  void block_started(const hw::CoreState& core, unsigned block_slot) override;
  void block_finished(const hw::CoreState& core, unsigned block_slot) override;
  [[nodiscard]] bool knows_rests() const override { return true; }
  void group_changed(const hw::CoreState& core, const hw::Group& group, hw::GroupState before) override;
  void fetched(const hw::CoreState& core, const link::SubWarp& sub_warp) override;

 private:
  class Tap;
  class Channel;
  struct Request {
    std::uint64_t id = 0;
    std::string name;
    std::string stage;          // where it is; empty: nowhere yet
    hw::TapPlace::Link origin;  // who began it: data, instruction; channel for the L2's own
    bool shown = false;         // it began within the window
  };
  // A track's present slice.
  struct Slice {
    hw::Cycle since = 0;
    bool open = false;
    std::string name;
    std::string arguments;  // JSON members
  };

  void event(const std::string& members);
  void name_track(unsigned process, std::uint64_t track, const std::string& name);
  void close(unsigned process, std::uint64_t track, Slice& slice, hw::Cycle end);
  void close_all();
  [[nodiscard]] std::uint64_t free_launch_track() const;
  void requested(const hw::TapPlace& place, const ::tlm::tlm_generic_payload& payload, hw::Cycle at);
  void responded(const hw::TapPlace& place, const ::tlm::tlm_generic_payload& payload, hw::Cycle at);
  void accessing(unsigned channel, const hw::DramRequest& request, hw::Cycle now);
  void begin_request(const hw::TapPlace& place, const ::tlm::tlm_generic_payload& payload, hw::Cycle at);
  void go(Request& request, const std::string& stage, hw::Cycle at, const std::string& arguments = {});
  void end_request(const ::tlm::tlm_generic_payload* payload, hw::Cycle at);
  void mark(const Request& request, char phase, const std::string& name, hw::Cycle at,
            const std::string& arguments = {});
  [[nodiscard]] unsigned memory_process() const { return cores_ + 1; }

  std::ostream& out_;
  const CycleWindow window_;
  bool first_ = true;
  bool finished_ = false;
  unsigned cores_ = 0;
  std::optional<link::Clock> clock_;  // of the GPU, once there is one
  InstructionTexts texts_;
  std::map<std::uint64_t, std::pair<std::uint64_t, Slice>>
      launches_;                                                // launches that run, by Launch::id: track of process 0
  std::map<std::pair<unsigned, std::uint64_t>, Slice> tracks_;  // by process and track, in that order at the end
  std::map<std::pair<unsigned, hw::GroupId>, std::string> instructions_;     // that a group is at
  std::unordered_map<const ::tlm::tlm_generic_payload*, Request> requests_;  // looked up by who carries them
  std::uint64_t next_request_ = 0;
  std::vector<std::unique_ptr<Channel>> channels_;
};

}  // namespace heddle::tb
