// The groups of a table that may be fetched, by the PC at which they stand: for mechanisms and schedulers that ask who
// stands where. Each PC has its groups in the order of their ages. No SystemC.
//
//   enter, leave, grown   a group becomes ready, is ready no more, has other threads than before
//   oldest, youngest, each_at, each_pc   questions
//
// A group's place is looked for from the youngest on: of groups that go from one PC to the next the older ones are
// usually fetched first, and so are there already.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/state/maybe_group.hpp"

namespace heddle::hw {

class ReadyByPc {
 public:
  explicit ReadyByPc(unsigned groups) : of_(groups) {}

  void enter(GroupId id, std::uint32_t pc, std::uint64_t age, unsigned threads);
  void leave(GroupId id);
  void grown(GroupId id, unsigned threads) {
    Entry& entry = of_[id];
    at_[entry.pc].threads += threads - entry.threads;
    entry.threads = threads;
  }

  // The groups at a PC; none: no group stands there.
  [[nodiscard]] MaybeGroup oldest(std::uint32_t pc) const { return known(pc) ? at_[pc].oldest : MaybeGroup(); }
  [[nodiscard]] MaybeGroup youngest(std::uint32_t pc) const { return known(pc) ? at_[pc].youngest : MaybeGroup(); }
  // visit(GroupId, threads) for each, the oldest first, as long as it returns true.
  template <class Visit>
  void each_at(std::uint32_t pc, Visit visit) const {
    for (MaybeGroup id = oldest(pc); id && visit(*id, of_[*id].threads); id = of_[*id].younger) {
    }
  }
  // visit(pc, threads, groups) for each PC at which a group stands, in no particular order.
  template <class Visit>
  void each_pc(Visit visit) const {
    for (const std::uint32_t pc : pcs_) {
      visit(pc, at_[pc].threads, at_[pc].groups);
    }
  }

 private:
  [[nodiscard]] bool known(std::uint32_t pc) const { return pc < at_.size(); }
  struct Entry {
    MaybeGroup older, younger;  // at the same PC
    std::uint32_t pc = 0;
    unsigned threads = 0;
    std::uint64_t age = 0;
  };
  struct At {
    MaybeGroup oldest, youngest;
    unsigned groups = 0;
    unsigned threads = 0;     // of all groups there
    std::uint32_t place = 0;  // in pcs_
  };
  std::vector<Entry> of_;           // by group
  std::vector<At> at_;              // by PC
  std::vector<std::uint32_t> pcs_;  // at which a group stands
};

}  // namespace heddle::hw
