// Write-back stage: results into the register banks, retirement hashes, and the counts of what retires. What becomes of
// the group then is the warp unit's business (hw/core/warps/warp_unit.hpp).
//
//   in         target, WarpProtocol         from memory, in pipeline order
//   returns    target, WarpProtocol         accesses that had been put aside; a write port of their own
//   registers  initiator, RegisterProtocol  timing by b_transport, data by direct memory
//
// With registers.write_ports a bank writes so many registers of all lanes in a cycle: a sub-warp at `returns` waits as
// long as the one in pipeline order leaves it no port (MICRO 2025, section 5.3: of a load and an instruction of fixed
// latency that finish in one cycle "the one that is delayed one cycle is the load instruction").
#pragma once

#include "hw/core/pipeline/stage.hpp"
#include "hw/core/warps/warp_unit.hpp"
#include "hw/effects/commit.hpp"
#include "hw/effects/own_row.hpp"
#include "hw/registers/register_file.hpp"

namespace heddle::hw {

// The second input: completed accesses, one per cycle.
class ReturnPort final : public StageInput {
 public:
  ReturnPort(const sc_core::sc_module_name& name, CoreState& state) : StageInput(name, state, 1, CoreStage::returns) {}
  [[nodiscard]] link::SubWarp* front(Cycle now) const { return latch_.front(now); }
  // It cannot go on in this cycle.
  void waits(const link::SubWarp& sub_warp) const { held(sub_warp, IdleCause::register_banks); }
  // The oldest sub-warp that is visible, with the ones beside it; null: none.
  [[nodiscard]] link::SubWarp* take(Cycle now) {
    link::SubWarp* const sub_warp = latch_.front(now);
    if (sub_warp != nullptr) {
      latch_.pop_all();
    }
    return sub_warp;
  }
};

class WriteBackStage final : public ReceivingStage,
                             private ::tlm::tlm_bw_transport_if<RegisterProtocol>,
                             private BarrierResults {
 public:
  WriteBackStage(const sc_core::sc_module_name& name, CoreState& state, WarpUnit& warps);

  ReturnPort returns;
  RegisterInitiatorSocket registers;

  void tick(Cycle now) override;
  After turn(Cycle now) override { return turn_of(*this, now); }
  // What another core tells this core's warp unit; results of a barrier are written here.
  void hear(HomeMessage& message) { warps_.hear(message, *this); }
  [[nodiscard]] StageInput* side_input() override { return &returns; }
  void ends(link::SubWarp& sub_warp) override;
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
  void write_released(link::SubWarp& sub_warp) override { write(sub_warp); }

  // The results that have come from memory find no port of their banks beside those of the pipeline.
  [[nodiscard]] bool lacks_ports(Cycle now) const;
  // A sub-warp has come to its end, in this cycle.
  void retire(link::SubWarp& sub_warp);
  [[gnu::always_inline]] void retire_row(link::SubWarp& sub_warp, Group& group, const ThreadHome& home,
                                         RegisterFile& file);
  void write(link::SubWarp& sub_warp);
  // The port's part: the access is counted; where its data goes.
  [[nodiscard]] RegisterArray& array(RegisterAccess& access);

  // Null: something else is behind the socket, or between the file and its banks.
  [[nodiscard]] RegisterFile* direct_file() {
    RegisterFile* const file = file_.of(registers);
    return file != nullptr && file->direct() ? file : nullptr;
  }

  WarpUnit& warps_;
  Retirement retirement_;
  OwnRow own_row_;
  link::BehindSocket<RegisterFile> file_;
  RegisterFile* direct_ = nullptr;  // with nothing in between; null: something else may be behind the socket
  RegisterArray* array_ = nullptr;  // direct view
};

}  // namespace heddle::hw
