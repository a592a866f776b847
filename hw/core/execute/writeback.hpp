// Write-back stage: results into the register banks, retirement hashes, and the counts of what retires. What becomes of
// the group then is the warp unit's business (hw/core/warps/warp_unit.hpp).
//
//   in         target, WarpProtocol         from memory, in pipeline order
//   returns    target, WarpProtocol         accesses that had been put aside; a write port of their own
//   registers  initiator, RegisterProtocol  timing by b_transport, data by direct memory
#pragma once

#include <vector>

#include "hw/core/pipeline/stage.hpp"
#include "hw/core/warps/warp_unit.hpp"
#include "hw/registers/register_file.hpp"

namespace heddle::hw {

// The second input: completed accesses, one per cycle.
class ReturnPort final : public StageInput {
 public:
  ReturnPort(const sc_core::sc_module_name& name, CoreState& state) : StageInput(name, state, 1, CoreStage::returns) {}
  // The oldest sub-warp that is visible, with the ones beside it; null: none.
  [[nodiscard]] link::SubWarp* take(Cycle now) {
    link::SubWarp* const sub_warp = latch_.front(now);
    if (sub_warp != nullptr) {
      latch_.pop_all();
    }
    return sub_warp;
  }
};

class FastPath;

class WriteBackStage final : public ReceivingStage,
                             private ::tlm::tlm_bw_transport_if<RegisterProtocol>,
                             private BarrierResults {
 public:
  WriteBackStage(const sc_core::sc_module_name& name, CoreState& state, WarpUnit& warps);

  ReturnPort returns;
  RegisterInitiatorSocket registers;

  void tick(Cycle now) override;
  // What another core tells this core's warp unit; results of a barrier are written here.
  void hear(HomeMessage& message) { warps_.hear(message, *this); }
  // A sub-warp has come to its end, in this cycle.
  void retire(link::SubWarp& sub_warp);
  // Who retires what is deferred (SubWarp::deferred); none unless told.
  void hand_to(FastPath* fast_path) { fast_path_ = fast_path; }
  // The counts of one in `working` lanes that stands for itself alone.
  void count_retired(const link::DecodedInstruction& decoded, unsigned working) {
    CoreStatistics& statistics = state_.statistics;
    ++statistics.warp_instructions;
    statistics.lane_instructions += working;
    statistics.float_lane_instructions += decoded.floating_point ? working : 0;
    statistics.thread_instructions += working;
    state_.last_retirement = state_.now;
  }
  // All blocks of the launch have come to the grid's barrier.
  void leave_grid() { warps_.leave_grid(*this); }
  [[nodiscard]] bool idle() const override { return empty() && returns.empty(); }
  [[nodiscard]] bool stuck(Cycle) const override { return idle(); }
  void reset() override;

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(RegisterAccess&, link::WarpPhase&, sc_core::sc_time&) override {
    throw InternalError("the register file's socket is blocking");
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override { array_ = nullptr; }
  void write_released(const link::SubWarp& sub_warp) override;

  void write(const link::SubWarp& sub_warp, LaneMask lanes);
  void write_for_warp(link::SubWarp& sub_warp);
  // The port's part: the access is counted; where its data goes.
  [[nodiscard]] RegisterArray& array(RegisterAccess& access);
  void hash(const link::SubWarp& sub_warp, LaneMask lanes);
  void record(const link::SubWarp& sub_warp);
  void hash_group(const Group& group, const link::SubWarp& sub_warp);
  void hash_jump(const Group& group, unsigned row, LaneMask lanes, const link::DecodedInstruction& decoded,
                 std::uint32_t pc);
  void retire_late_jumps(const Group& group, unsigned row, LaneMask lanes);

  WarpUnit& warps_;
  FastPath* fast_path_ = nullptr;
  const bool overlaps_;  // IssueDiscipline::Traits
  link::BehindSocket<RegisterFile> file_;
  RegisterArray* array_ = nullptr;  // direct view
  // An unconditional branch that has not retired yet in these threads of its group, one mask per row.
  struct LateJump {
    GroupId group;
    const link::DecodedInstruction* decoded;
    std::uint32_t pc;
    std::vector<LaneMask> rows;
  };
  std::vector<LateJump> late_jumps_;
  std::vector<LaneMask> in_flight_;  // of a jump that retires: threads in which it is late, by row
};

}  // namespace heddle::hw
