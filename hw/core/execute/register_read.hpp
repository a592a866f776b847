// Register read stage: the operands of a sub-warp, one row per lane's bank; of several with disjoint lanes in one
// cycle.
//
//   in         target, WarpProtocol         from decode
//   registers  initiator, RegisterProtocol  timing by b_transport, data by direct memory
//   out        initiator, WarpProtocol      to execute
//
// Where registers are in banks of their own (registers.banks), a sub-warp whose results from earlier instructions are
// there waits at the stage's head until its operands find ports (hw/registers/operand_reads.hpp), and holds up the
// stages before it. What is read it reads when it goes on.
#pragma once

#include <optional>

#include "hw/core/pipeline/stage.hpp"
#include "hw/core/warps/warp_unit.hpp"
#include "hw/effects/warp_exchange.hpp"
#include "hw/registers/operand_reads.hpp"
#include "hw/registers/register_file.hpp"

namespace heddle::hw {

class RegisterReadStage final : public ReceivingStage, private ::tlm::tlm_bw_transport_if<RegisterProtocol> {
 public:
  RegisterReadStage(const sc_core::sc_module_name& name, CoreState& state, link::Clock clock);

  RegisterInitiatorSocket registers;
  StageOutput out;

  void tick(Cycle now) override;
  After turn(Cycle now) override { return turn_of(*this, now); }
  [[nodiscard]] bool idle() const override { return empty(); }
  // Results that a sub-warp waits for come by time where the functional units say that they are not stuck.
  [[nodiscard]] bool stuck(Cycle now) const override {
    return latch_.settled(now) && (latch_.empty() || waits_for_results_ || (read_done_ && now >= done_at_));
  }
  [[nodiscard]] bool counts_rests() const override { return interlocks_; }
  void rests(bool stopped) override {
    waits_at_rest_ = !stopped && waits_for_results_;
    if (waits_at_rest_) {
      state_.block_cause = IdleCause::pipeline;
    }
  }
  void waited(Cycle, Cycle cycles) override { state_.statistics.interlock_stalls += waits_at_rest_ ? cycles : 0; }
  void reset() override;
  // In a cycle, among the last 64, a sub-warp waited for ports of register banks.
  [[nodiscard]] bool lacked_ports(Cycle at) const {
    return at <= lacked_at_ && lacked_at_ - at < 64 && ((lacked_ >> (lacked_at_ - at)) & 1U) != 0;
  }
  [[nodiscard]] StageOutput* output() override { return &out; }
  // Who says whether a sub-warp's operands are there; they always are unless told
  // (IssueDiscipline::Traits::early_next_pc).
  void tell(WarpUnit& warps) { warps_ = &warps; }
  // Where something else than the register file is bound, it sees each access in its cycle, and may take its time.
  [[nodiscard]] bool sees_all() override {
    RegisterFile* const file = direct_file();
    return warps_ != nullptr || reads_ || file == nullptr || file->counts_by_warp();
  }
  [[nodiscard]] bool lets_by(const link::DecodedInstruction& decoded) const override { return !decoded.exchanges; }
  [[nodiscard]] bool works_in_row() const override { return true; }
  void work(link::SubWarp& sub_warp) override { read(sub_warp, sub_warp.begins - pipeline_->before_units(position_)); }
  void shows(link::SubWarp& sub_warp) override;
  void each_sub_warp(Visit visit) override;

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(RegisterAccess&, link::WarpPhase&, sc_core::sc_time&) override {
    throw InternalError("the register file's socket is blocking");
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override { array_ = nullptr; }
  // What reading the operands of a sub-warp in a cycle does.
  void read(link::SubWarp& sub_warp, Cycle now);
  // Reads for the first sub-warp and the ones beside it. False: one must wait, and the ones behind it do too.
  [[nodiscard]] bool read_all(link::SubWarp& first);
  // Whether its operands find ports in this cycle, which it then has.
  [[nodiscard]] bool takes_ports(const link::SubWarp& sub_warp);
  void lacks_ports(const link::SubWarp& sub_warp);
  // The port's part: the time that an access takes, and the direct view.
  void access_file(const link::SubWarp& sub_warp, const link::DecodedInstruction& decoded);

  // Null: something else is behind the socket, or between the file and its banks.
  [[nodiscard]] RegisterFile* direct_file() {
    RegisterFile* const file = file_.of(registers);
    return file != nullptr && file->direct() ? file : nullptr;
  }

  const link::Clock clock_;
  const bool interlocks_;  // operands may have to be waited for (IssueDiscipline::Traits::early_next_pc)
  WarpUnit* warps_ = nullptr;
  link::BehindSocket<RegisterFile> file_;
  RegisterArray* array_ = nullptr;  // direct view
  WarpExchange exchange_;
  bool read_done_ = false;           // the sub-warp in the latch has its operands, and so have the ones beside it
  link::SubWarp* unread_ = nullptr;  // the first sub-warp that had to wait
  Cycle done_at_ = 0;
  bool waits_for_results_ = false;  // in the latest cycle: of earlier instructions
  bool waits_at_rest_ = false;
  std::optional<OperandReads> reads_;               // none: operands always find ports
  const link::SubWarp* waits_for_ports_ = nullptr;  // its results from earlier instructions are there
  OperandReads::Need need_;                         // of that sub-warp, or of the one that is being read
  std::uint64_t lacked_ = 0;                        // bit i: in cycle lacked_at_ - i a sub-warp waited for ports
  Cycle lacked_at_ = 0;
};

}  // namespace heddle::hw
