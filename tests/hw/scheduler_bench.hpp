// A warp scheduler alone, before groups whose states a test sets.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <vector>

#include "hw/schedule/scheduler.hpp"

namespace heddle::hw::test {

class Scheduler : public ::testing::Test {
 protected:
  void build(const char* name, unsigned warps) {
    groups_ = std::make_unique<GroupTable>(warps, 1);
    scheduler_ = Registry<WarpScheduler>::instance().make(name, {*groups_, core_});
    groups_->observe(scheduler_.get());
    for (GroupId id = 0; id < warps; ++id) {
      started(id, id);
    }
  }
  // It started as the `age`-th; it is ready.
  void started(GroupId id, std::uint64_t age) {
    state(id, GroupState::free);
    (*groups_)[id].age = age;
    state(id, GroupState::ready);
  }
  void state(GroupId id, GroupState state) { groups_->set_state((*groups_)[id], state); }
  void all(std::initializer_list<GroupId> ids, GroupState to) {
    for (const GroupId id : ids) {
      state(id, to);
    }
  }
  // Fetches `count` times; a fetched warp is in flight, and back after the others have been fetched.
  std::vector<int> fetch(unsigned count, bool back = true) {
    std::vector<int> picked;
    for (unsigned i = 0; i < count; ++i) {
      const MaybeGroup id = scheduler_->pick(now_++);
      picked.push_back(id ? static_cast<int>(*id) : -1);
      if (id && !back) {
        state(*id, GroupState::in_flight);
      }
    }
    return picked;
  }

  CoreParameters core_;
  std::unique_ptr<GroupTable> groups_;
  std::unique_ptr<WarpScheduler> scheduler_;
  Cycle now_ = 0;
};

}  // namespace heddle::hw::test
