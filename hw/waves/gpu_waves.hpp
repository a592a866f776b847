// The waves of a whole GPU, made from the machine alone: the catalogue can be read without elaborating anything.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "hw/waves/core_waves.hpp"
#include "hw/waves/memory_waves.hpp"
#include "tlm/signal_catalogue.hpp"

namespace heddle::hw {

class Gpu;

// An observer of the GPU: after attach() it wants its events (Gpu::observe, or tb::DeviceOptions::observers), and
// dram(c) the events of channel c.
class GpuWaves final : public CoreObserver {
 public:
  // `name`: of the GPU's module, from the top.
  explicit GpuWaves(const Machine& machine, const std::string& name = "gpu");

  [[nodiscard]] const link::SignalCatalogue& catalogue() const { return catalogue_; }
  // What happens from now on is not shown: no file records it any more. The GPU's units are watched no more, its cores
  // and channels by who has joined them no longer than that likes.
  void silence();
  // Joins the waves to a GPU that has been elaborated for the machine, and gives the waves that a file has taken their
  // first values: to the units of which it has taken any. Outlives the GPU's last cycle. `later`: whoever observes the
  // cores will join them (joined()), and caches and interconnect are watched from then on; a wave has no value before
  // it changes.
  void attach(Gpu& gpu, bool later = false);
  // From now on, unless they are watched already.
  void watch_caches();
  // A file has taken waves that change in cores' turns. Those of L2 and memory channels do not; where there are no
  // others, cores may be ahead of each other.
  [[nodiscard]] bool shows_cores() const { return shows_cores_; }
  // Of a channel of whose waves a file has taken any; null: of another one.
  [[nodiscard]] DramObserver* dram(unsigned channel) {
    return dram_[channel]->traced() ? dram_[channel].get() : nullptr;
  }

  // ---- CoreObserver
  void joined(const CoreState& core) override;
  void launch_ended(const CoreState& core, Cycle end) override;
  void block_started(const CoreState& core, unsigned block_slot) override;
  void block_finished(const CoreState& core, unsigned block_slot) override;
  void group_changed(const CoreState& core, const Group& group, GroupState before) override;
  void group_grown(const CoreState& core, const Group& group) override;
  void split_made(const CoreState& core, const Group& made, const Group& rest, SplitCause cause) override;
  void split_ended(const CoreState& core, const Group& split, const Group& into, SplitEnd end) override;
  void fetched(const CoreState& core, const link::SubWarp& sub_warp) override;
  void entered(const CoreState& core, const link::SubWarp& sub_warp, CoreStage stage) override;
  void formed(const CoreState& core, const link::SubWarp& sub_warp, const link::SubWarp& instruction) override;
  void former_worked(const CoreState& core, const link::SubWarp& instruction, const FormerWork& work) override;
  void held(const CoreState& core, const link::SubWarp& sub_warp, CoreStage stage, IdleCause cause, Cycle first,
            Cycle cycles) override;
  void read(const CoreState& core, const link::SubWarp& sub_warp) override;
  void issued(const CoreState& core, const link::SubWarp& sub_warp, Cycle last) override;
  void began(const CoreState& core, const link::SubWarp& sub_warp, Cycle last) override;
  void in_memory(const CoreState& core, const link::SubWarp& sub_warp) override;
  void accessed(const CoreState& core, const MemoryAccess& access, Cycle scratchpad_last) override;
  void retired(const CoreState& core, const link::SubWarp& sub_warp) override;
  void completed(const CoreState& core, const Group& group, const Completion& completion) override;
  void cycle_ended(const CoreState& core, const CycleEnd& end) override;
  // Not where several sub-cores share caches that are shown: what they are refused is shown in its cycle.
  [[nodiscard]] bool knows_rests() const override;
  void rests(const CoreState& core) override;
  void rested(const CoreState& core, Cycle now) override;
  void sleeps(const CoreState& core, Cycle from, std::span<const IdleCause> first, IdleCause cause) override;
  void idle(const CoreState& core, Cycle first, Cycle cycles, IdleCause cause) override;

 private:
  const Machine machine_;
  std::vector<std::unique_ptr<CoreWaves>> cores_;
  std::unique_ptr<PoolWaves> pool_;  // null: the machine has no global scheduler
  std::unique_ptr<NocWaves> noc_;
  std::vector<std::unique_ptr<L2Waves>> l2_;
  std::vector<std::unique_ptr<HomeWaves>> homes_;  // empty: the coherence protocol has none
  std::vector<std::unique_ptr<DramWaves>> dram_;
  // Null: they are shown no more.
  [[nodiscard]] CoreWaves* shown(const CoreState& core) { return silent_ ? nullptr : cores_[core.index].get(); }

  bool silent_ = false;
  bool watches_caches_ = false;  // and the interconnect
  bool shows_cores_ = false;
  Gpu* gpu_ = nullptr;  // whose units are watched; null: none are
  link::SignalCatalogue catalogue_;
};

}  // namespace heddle::hw
