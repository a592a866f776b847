// Write-back stage and divergence unit: results into the register banks, retirement, and, once an instruction has
// completed in all its sub-warps, the group's next PC and active mask.
//
//   in         target, WarpProtocol        from memory, in pipeline order
//   returns    target, WarpProtocol        accesses that had been put aside; a write port of their own
//   registers  initiator, RegisterProtocol timing by b_transport, data by direct memory
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hw/core/barrier_unit.hpp"
#include "hw/core/stage.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/registers/register_file.hpp"

namespace heddle::hw {

// The second input: completed accesses, one per cycle.
class ReturnPort final : public ReceivingStage {
 public:
  ReturnPort(const sc_core::sc_module_name& name, CoreState& state)
      : ReceivingStage(name, state, 1, CoreStage::returns) {}
  [[nodiscard]] link::SubWarp* take(Cycle now) {
    link::SubWarp* const sub_warp = latch_.front(now);
    if (sub_warp != nullptr) {
      latch_.pop();
    }
    return sub_warp;
  }
};

class WriteBackStage final : public ReceivingStage,
                             private ::tlm::tlm_bw_transport_if<RegisterProtocol>,
                             private GroupMoves {
 public:
  WriteBackStage(const sc_core::sc_module_name& name, CoreState& state, std::unique_ptr<Divergence> divergence,
                 std::unique_ptr<IssueDiscipline> issue);

  ReturnPort returns;
  RegisterInitiatorSocket registers;

  void tick(Cycle now);
  // A warp of a new block begins: masks, block and rows of the group are set.
  void start(Group& group);
  void start_block(unsigned slot) { barriers_.clear(slot); }
  [[nodiscard]] bool idle() const { return empty() && returns.empty(); }
  [[nodiscard]] Divergence& divergence() { return *divergence_; }
  // Every live group spins, or waits at a barrier, and at least one spins (WatchdogParameters).
  [[nodiscard]] bool livelocked() const;
  // What every live group of the core waits for, for deadlock and livelock messages.
  [[nodiscard]] std::string describe_waiting() const;
  // Why the core's threads can never go on, when nothing is outstanding: a barrier that cannot complete.
  [[nodiscard]] std::optional<BarrierUnit::Stuck> stuck() const { return barriers_.stuck(state_); }
  void reset();
  // Another mechanism and discipline, for another table of groups. Between launches.
  void diverge_by(std::unique_ptr<Divergence> divergence, std::unique_ptr<IssueDiscipline> issue);

  std::function<void(unsigned block_slot)> block_finished;  // its last thread has exited

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(RegisterAccess&, link::WarpPhase&, sc_core::sc_time&) override {
    throw InternalError("the register file's socket is blocking");
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override { array_ = nullptr; }

  void run(Group& group, unsigned delay) override;
  void wait(Group& group) override;
  void park(Group& group) override;
  void free(Group& group) override;
  [[nodiscard]] Group& allocate(const Group& like) override;
  void hand_over(const Group& from, unsigned block_slot, const Group& to) override;
  [[nodiscard]] unsigned block_of(unsigned register_row) const override;

  void retire(link::SubWarp& sub_warp);
  [[nodiscard]] bool arrive(link::SubWarp& sub_warp);
  void write(const link::SubWarp& sub_warp, LaneMask lanes);
  void hash(const link::SubWarp& sub_warp, LaneMask lanes);
  void record(const link::SubWarp& sub_warp);
  void complete(Group& group, const link::DecodedInstruction& decoded);
  void release(unsigned block_slot);
  void hash_group(const Group& group, const link::SubWarp& sub_warp);
  void hash_jump(const Group& group, unsigned row, LaneMask lanes, const link::DecodedInstruction& decoded,
                 std::uint32_t pc);
  void retire_late_jumps(const Group& group, unsigned row, LaneMask lanes);
  [[nodiscard]] std::vector<unsigned> blocks_of(const link::SubWarp& sub_warp) const;
  void exit_threads(const Group& group);
  void leave_blocks();
  [[nodiscard]] std::uint64_t fingerprint(const Group& group) const;
  void watch_loop(Group& group, std::uint32_t pc, const isa::Instruction& instruction);

  std::unique_ptr<Divergence> divergence_;
  std::unique_ptr<IssueDiscipline> issue_;
  const bool overlaps_;  // IssueDiscipline::Traits
  BarrierUnit barriers_;
  RegisterArray* array_ = nullptr;  // direct view
  struct Leaving {
    unsigned block_slot;
    unsigned threads;
  };
  // An unconditional branch that has not retired yet in these threads of its group, one mask per row.
  struct LateJump {
    GroupId group;
    const link::DecodedInstruction* decoded;
    std::uint32_t pc;
    std::vector<LaneMask> rows;
  };
  std::vector<LateJump> late_jumps_;
  std::vector<Leaving> leaving_;  // the threads of the exit that completes, by block
};

}  // namespace heddle::hw
