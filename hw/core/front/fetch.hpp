// Fetch stage: the warp scheduler and the instruction cache's client.
//
//   icache   initiator, LineProtocol   one line request per fetch (single-ported I-cache)
//   out      initiator, WarpProtocol   one instruction word per cycle to decode
// In a cycle: asks the scheduler for a ready group and reads its word. A miss sets the group aside until its line is
// there; then it is ready again. A hit that takes several cycles (icache.hit_latency) is pipelined: its word goes to
// decode when it comes, while the next group's is already asked for. Nothing is fetched while decode is full.
#pragma once

#include <algorithm>
#include <array>
#include <boost/circular_buffer.hpp>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "hw/cache/cache.hpp"
#include "hw/cache/l0_cache.hpp"
#include "hw/core/front/decode.hpp"
#include "hw/core/memory/memory_queue.hpp"
#include "hw/core/pipeline/stage.hpp"
#include "hw/core/warps/warp_unit.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/lane_slots.hpp"
#include "hw/schedule/load_limiter.hpp"
#include "hw/schedule/scheduler.hpp"
#include "tlm/line_protocol.hpp"

namespace heddle::hw {

class FetchStage final : public sc_core::sc_module,
                         public Stage,
                         private ::tlm::tlm_bw_transport_if<link::LineProtocol> {
 public:
  FetchStage(const sc_core::sc_module_name& name, CoreState& state, std::unique_ptr<WarpScheduler> scheduler);

  link::LineInitiatorSocket icache;
  StageOutput out;

  void tick(Cycle now) override;
  // For a cycle in which nothing was fetched: why. `age` cycles ago, fewer than kHistory.
  [[nodiscard]] IdleCause cause(Cycle cycle) const { return history_[cycle % kHistory]; }
  // Why nothing can be fetched, from what the groups wait for.
  [[nodiscard]] IdleCause idle_cause() const;
  // Of a long rest only the end matters that the units still ask for.
  void waited(Cycle first, Cycle cycles) override {
    const Cycle end = first + cycles;
    const Cycle asked = std::min<Cycle>(end, pipeline_ != nullptr ? pipeline_->before_units(0) : kHistory);
    for (Cycle cycle = std::max(first, end - asked); cycle != end; ++cycle) {
      history_[cycle % kHistory] = rest_cause_;
    }
  }
  // Before the first cycle of a launch: there was nothing to fetch, whatever the end of the launch before was like.
  void begins(Cycle first) {
    rest_cause_ = IdleCause::no_work;
    const Cycle before = std::min<Cycle>(first, kHistory);
    waited(first - before, before);
  }
  // Why nothing is fetched at rest.
  [[nodiscard]] IdleCause rest_cause() const { return rest_cause_; }
  [[nodiscard]] bool counts_rests() const override { return true; }
  void rests(bool stopped) override {
    rest_cause_ = stopped ? IdleCause::flush : waiting_ != nullptr ? state_.block_cause : idle_cause();
  }
  [[nodiscard]] bool idle() const override { return waiting_ == nullptr && late_.empty(); }
  // An instruction was fetched and decode has no room.
  [[nodiscard]] bool blocked() const { return waiting_ != nullptr; }
  [[nodiscard]] bool stuck(Cycle) const override {
    return waiting_ != nullptr || (late_.empty() && !state_.groups.any_ready());
  }
  void reset() override;
  [[nodiscard]] StageOutput* output() override { return &out; }
  // Asks `limiter` which groups may issue loads and tells it of instructions; null: all may. It outlives this.
  void limit_by(LoadLimiter* limiter) { limiter_ = limiter; }
  // With everything asleep: the cycle in which a load that is held back may go; kNever: none is.
  [[nodiscard]] Cycle next_release(Cycle now) const {
    return limiter_ == nullptr || state_.groups.count(GroupState::throttled) == 0
               ? link::kNever
               : std::max(limiter_->next_change(), now + 1);
  }
  // Each lane fetches for itself, as `divergence` says (Divergence::Traits::mimd_lanes), which outlives this; for the
  // present table of groups.
  void fetch_by_lane(const Divergence& divergence);
  // Who knows what words decode to; none unless told.
  void predecode_by(DecodeStage& decode) { decode_ = &decode; }
  // Asks whether a group's next instruction must wait for those in flight; none unless told
  // (IssueDiscipline::Traits::stalls_on_use).
  void issue_by(WarpUnit& warps) {
    issue_ = &warps;
    tells_issue_ = warps.by_control_bits();
  }
  // Accesses take places of `queue`, which outlives this, and wait in front of the pipeline while there is none; none
  // do unless told.
  void take_places_of(MemoryQueue& queue) {
    queue_ = &queue;
    queueing_.assign((state_.groups.size() + 63) / 64, 0);
    queueing_since_.assign(state_.groups.size(), 0);
  }
  // Who hears of each cycle in which no group is ready; none unless told.
  void tell(WarpUnit& warps) { warps_ = &warps; }
  [[nodiscard]] const WarpScheduler& scheduler() const { return *scheduler_; }
  void launch_begins(Cycle now) { scheduler_->launch_begins(state_.launch->code_address, now); }
  void launch_ends(Cycle now) { scheduler_->launch_ends(now); }
  // Another scheduler, for another table of groups. Between launches.
  void schedule_by(std::unique_ptr<WarpScheduler> scheduler);

 private:
  static constexpr std::size_t kHistory = 256;
  static constexpr std::uint64_t kFetchedPerDriftSample = 1024;

  ::tlm::tlm_sync_enum nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  // Decode has no room for what was fetched.
  void held(const link::SubWarp& sub_warp) const {
    if (state_.observer != nullptr) {
      state_.tell_held(sub_warp, CoreStage::fetch, state_.block_cause);
    }
  }

  CoreState& state_;
  const bool wide_words_ = state_.machine.icache.instruction_bytes > 8;
  WarpUnit* warps_ = nullptr;
  WarpUnit* issue_ = nullptr;
  bool tells_issue_ = false;  // it hears of each instruction that goes into the pipeline
  DecodeStage* decode_ = nullptr;
  LaneSlots lanes_{state_.machine.core};  // looked at with issue_ alone, which knows the next instruction
  MemoryQueue* queue_ = nullptr;
  GroupBits queueing_;                 // groups with the word of an access for which there was no place
  std::vector<Cycle> queueing_since_;  // by group, of those in GroupState::queueing
  std::unique_ptr<WarpScheduler> scheduler_;
  link::BehindSocket<Cache> cache_;
  link::BehindSocket<L0Cache> l0_;
  std::vector<link::LineRequest> requests_;  // by group; of lanes that fetch for themselves, by group and lane
  // Without an I-cache an arrived line is not kept, and in a small one another group's line may take its place before
  // the group's next turn: its word waits here then, one per group.
  struct ArrivedWord {
    std::uint32_t pc = 0;
    isa::InstructionWord word;
    bool valid = false;
    unsigned misses = 0;  // of this PC without a word in between
  };
  std::vector<ArrivedWord> arrived_;
  // Words of hits that took several cycles, in order; a group has one at most.
  struct LateWord {
    GroupId group;
    isa::InstructionWord word;
  };
  boost::circular_buffer<LateWord> late_;

  // A word as long as the machine's are (icache.instruction_bytes).
  [[nodiscard]] isa::InstructionWord word_at(const std::byte* bytes) const {
    isa::InstructionWord word;
    std::memcpy(&word.low, bytes, sizeof word.low);
    if (wide_words_) {
      std::memcpy(&word.high, bytes + sizeof word.low, sizeof word.high);
    }
    return word;
  }
  // Asks the scheduler for a group and the cache for its word. True: it is there, and the group's. False: `cause` says
  // why there is none in this cycle.
  [[nodiscard]] [[gnu::always_inline]] bool read(Cycle now, GroupId& id, isa::InstructionWord& word, IdleCause& cause);
  [[nodiscard]] [[gnu::always_inline]] ::tlm::tlm_sync_enum read_word(Group& group, isa::InstructionWord& word);
  [[nodiscard]] [[gnu::noinline]] ::tlm::tlm_sync_enum ask_for_line(const Group& group, std::uint64_t address,
                                                                    std::uint64_t offset, bool repeats_miss,
                                                                    isa::InstructionWord& word);
  [[nodiscard]] [[gnu::noinline]] bool runs_past_end(const Group& group);
  [[gnu::noinline]] void waits_for_line(Group& group);
  // False: it is not the group's turn any more, which waits with its word.
  [[gnu::always_inline]] bool hand_on(Group& group, const isa::InstructionWord& word, IdleCause& cause);
  [[gnu::always_inline]] void fetch_next(Cycle now, IdleCause& cause);
  [[gnu::noinline]] void tick_with_words(Cycle now, IdleCause& cause);
  // How far the block's live warps are apart (CoreStatistics::drift_instructions).
  [[gnu::noinline]] void sample_drift(unsigned block_slot);
  // Whether the instruction waits for one in flight: then the group keeps the word, as in an instruction buffer.
  [[nodiscard]] [[gnu::noinline]] bool waits_for_results(Group& group, const link::DecodedInstruction& next);
  // Whether there is a place for the access; if not, the group keeps the word and waits.
  [[nodiscard]] bool finds_lanes(Group& group, const link::DecodedInstruction& next);
  [[nodiscard]] bool finds_place(Group& group, const isa::InstructionWord& word);
  // A group that has its word goes into the pipeline with an access: the others wait if it has taken the last place.
  void take_place(const Group& group);
  // Groups that wait for a place may be fetched, if there is one.
  void offer_places(Cycle now);
  void keep_word(const Group& group, const isa::InstructionWord& word) {
    arrived_[group.id] = {group.pc, word, true, 0};
  }
  // Whether the instruction is a load that has to wait: then the group is throttled and keeps the word.
  [[nodiscard]] [[gnu::noinline]] bool hold_back(Group& group, const isa::InstructionWord& word);
  [[gnu::noinline]] void release_loads(Cycle now);
  // Lanes that fetch for themselves (fetch_lanes.cpp).
  struct ByLane {
    // Of a group's instructions that are being fetched: the row of the next ones.
    struct Row {
      unsigned row = 0;
      bool begun = false;  // rows before it have gone on
      bool late = false;   // of its lines, some are hits that take several cycles
      unsigned outstanding = 0;
      LaneMask have = 0;  // lanes whose words are there
    };
    // What the I-cache has answered in this cycle.
    struct Line {
      std::uint64_t address = 0;
      bool there = false;
      std::vector<std::byte> bytes;
    };
    const Divergence* divergence = nullptr;
    bool several_groups = false;
    bool any_lane = false;                    // a group, which is a thread, takes any lane
    unsigned lanes = 0;                       // of a group's row
    std::vector<Row> rows;                    // by group
    std::vector<isa::InstructionWord> words;  // by group and lane
    std::vector<Line> lines;                  // of this cycle
    MaybeGroup begun;                         // whose rows go on one after the other
    link::SubWarp* first = nullptr;           // of this cycle, beside each other
    link::SubWarp* last = nullptr;
    LaneMask taken = 0;  // their lanes
    [[nodiscard]] std::size_t slot(const Group& group, unsigned lane) const {
      return std::size_t{group.id} * lanes + (several_groups ? 0 : lane);
    }
  };
  std::unique_ptr<ByLane> by_lane_;  // null: a warp has one instruction
  void tick_by_lane(Cycle now, IdleCause& cause);
  [[nodiscard]] MaybeGroup next_by_lane(Cycle now, IdleCause& cause);
  void others_by_lane(GroupId picked, LaneMask& asked, IdleCause& cause);
  void fetch_row(Group& group, LaneMask& asked, bool later, IdleCause& cause);
  void take_lane(Group& group, LaneMask asked, LaneMask others);
  [[nodiscard]] bool read_lanes(Group& group, LaneMask lanes, IdleCause& cause);
  [[nodiscard]] bool ask_for(Group& group, unsigned lane, std::uint32_t pc, std::uint64_t line, IdleCause& cause);
  void line_by_lane(link::LineRequest& request);
  void take_row(Group& group);

  LoadLimiter* limiter_ = nullptr;
  std::vector<Cycle> held_since_;     // with a limiter, per group: throttled since
  link::SubWarp* waiting_ = nullptr;  // fetched, but decode had no room
  std::array<IdleCause, kHistory> history_{};
  IdleCause rest_cause_ = IdleCause::no_work;
};

}  // namespace heddle::hw
