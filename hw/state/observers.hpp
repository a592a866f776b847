// Several observers of one GPU: every event goes to each, in the order in which they were added.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "hw/state/observer.hpp"

namespace heddle::hw {

class CoreObservers final : public CoreObserver {
 public:
  // Observers outlive this.
  void add(CoreObserver& observer) { observers_.push_back(&observer); }
  [[nodiscard]] bool empty() const { return observers_.empty(); }
  // What to hand to Gpu::observe: null without observers, the observer itself where there is only one.
  [[nodiscard]] CoreObserver* get() {
    return observers_.empty() ? nullptr : observers_.size() == 1 ? observers_.front() : this;
  }

  // The parts that the observers have for the core.
  [[nodiscard]] CoreObserver& of_core(unsigned core) override {
    CoreObservers& part = *parts_.emplace_back(std::make_unique<CoreObservers>());
    for (CoreObserver* const observer : observers_) {
      part.add(observer->of_core(core));
    }
    return *part.get();
  }

  void launch_began(const CoreState& core, Cycle first) override { tell(&CoreObserver::launch_began, core, first); }
  void launch_ended(const CoreState& core, Cycle end) override { tell(&CoreObserver::launch_ended, core, end); }
  void block_started(const CoreState& core, unsigned block_slot) override {
    tell(&CoreObserver::block_started, core, block_slot);
  }
  void block_finished(const CoreState& core, unsigned block_slot) override {
    tell(&CoreObserver::block_finished, core, block_slot);
  }
  void warp_started(const CoreState& core, const Group& group) override {
    tell(&CoreObserver::warp_started, core, group);
  }
  void group_changed(const CoreState& core, const Group& group, GroupState before) override {
    tell(&CoreObserver::group_changed, core, group, before);
  }
  void group_grown(const CoreState& core, const Group& group) override {
    tell(&CoreObserver::group_grown, core, group);
  }
  void split_made(const CoreState& core, const Group& made, const Group& rest, SplitCause cause) override {
    tell(&CoreObserver::split_made, core, made, rest, cause);
  }
  void split_ended(const CoreState& core, const Group& split, const Group& into, SplitEnd end) override {
    tell(&CoreObserver::split_ended, core, split, into, end);
  }
  void former_worked(const CoreState& core, const link::SubWarp& instruction, const FormerWork& work) override {
    tell(&CoreObserver::former_worked, core, instruction, work);
  }
  void read(const CoreState& core, const link::SubWarp& sub_warp) override {
    tell(&CoreObserver::read, core, sub_warp);
  }
  void in_memory(const CoreState& core, const link::SubWarp& sub_warp) override {
    tell(&CoreObserver::in_memory, core, sub_warp);
  }
  void cycle_ended(const CoreState& core, const CycleEnd& end) override { tell(&CoreObserver::cycle_ended, core, end); }
  void sleeps(const CoreState& core, Cycle from, std::span<const IdleCause> first, IdleCause cause) override {
    tell(&CoreObserver::sleeps, core, from, first, cause);
  }
  void fetched(const CoreState& core, const link::SubWarp& sub_warp) override {
    tell(&CoreObserver::fetched, core, sub_warp);
  }
  void entered(const CoreState& core, const link::SubWarp& sub_warp, CoreStage stage) override {
    tell(&CoreObserver::entered, core, sub_warp, stage);
  }
  void formed(const CoreState& core, const link::SubWarp& sub_warp, const link::SubWarp& instruction) override {
    tell(&CoreObserver::formed, core, sub_warp, instruction);
  }
  void left_out(const CoreState& core, const Group& group, std::uint32_t pc, unsigned row, LaneMask lanes) override {
    tell(&CoreObserver::left_out, core, group, pc, row, lanes);
  }
  void held(const CoreState& core, const link::SubWarp& sub_warp, CoreStage stage, IdleCause cause, Cycle first,
            Cycle cycles) override {
    tell(&CoreObserver::held, core, sub_warp, stage, cause, first, cycles);
  }
  [[nodiscard]] bool knows_rests() const override {
    return std::all_of(observers_.begin(), observers_.end(),
                       [](const CoreObserver* observer) { return observer->knows_rests(); });
  }
  void rests(const CoreState& core) override { tell(&CoreObserver::rests, core); }
  void rested(const CoreState& core, Cycle now) override { tell(&CoreObserver::rested, core, now); }
  void issued(const CoreState& core, const link::SubWarp& sub_warp, Cycle last) override {
    tell(&CoreObserver::issued, core, sub_warp, last);
  }
  void began(const CoreState& core, const link::SubWarp& sub_warp, Cycle last) override {
    tell(&CoreObserver::began, core, sub_warp, last);
  }
  void retired(const CoreState& core, const link::SubWarp& sub_warp) override {
    tell(&CoreObserver::retired, core, sub_warp);
  }
  void completed(const CoreState& core, const Group& group, const Completion& completion) override {
    tell(&CoreObserver::completed, core, group, completion);
  }
  void accessed(const CoreState& core, const MemoryAccess& access, Cycle scratchpad_last) override {
    tell(&CoreObserver::accessed, core, access, scratchpad_last);
  }
  void line(const CoreState& core, const MemoryAccess& access, unsigned line, LineOutcome outcome) override {
    tell(&CoreObserver::line, core, access, line, outcome);
  }
  void line_came(const CoreState& core, const MemoryAccess& access, std::uint64_t address) override {
    tell(&CoreObserver::line_came, core, access, address);
  }
  void put_aside(const CoreState& core, const link::SubWarp& sub_warp) override {
    tell(&CoreObserver::put_aside, core, sub_warp);
  }
  void gathered(const CoreState& core, const link::SubWarp& sub_warp) override {
    tell(&CoreObserver::gathered, core, sub_warp);
  }
  void parted(const CoreState& core, const link::SubWarp& part, const link::SubWarp& rest) override {
    tell(&CoreObserver::parted, core, part, rest);
  }
  void idle(const CoreState& core, Cycle first, Cycle cycles, IdleCause cause) override {
    tell(&CoreObserver::idle, core, first, cycles, cause);
  }

 private:
  template <class Method, class... Values>
  void tell(Method method, const CoreState& core, const Values&... values) {
    for (CoreObserver* const observer : observers_) {
      (observer->*method)(core, values...);
    }
  }
  std::vector<CoreObserver*> observers_;
  std::vector<std::unique_ptr<CoreObservers>> parts_;  // by core
};

}  // namespace heddle::hw
