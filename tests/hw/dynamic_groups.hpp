// What stands around a divergence mechanism that makes and frees groups in its own test: the table, the decisions, the
// blocks of the register rows.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "hw/divergence/divergence.hpp"

namespace heddle::hw::test {

class DynamicGroups : public GroupMoves {
 public:
  DynamicGroups(const char* mechanism, const CoreParameters& core, unsigned rows_per_block,
                CoreStatistics* statistics = nullptr)
      : core_(core), rows_per_block_(rows_per_block) {
    divergence = Registry<Divergence>::instance().make(mechanism, {groups, core_, statistics});
    groups.resize(divergence->groups(core_.threads), 1);
  }

  void run(Group& group, unsigned delay) override {
    delays.push_back(delay);
    groups.set_state(group, group.active[0] == 0 ? GroupState::free : GroupState::ready);
  }
  void wait(Group& group) override { groups.set_state(group, GroupState::barrier); }
  void park(Group& group) override { groups.set_state(group, GroupState::parked); }
  void free(Group& group) override {
    group.active[0] = 0;
    groups.set_state(group, GroupState::free);
  }
  Group& allocate(const Group& like) override {
    Group* const group = groups.find_free();
    if (group == nullptr) {
      throw InternalError("no free group");
    }
    group->block_slot = like.block_slot;
    group->part = like.part;
    group->dynamic = true;
    group->age = groups.next_age();
    group->progress = like.progress;
    group->progress_before = like.progress_before;
    group->active[0] = 0;
    groups.set_state(*group, GroupState::in_flight);
    return *group;
  }
  void hand_over(const Group& from, unsigned block_slot, const Group& to) override {
    handed_over.push_back({from.id, block_slot, to.id});
  }
  [[nodiscard]] unsigned block_of(const Place& place) const override { return place.row / rows_per_block_; }
  [[nodiscard]] Cycle now() const override { return cycle; }
  void merge(Group& from, Group& to) override {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      if (((from.active[0] >> lane) & 1U) != 0) {
        to.lane_row[lane] = from.lane_row[lane];
        to.lane_home[lane] = from.lane_home[lane];
      }
    }
    to.active[0] |= from.active[0];
    to.falls_back_to(from);
    free(from);
  }
  [[nodiscard]] LaneMask answered(const Group& group) const override {
    const auto found = answers.find(group.id);
    return found == answers.end() ? 0 : group.active[0] & found->second;
  }
  Group* part(Group& group) override {
    const LaneMask leaving = answered(group);
    if (leaving == 0 || leaving == group.active[0]) {
      return nullptr;
    }
    Group& to = allocate(group);
    to.warp_in_block = group.warp_in_block;
    to.first_row = group.first_row;
    to.pc = group.pc;
    to.lane_row = group.lane_row;
    to.lane_home = group.lane_home;
    to.active[0] = leaving;
    group.active[0] &= ~leaving;
    answers.erase(group.id);
    return &to;
  }
  // "2 of 0: branch" and "2 to 0: pc", as they were told.
  void split_made(const Group& made, const Group& rest, SplitCause cause) override {
    told.push_back(std::to_string(made.id) + " of " + std::to_string(rest.id) + ": " + std::string(name_of(cause)));
  }
  void split_ended(const Group& split, const Group& into, SplitEnd end) override {
    told.push_back(std::to_string(split.id) + " to " + std::to_string(into.id) + ": " + std::string(name_of(end)));
  }
  std::vector<std::string> told;
  Cycle cycle = 0;
  bool past_scratchpad = false;  // the mark of branches and barriers
  // The group's access to memory is put aside, with answers for these lanes.
  void put_aside(Group& group, LaneMask lanes) {
    groups.set_state(group, GroupState::memory);
    answers[group.id] = lanes;
    divergence->accesses(group, *this);
    divergence->misses(group, *this);
    divergence->memory_diverged(group, *this);
  }

  // A warp of a block starts: the threads of one register row.
  Group& start(unsigned block, unsigned warp, LaneMask active) {
    Group& group = *groups.find_free();
    group.block_slot = block;
    group.warp_in_block = group.warp_here = warp;
    group.dynamic = true;
    group.first_row = static_cast<std::uint16_t>(block * rows_per_block_ + warp);
    group.lane_row.fill(group.first_row);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      group.lane_home[lane] = static_cast<std::uint8_t>(lane);
    }
    group.age = groups.next_age();
    group.active[0] = active;
    groups.set_state(group, GroupState::in_flight);
    divergence->start(group);
    const std::size_t before = delays.size();
    divergence->started(group, *this);
    delays.resize(before);
    return group;
  }
  bool branch(Group& group, std::uint32_t target, std::uint32_t reconvergence, LaneMask taken, bool marked = false) {
    isa::Instruction instruction;
    instruction.op = isa::Op::BRA;
    instruction.guard.reg = 0;
    instruction.target = target;
    instruction.reconvergence = reconvergence;
    instruction.subdivides = marked;
    instruction.past_scratchpad = past_scratchpad;
    return complete(group, instruction, taken, 0, 0);
  }
  void plain(Group& group) { complete(group, {}, 0, 0, 0); }
  void access(Group& group) {
    isa::Instruction instruction;
    instruction.op = isa::Op::LD_GLOBAL;
    complete(group, instruction, 0, 0, 0);
  }
  void exit(Group& group, LaneMask lanes) {
    isa::Instruction instruction;
    instruction.op = isa::Op::EXIT;
    complete(group, instruction, 0, lanes, 0);
  }
  void barrier(Group& group, LaneMask arrivals) {
    isa::Instruction instruction;
    instruction.op = isa::Op::BAR_SYNC;
    instruction.past_scratchpad = past_scratchpad;
    complete(group, instruction, 0, 0, arrivals);
  }

  // The live groups as "pc:lane/row lane/row...", in the order of their numbers; displaced threads as "lane/row.home".
  [[nodiscard]] std::vector<std::string> live() const {
    std::vector<std::string> texts;
    for (const Group& group : groups.all()) {
      if (group.state == GroupState::free) {
        continue;
      }
      std::string text = std::to_string(group.pc) + ":";
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        if (((group.active[0] >> lane) & 1U) != 0) {
          text += " " + std::to_string(lane) + "/" + std::to_string(group.lane_row[lane]);
          if (group.lane_home[lane] != lane) {
            text += "." + std::to_string(group.lane_home[lane]);
          }
        }
      }
      texts.push_back(text);
    }
    return texts;
  }
  // The group that runs at a PC.
  [[nodiscard]] Group& at(std::uint32_t pc, GroupState state = GroupState::ready) {
    for (GroupId id = 0; id < groups.size(); ++id) {
      if (groups[id].pc == pc && groups[id].state == state) {
        return groups[id];
      }
    }
    throw InternalError("no group at PC " + std::to_string(pc));
  }

  struct HandOver {
    GroupId from;
    unsigned block;
    GroupId to;
    friend bool operator==(const HandOver&, const HandOver&) = default;
  };
  GroupTable groups{1, 1};
  std::unique_ptr<Divergence> divergence;
  std::vector<unsigned> delays;
  std::vector<HandOver> handed_over;
  std::map<GroupId, LaneMask> answers;

 private:
  bool complete(Group& group, const isa::Instruction& instruction, LaneMask taken, LaneMask exited, LaneMask arrivals) {
    groups.set_state(group, GroupState::in_flight);
    const std::vector<LaneMask> taken_rows = {taken};
    const std::vector<LaneMask> exited_rows = {exited};
    const std::vector<LaneMask> arrival_rows = {arrivals};
    const bool diverged = divergence->complete(group, {instruction, taken_rows, exited_rows, arrival_rows}, *this);
    if (const std::string wrong = divergence->inconsistency(group); !wrong.empty()) {
      throw InternalError(wrong);
    }
    return diverged;
  }

  CoreParameters core_;
  unsigned rows_per_block_;
};

}  // namespace heddle::hw::test
