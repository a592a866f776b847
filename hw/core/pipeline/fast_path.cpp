#include "hw/core/pipeline/fast_path.hpp"

#include <algorithm>
#include <utility>

#include "hw/coalesce/coalescer.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "hw/subwarp/former.hpp"

namespace heddle::hw {

FastPath::FastPath(CoreState& state, const Stages& stages)
    : state_(state),
      stages_(stages),
      to_decode_(state.machine.core.fetch_latency),
      to_read_(state.machine.core.decode_latency),
      to_execute_(state.machine.core.register_read_latency),
      execute_stages_(state.machine.core.execute_stages),
      keeps_row_(about<SubWarpFormer>(state.core.former).traits.keeps_row),
      own_row_(state, stages.registers.array()) {}

bool FastPath::usable(const Machine& machine) {
  const CoreParameters& core = machine.core;
  const IssueDiscipline::Traits& issue = about<IssueDiscipline>(core.issue).traits;
  const Divergence::Traits& mechanism = about<Divergence>(core.divergence).traits;
  const Cycle longest =
      Cycle{core.fetch_latency} + core.decode_latency + core.register_read_latency + 2 * core.execute_stages + 2;
  return !issue.overlaps && !issue.early_next_pc && !mechanism.parts_in_flight && !mechanism.mimd_lanes &&
         !about<Scalarisation>(core.scalar).traits.finds && !about<Coalescer>(core.coalescer).traits.gathers &&
         longest < Queue::kPlaces;
}

bool FastPath::reset() {
  retiring_.clear();
  accessing_.clear();
  held_ = known_ = false;
  last_leaves_ = 0;
  begins_.fill(0);
  unlanded_ = 1;
  from_decode_ = !keeps_row_ || state_.groups[0].rows() != 1;
  to_begin_ = (from_decode_ ? 0 : to_decode_) + to_read_ + to_execute_;
  return state_.observer == nullptr && state_.replay == nullptr;
}

// After the work of a cycle in which nothing stays where it is: when the last sub-warp leaves the execute stages that
// is in them or before them. Nothing is here.
Cycle FastPath::last_in_stages(Cycle now) const {
  Cycle last = stages_.execute.last_leaves(now);
  const auto follows = [&](const link::DecodedInstruction* decoded, Cycle begins) {
    if (decoded == nullptr || stages_.execute.in_order(*decoded)) {
      last = std::max(begins + execute_stages_ - 1, last + 1);
    }
  };
  stages_.execute.each([&](const link::SubWarp& each, Cycle visible) { follows(each.decoded, visible); });
  stages_.register_read.each(
      [&](const link::SubWarp& each, Cycle visible) { follows(each.decoded, visible + to_execute_); });
  if (!from_decode_) {
    stages_.decode.each([&](const link::SubWarp& each, Cycle visible) {
      follows(stages_.decode.look_up(each.pc, each.word), visible + to_read_ + to_execute_);
    });
  }
  return last;
}

bool FastPath::takes(const Group& group, std::uint64_t word) {
  const link::DecodedInstruction* const decoded = stages_.decode.look_up(group.pc, word);
  if (decoded == nullptr || held_ || stages_.decode.full()) {
    known_ = false;
    return false;
  }
  Entry* const entry = enter(*decoded, begins(state_.now));
  if (entry == nullptr) {
    return false;
  }
  entry->formed = nullptr;
  entry->group = group.id;
  entry->pc = group.pc;
  entry->flight = static_cast<std::uint8_t>(group.latest);
  return true;
}

bool FastPath::takes(link::SubWarp& formed) {
  if (held_ || stages_.register_read.full()) {
    known_ = false;
    return false;
  }
  Entry* const entry = enter(*formed.decoded, begins(state_.now));
  if (entry == nullptr) {
    return false;
  }
  entry->formed = &formed;
  entry->group = formed.group;
  return true;
}

FastPath::Entry* FastPath::enter(const link::DecodedInstruction& decoded, Cycle begins) {
  if (!known_) {
    last_leaves_ = last_in_stages(state_.now);
    known_ = true;
  }
  if (!stages_.execute.in_order(decoded)) {
    return nullptr;
  }
  last_leaves_ = std::max(begins + execute_stages_ - 1, last_leaves_ + 1);
  const bool accesses = decoded.unit == isa::Unit::memory;
  if (decoded.exchanges || (!decoded.self_contained && !accesses)) {
    return nullptr;
  }
  begins_[begins % Queue::kPlaces] = begins;
  Entry& entry = (accesses ? accessing_ : retiring_).push();
  entry.begins = begins;
  entry.leaves = last_leaves_;
  entry.decoded = &decoded;
  return &entry;
}

// Of the entries that began before `now`: the cycle in which the last one leaves.
Cycle FastPath::begun_leave_until(Cycle now) const {
  Cycle leaves = 0;
  for (const Queue* const queue : {&retiring_, &accessing_}) {
    queue->from_youngest([&](const Entry& entry) {
      const bool begun = entry.begins < now;
      leaves = begun ? std::max(leaves, entry.leaves) : leaves;
      return !begun;
    });
  }
  return leaves;
}

void FastPath::tick(Cycle now, bool from_memory) {
  held_ = false;
  if (!from_memory) {
    if (!stages_.writeback.idle()) {
      stages_.writeback.tick(now);
    }
    if (!retiring_.empty() && retiring_.front().leaves + 2 == now) {
      retire();
    }
    if (!stages_.memory.idle()) {
      stages_.memory.tick(now);
    }
  }
  if (stages_.memory.occupied(now)) {
    stays(now, Done::memory);
  }
  if (stages_.execute.idle()) {
    stages_.execute.work_idle(now, serves(now));
  } else {
    if (stages_.execute.others_leave(now)) {
      stays(now, Done::memory);
    }
    stages_.execute.work(now, serves(now));
    if (stages_.execute.occupied(now)) {
      stays(now, Done::execute);
    }
  }
  if (!accessing_.empty() && accessing_.front().leaves == now) {
    hand_to_memory();
  }
  if (!stages_.register_read.empty()) {
    stages_.register_read.tick(now);
    if (stages_.register_read.occupied(now)) {
      stays(now, Done::register_read);
    }
  }
  if (!stages_.decode.idle()) {
    stages_.decode.tick(now);
    if (!from_decode_ && stages_.decode.blocked(now)) {
      stays(now, Done::decode);
    }
  }
  stages_.fetch.tick(now);
  if (!empty()) {
    state_.moved();
  }
}

void FastPath::stays(Cycle now, Done done) {
  held_ = true;
  known_ = false;
  if (!empty()) {
    land(now, done);
  }
}

// Its payload, as far as it had one: formed by decode, or deferred.
link::SubWarp& FastPath::payload(const Entry& entry) {
  link::SubWarp& sub_warp = entry.formed != nullptr ? *entry.formed : state_.pool.take();
  sub_warp.read_at = entry.begins - to_execute_;
  if (entry.formed == nullptr) {
    sub_warp.group = entry.group;
    sub_warp.pc = entry.pc;
    sub_warp.word = entry.decoded->word;
    sub_warp.flight = entry.flight;
    sub_warp.decoded = entry.decoded;
    sub_warp.deferred = true;
  }
  return sub_warp;
}

void FastPath::form(link::SubWarp& sub_warp) {
  if (std::exchange(sub_warp.deferred, false)) {
    stages_.decode.form_whole_row(sub_warp, state_.groups[sub_warp.group]);
  }
}

void FastPath::defer(link::SubWarp& sub_warp) const {
  const link::DecodedInstruction* const decoded = stages_.decode.look_up(sub_warp.pc, sub_warp.word);
  sub_warp.deferred = decoded != nullptr && stages_.execute.in_order(*decoded) &&
                      (decoded->self_contained || decoded->unit == isa::Unit::memory);
  if (sub_warp.deferred) {
    sub_warp.decoded = decoded;
  }
}

void FastPath::make_up(link::SubWarp& sub_warp) {
  form(sub_warp);
  stages_.register_read.read(sub_warp, sub_warp.read_at);
  stages_.execute.execute(sub_warp);
}

void FastPath::retire(link::SubWarp& sub_warp) {
  Group& group = state_.groups[sub_warp.group];
  if (const ThreadHome* const home = own_row_.home_of(*sub_warp.decoded, group)) {
    sub_warp.deferred = false;
    state_.pool.give_back(sub_warp);
    retire_row(*sub_warp.decoded, sub_warp.pc, group, *home, sub_warp.read_at);
    return;
  }
  make_up(sub_warp);
  stages_.writeback.retire(sub_warp);
}

// As far as the stages would have come with each by now. In decode that is nothing.
void FastPath::make_up_all() {
  const auto all = [this](link::SubWarp& sub_warp, Cycle = 0) {
    if (sub_warp.deferred) {
      make_up(sub_warp);
    }
  };
  stages_.writeback.each(all);
  stages_.memory.each(all);
  stages_.execute.each_running(all);
  stages_.execute.each([&](link::SubWarp& sub_warp, Cycle) {
    if (sub_warp.deferred) {
      form(sub_warp);
      stages_.register_read.read(sub_warp, sub_warp.read_at);
    }
  });
  bool head = true;
  stages_.register_read.each([&](link::SubWarp& sub_warp, Cycle) {
    if (sub_warp.deferred) {
      form(sub_warp);
      if (head && stages_.register_read.has_read()) {
        stages_.register_read.read(sub_warp, sub_warp.read_at);
      }
    }
    head = false;
  });
  if (link::SubWarp* const prepared = stages_.decode.prepared(); prepared != nullptr && prepared->deferred) {
    form(*prepared);
  }
}

// At the end of the cycle in which it leaves the execute stages: nothing is at the memory stage's head.
void FastPath::hand_to_memory() {
  const Entry& entry = accessing_.front();
  accessing_.pop();
  link::SubWarp& sub_warp = payload(entry);
  make_up(sub_warp);
  stages_.memory.place(sub_warp, entry.leaves + 1);
  state_.moved();
}

void FastPath::retire() {
  const Entry& first = retiring_.front();
  retiring_.pop();
  Group& group = state_.groups[first.group];
  const ThreadHome* const home = first.formed == nullptr ? own_row_.home_of(*first.decoded, group) : nullptr;
  if (home != nullptr) {
    retire_row(*first.decoded, first.pc, group, *home, first.begins - to_execute_);
    return;
  }
  link::SubWarp& sub_warp = payload(first);
  make_up(sub_warp);
  stages_.writeback.retire(sub_warp);
}

// All that the stages do with the usual instruction of the usual warp (hw/effects/own_row.hpp).
void FastPath::retire_row(const link::DecodedInstruction& decoded, std::uint32_t pc, Group& group,
                          const ThreadHome& home, Cycle read) {
  const Formation::Row threads = stages_.decode.formation().of_row(decoded, group);
  if constexpr (kCheckInvariants) {
    state_.invariants.passed(pc, group.first_row, threads.lanes, read);
  }
  stages_.registers.count_reads(threads.lanes, decoded.operand_words);
  own_row_.compute(decoded, group.first_row, threads.executing);
  const unsigned working = OwnRow::working(decoded, threads);
  stages_.execute.count(working);
  if (state_.fault) {
    return;  // of another instruction in this cycle: it does not come to its end
  }
  state_.moved();
  if (threads.executing != 0 && has_results(decoded)) {
    stages_.registers.count_writes(threads.lanes, decoded.form.words);
  }
  own_row_.commit(decoded, pc, home, group.first_row, threads.executing);
  stages_.writeback.retirement().count(decoded, working);
  group.decoded = &decoded;
  InFlight& flight = group.flight();
  flight.formed = flight.completed = 1;
  flight.all_formed = flight.released = true;
  if (decoded.plain && stages_.warps.steps_plainly(group)) {
    stages_.warps.step(group);
  } else {
    stages_.warps.completed(group, decoded, threads.executing);
  }
}

void FastPath::land(Cycle now, Done done) {
  for (Queue* const queue : {&retiring_, &accessing_}) {
    for (; !queue->empty(); queue->pop()) {
      land(queue->front(), now, done);
    }
  }
  known_ = false;
  unlanded_ = begins(done == Done::nothing ? now : now + 1);  // in a cycle in which something stays nothing is taken
}

void FastPath::land(const Entry& entry, Cycle now, Done done) {
  const auto past = [&](Cycle cycle, Done turn) { return cycle < now || (cycle == now && done >= turn); };
  const Cycle read = entry.begins - to_execute_;
  const Cycle decoded = read - to_read_;
  if (entry.formed == nullptr && !past(decoded, Done::decode)) {
    stages_.decode.place(payload(entry), decoded);
    return;
  }
  link::SubWarp& sub_warp = payload(entry);
  if (!past(read, Done::register_read)) {
    stages_.register_read.place(sub_warp, read);
    return;
  }
  if (!sub_warp.deferred) {
    stages_.register_read.read(sub_warp, read);
  }
  if (!past(entry.begins, Done::execute)) {
    stages_.execute.place(sub_warp, entry.begins);
    return;
  }
  if (!sub_warp.deferred) {
    stages_.execute.execute(sub_warp);
  }
  if (!past(entry.leaves, Done::execute)) {
    stages_.execute.place_running(sub_warp, entry.leaves);
  } else if (!past(entry.leaves + 1, Done::memory)) {
    if (sub_warp.deferred && sub_warp.decoded->unit == isa::Unit::memory) {
      make_up(sub_warp);
    }
    stages_.memory.place(sub_warp, entry.leaves + 1);
  } else {
    stages_.writeback.place(sub_warp, entry.leaves + 2);
  }
}

}  // namespace heddle::hw
