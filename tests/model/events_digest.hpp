// Every event that a core tells its observers, folded into numbers: what two runs tell is compared by them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "hw/core/memory/memory_access.hpp"
#include "hw/state/core_state.hpp"
#include "tb/device/run_observer.hpp"

namespace heddle::test {

class EventsDigest final : public tb::RunObserver {
 public:
  explicit EventsDigest(bool knows_rests = false) : knows_rests_(knows_rests) {}
  // With the order of events. A number for so many events each, so that a difference says where it begins.
  [[nodiscard]] std::string text() const { return text_ + std::to_string(sum_) + ", " + std::to_string(count_); }
  // By kind of event, in any order, without what is not told again in the cycles of a rest.
  [[nodiscard]] std::string sums() const {
    std::string text;
    for (std::size_t event = 0; event != sums_.size(); ++event) {
      text += std::to_string(event) + ": " + std::to_string(sums_[event]) + "\n";
    }
    return text;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t rests() const { return rests_; }
  [[nodiscard]] bool knows_rests() const override { return knows_rests_; }
  void rests(const hw::CoreState&) override { ++rests_; }

  void launch_began(const hw::CoreState& core, hw::Cycle first) override { note(core, 1, first); }
  void launch_ended(const hw::CoreState& core, hw::Cycle end) override { note(core, 2, end); }
  void block_started(const hw::CoreState& core, unsigned slot) override { note(core, 3, slot); }
  void block_finished(const hw::CoreState& core, unsigned slot) override { note(core, 4, slot); }
  void warp_started(const hw::CoreState& core, const hw::Group& group) override { note(core, 5, group); }
  void group_changed(const hw::CoreState& core, const hw::Group& group, hw::GroupState before) override {
    note(core, 6, group, before);
  }
  void group_grown(const hw::CoreState& core, const hw::Group& group) override { note(core, 7, group); }
  void split_made(const hw::CoreState& core, const hw::Group& made, const hw::Group& rest,
                  hw::SplitCause cause) override {
    note(core, 8, made, rest, cause);
  }
  void split_ended(const hw::CoreState& core, const hw::Group& split, const hw::Group& into,
                   hw::SplitEnd end) override {
    note(core, 9, split, into, end);
  }
  void fetched(const hw::CoreState& core, const link::SubWarp& sub_warp) override {
    note(core, 10, sub_warp.group, sub_warp.pc);
  }
  void entered(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage stage) override {
    note(core, 11, sub_warp.group, sub_warp.pc, stage);
  }
  void formed(const hw::CoreState& core, const link::SubWarp& sub_warp, const link::SubWarp& instruction) override {
    note(core, 12, sub_warp, instruction.pc, core.groups[sub_warp.group].flights[sub_warp.flight].formed);
  }
  void left_out(const hw::CoreState& core, const hw::Group& group, std::uint32_t pc, unsigned row,
                hw::LaneMask lanes) override {
    note(core, 13, group, pc, row, lanes);
  }
  void held(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage stage, hw::IdleCause cause,
            hw::Cycle first, hw::Cycle cycles) override {
    note_in_order(core, 14, sub_warp.group, sub_warp.pc, stage, cause);
    note_cycles(core, 14, first, cycles, sub_warp.group, sub_warp.pc, stage, cause);
  }
  void former_worked(const hw::CoreState& core, const link::SubWarp& instruction, const hw::FormerWork& work) override {
    note_in_order(core, 15, instruction.group, work.decoded.instruction.op, work.formed);
    for (std::size_t row = 0; row != work.left.size(); ++row) {
      note_in_order(core, 16, work.left[row], work.pending[row]);
    }
  }
  void read(const hw::CoreState& core, const link::SubWarp& sub_warp) override {
    note(core, 17, sub_warp, sub_warp.executing);
  }
  void in_memory(const hw::CoreState& core, const link::SubWarp& sub_warp) override {
    note_in_order(core, 18, sub_warp, sub_warp.executing);
  }
  void issued(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::Cycle last) override {
    note(core, 19, sub_warp, sub_warp.executing, last);
    note_operands(core, sub_warp);
  }
  void began(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::Cycle last) override {
    note(core, 20, sub_warp, last);
  }
  void retired(const hw::CoreState& core, const link::SubWarp& sub_warp) override {
    note(core, 21, sub_warp, sub_warp.executing);
  }
  void completed(const hw::CoreState& core, const hw::Group& group, const hw::Completion& completion) override {
    note(core, 22, group, completion.pc, completion.decoded->instruction.op, completion.sub_warps,
         completion.conditional, completion.diverged);
  }
  void accessed(const hw::CoreState& core, const hw::MemoryAccess& access, hw::Cycle scratchpad_last) override {
    note(core, 23, *access.sub_warp, access.lanes, access.count, scratchpad_last);
    note_operands(core, *access.sub_warp);
  }
  void line(const hw::CoreState& core, const hw::MemoryAccess& access, unsigned line,
            hw::LineOutcome outcome) override {
    note_in_order(core, 24, *access.sub_warp, line, outcome);
    if (outcome != hw::LineOutcome::refused) {
      sums_[24] += sum_of(core.index, core.now, access.sub_warp->pc, line, outcome);
    }
  }
  void line_came(const hw::CoreState& core, const hw::MemoryAccess&, std::uint64_t address) override {
    note(core, 25, address);
  }
  void put_aside(const hw::CoreState& core, const link::SubWarp& sub_warp) override { note(core, 26, sub_warp); }
  void gathered(const hw::CoreState& core, const link::SubWarp& sub_warp) override { note(core, 27, sub_warp); }
  void parted(const hw::CoreState& core, const link::SubWarp& part, const link::SubWarp& rest) override {
    note(core, 28, part, rest.lanes);
  }
  void cycle_ended(const hw::CoreState& core, const hw::CycleEnd& end) override {
    note_in_order(core, 29, end.fetch, end.fetch_waits, end.put_aside, end.gathered, end.complex_waiting,
                  end.queue_places);
  }
  void sleeps(const hw::CoreState& core, hw::Cycle from, std::span<const hw::IdleCause> first,
              hw::IdleCause cause) override {
    note_in_order(core, 30, from, cause);
    for (const hw::IdleCause earlier : first) {
      note_in_order(core, 31, earlier);
    }
  }
  void idle(const hw::CoreState& core, hw::Cycle first, hw::Cycle cycles, hw::IdleCause cause) override {
    note_in_order(core, 32, first, cycles, cause);
    note_cycles(core, 32, first, cycles, cause);
  }

 private:
  static constexpr std::uint64_t kChunk = 20'000;

  template <class... Values>
  void note(const hw::CoreState& core, unsigned event, const Values&... values) {
    note_in_order(core, event, values...);
    sums_[event] += sum_of(core.index, core.now, values...);
  }
  template <class... Values>
  void note_in_order(const hw::CoreState& core, unsigned event, const Values&... values) {
    sum_ = sum_of(sum_, event, core.index, core.now, values...);
    if (++count_ % kChunk == 0) {
      text_ += std::to_string(sum_) + " by cycle " + std::to_string(core.now) + "\n";
    }
  }
  template <class... Values>
  void note_cycles(const hw::CoreState& core, unsigned event, hw::Cycle first, hw::Cycle cycles,
                   const Values&... values) {
    for (hw::Cycle cycle = first; cycle != first + cycles; ++cycle) {
      sums_[event] += sum_of(core.index, cycle, values...);
    }
  }
  template <class... Values>
  [[nodiscard]] static std::uint64_t sum_of(const Values&... values) {
    std::uint64_t sum = 1;
    (add(sum, values), ...);
    return sum;
  }
  template <class Value>
  static void add(std::uint64_t& sum, const Value& value) {
    sum = (sum ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15ULL;
    sum ^= sum >> 29U;
  }
  static void add(std::uint64_t& sum, const hw::Group& group) {
    add(sum, group.id);
    add(sum, group.state);
    add(sum, group.pc);
    for (const hw::LaneMask row : group.active) {
      add(sum, row);
    }
  }
  static void add(std::uint64_t& sum, const link::SubWarp& sub_warp) {
    add(sum, sub_warp.group);
    add(sum, sub_warp.pc);
    add(sum, sub_warp.decoded->instruction.op);
    add(sum, sub_warp.lanes);
    add(sum, sub_warp.last);
    add(sum, sub_warp.whole);
    add(sum, sub_warp.scalar);
    for (const unsigned lane : set_bits(sub_warp.lanes)) {
      add(sum, sub_warp.row_of(lane));
      add(sum, sub_warp.home_of(lane));
    }
  }
  // Addresses of an access are there when it is issued.
  void note_operands(const hw::CoreState& core, const link::SubWarp& sub_warp) {
    if (sub_warp.decoded->unit == isa::Unit::memory) {
      for (const unsigned lane : set_bits(sub_warp.executing)) {
        note(core, 33, sub_warp.address[lane]);
      }
    }
  }

  const bool knows_rests_;
  std::uint64_t sum_ = 1, count_ = 0, rests_ = 0;
  std::array<std::uint64_t, 34> sums_{};  // by event
  std::string text_;
};

}  // namespace heddle::test
