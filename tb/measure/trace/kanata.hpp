// The pipeline log that Konata shows (heddle run --pipeline FILE.kanata), in the format "Kanata 0004": one row per
// sub-warp, from its instruction's fetch, or from where the former makes it of an instruction, to its retirement.
//
//   stages (lane 0)  F fetch, D decode and sub-warp former, R register read, X execute, M memory,
//                    Mg waits for the other sub-warps of its instruction, Mw for lines or for stores, both out of the
//                    pipeline, W write-back
//   lane 1           why the sub-warp could not go on in a cycle, by the names of the idle causes
//                    (hw/state/idle_cause.hpp)
//   warp-splits      rows of their own (core.divergence = dws or slip), from where one is made to where it is none any
//                    more, in one stage of lane 0: Sp. Labels: core, group, cause, lanes, the group it has left; in the
//                    details how it ended. The group that stays what it was has no row, so that there are as many as
//                    the statistics splits_... count
//   label            core, group, PC, instruction, lanes; the details below it: block, kernel, register rows, guard,
//                    lines
//   dependencies     from an instruction's row to the rows of its other sub-warps
//   flushed rows     what is in the pipeline when the window, or a launch that did not end well, ended
//
// A row's thread number is core * 65536 + group.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <unordered_map>

#include "tb/device/run_observer.hpp"
#include "tb/measure/trace/instruction_text.hpp"
#include "tb/measure/trace/window.hpp"

namespace heddle::tb {

class KanataLog final : public RunObserver {
 public:
  // `out` outlives it.
  KanataLog(std::ostream& out, const CycleWindow& window);
  // Writes what is held back; nothing may follow.
  void finish();
  [[nodiscard]] std::uint64_t rows() const { return next_id_; }

  void launching(const LaunchInfo& launch) override;
  void launched(const LaunchInfo& launch, bool complete) override;
  void split_made(const hw::CoreState& core, const hw::Group& made, const hw::Group& rest,
                  hw::SplitCause cause) override;
  void split_ended(const hw::CoreState& core, const hw::Group& split, const hw::Group& into, hw::SplitEnd end) override;
  void fetched(const hw::CoreState& core, const link::SubWarp& sub_warp) override;
  void formed(const hw::CoreState& core, const link::SubWarp& sub_warp, const link::SubWarp& instruction) override;
  void entered(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage stage) override;
  void held(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage stage, hw::IdleCause cause,
            hw::Cycle first, hw::Cycle cycles) override;
  void issued(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::Cycle last) override;
  void accessed(const hw::CoreState& core, const hw::MemoryAccess& access, hw::Cycle scratchpad_last) override;
  void put_aside(const hw::CoreState& core, const link::SubWarp& sub_warp) override;
  void gathered(const hw::CoreState& core, const link::SubWarp& sub_warp) override;
  void parted(const hw::CoreState& core, const link::SubWarp& part, const link::SubWarp& rest) override;
  void retired(const hw::CoreState& core, const link::SubWarp& sub_warp) override;
  [[nodiscard]] bool knows_rests() const override { return true; }
  void rests(const hw::CoreState& core) override;
  void rested(const hw::CoreState& core, hw::Cycle now) override;

 private:
  struct Row {
    std::uint64_t id = 0;
    const char* next = "F";  // its stage from the next cycle on
  };
  // Events of a cycle have come; false: it is outside the window.
  bool advance(hw::Cycle now);
  void write_cycle();
  void flush_rows();
  [[nodiscard]] Row* find(const link::SubWarp& sub_warp);
  Row open_row(std::uint64_t thread, const char* stage);
  void close(const Row& row);
  void describe_block(const Row& row, const hw::CoreState& core, const hw::Group& group);
  Row& add_row(const hw::CoreState& core, const link::SubWarp& sub_warp, const char* stage);
  void go(Row& row, const char* stage);

  std::ostream& out_;
  const CycleWindow window_;
  std::map<std::uint64_t, std::string> kernels_;  // of launches that run, by Launch::id
  InstructionTexts texts_;
  std::unordered_map<const link::SubWarp*, Row> rows_;  // looked up, never gone through for output
  std::map<std::uint64_t, Row> splits_;                 // by thread number
  std::uint64_t next_id_ = 0;
  std::uint64_t next_retired_ = 0;
  hw::Cycle cycle_ = 0;    // whose events are being collected
  hw::Cycle written_ = 0;  // the log's clock
  bool begun_ = false;     // the log has a clock
  bool over_ = false;
  // What the cycle being collected and the next one say. A stage is left and entered at the beginning of a cycle.
  std::string now_, due_, next_;
  using Holds = std::map<std::uint64_t, hw::IdleCause>;  // by row
  Holds held_, held_before_;
  // Of each core: what is held in it in the latest cycle in which something was; and in each cycle of a rest.
  struct HoldsOfCore {
    hw::Cycle cycle = link::kNever;
    Holds holds;
  };
  std::map<unsigned, HoldsOfCore> latest_;
  std::map<unsigned, HoldsOfCore> resting_;  // from that cycle on
  hw::Cycle latest_rest_ = 0;                // the last cycle of one that has been told of
  bool steady_ = false;  // the latest cycle was as the one before, with nothing but such holds: so are the next ones
};

}  // namespace heddle::tb
