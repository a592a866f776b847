#include "hw/core/fast_path.hpp"

#include <algorithm>
#include <bit>

#include "hw/coalesce/coalescer.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "hw/subwarp/former.hpp"
#include "isa/retire.hpp"

namespace heddle::hw {

FastPath::FastPath(CoreState& state, const Stages& stages)
    : state_(state),
      stages_(stages),
      to_decode_(state.machine.core.fetch_latency),
      to_read_(state.machine.core.decode_latency),
      to_execute_(state.machine.core.register_read_latency),
      execute_stages_(state.machine.core.execute_stages) {}

bool FastPath::usable(const Machine& machine) {
  const CoreParameters& core = machine.core;
  const IssueDiscipline::Traits& issue = about<IssueDiscipline>(core.issue).traits;
  const Divergence::Traits& mechanism = about<Divergence>(core.divergence).traits;
  const Cycle longest =
      Cycle{core.fetch_latency} + core.decode_latency + core.register_read_latency + 2 * core.execute_stages + 2;
  return !issue.overlaps && !issue.early_next_pc && !mechanism.parts_in_flight && !mechanism.mimd_lanes &&
         about<SubWarpFormer>(core.former).traits.keeps_row && !about<Scalarisation>(core.scalar).traits.finds &&
         !about<Coalescer>(core.coalescer).traits.gathers && longest < kPlaces;
}

bool FastPath::reset() {
  first_ = count_ = 0;
  held_ = known_ = false;
  last_leaves_ = 0;
  return state_.observer == nullptr && state_.replay == nullptr && state_.groups[0].rows() == 1;
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
  stages_.decode.each([&](const link::SubWarp& each, Cycle visible) {
    follows(stages_.decode.look_up(each.pc, each.word), visible + to_read_ + to_execute_);
  });
  return last;
}

bool FastPath::takes(const Group& group, std::uint64_t word) {
  const link::DecodedInstruction* const decoded = stages_.decode.look_up(group.pc, word);
  if (decoded == nullptr || held_ || stages_.decode.full()) {
    known_ = false;
    return false;
  }
  const Cycle now = state_.now;
  if (!known_) {
    last_leaves_ = last_in_stages(now);
    known_ = true;
  }
  if (!stages_.execute.in_order(*decoded)) {
    return false;
  }
  last_leaves_ = std::max(begins(now) + execute_stages_ - 1, last_leaves_ + 1);
  if (!decoded->self_contained) {
    return false;
  }
  entry(count_++) = {begins(now), last_leaves_, decoded, group.id, group.pc, static_cast<std::uint8_t>(group.latest)};
  return true;
}

// Of those that began before `now`.
Cycle FastPath::begun_leave_until(Cycle now) const {
  for (std::size_t index = count_; index-- != 0;) {
    if (entry(index).begins < now) {
      return entry(index).leaves;
    }
  }
  return 0;
}

void FastPath::tick(Cycle now) {
  held_ = false;
  if (!stages_.writeback.idle()) {
    stages_.writeback.tick(now);
  }
  bool served = false;
  if (count_ != 0) {
    if (entry(0).leaves + 2 == now) {
      retire();
    }
    for (std::size_t index = count_; index-- != 0 && entry(index).begins >= now;) {
      served = served || entry(index).begins == now;
    }
  }
  if (!stages_.memory.idle()) {
    stages_.memory.tick(now);
    if (stages_.memory.occupied(now)) {
      stays(now, Done::memory);
    }
  }
  if (stages_.execute.idle()) {
    stages_.execute.work_idle(now, served && count_ != 0);
  } else {
    if (stages_.execute.others_leave(now)) {
      stays(now, Done::memory);
    }
    stages_.execute.work(now, served && count_ != 0);
    if (stages_.execute.occupied(now)) {
      stays(now, Done::execute);
    }
  }
  if (!stages_.register_read.empty()) {
    stages_.register_read.tick(now);
    if (stages_.register_read.occupied(now)) {
      stays(now, Done::register_read);
    }
  }
  if (!stages_.decode.idle()) {
    stages_.decode.tick(now);
    if (stages_.decode.blocked(now)) {
      stays(now, Done::decode);
    }
  }
  stages_.fetch.tick(now);
  if (count_ != 0) {
    state_.moved();
  }
}

void FastPath::stays(Cycle now, Done done) {
  held_ = true;
  known_ = false;
  if (count_ != 0) {
    land(now, done);
  }
}

link::SubWarp& FastPath::payload(const Entry& entry) {
  link::SubWarp& sub_warp = state_.pool.take();
  sub_warp.group = entry.group;
  sub_warp.pc = entry.pc;
  sub_warp.word = entry.decoded->word;
  sub_warp.flight = entry.flight;
  sub_warp.decoded = entry.decoded;
  return sub_warp;
}

void FastPath::retire() {
  const Entry first = entry(0);
  first_ = (first_ + 1) % kPlaces;
  --count_;
  Group& group = state_.groups[first.group];
  const bool in_one_row = !group.dynamic || group.aligned;
  if (!kCheckInvariants && in_one_row && (first.decoded->plain || first.decoded->instruction.op == isa::Op::BRA)) {
    const ThreadHome* const home = state_.rows[group.first_row].whole();
    if (home != nullptr && home->threads == isa::kLanes && home->hashes != nullptr) {
      retire_row(first, group, *home);
      return;
    }
  }
  link::SubWarp& sub_warp = payload(first);
  stages_.decode.form_whole_row(sub_warp, group);
  stages_.register_read.read(sub_warp, first.begins - to_execute_);
  stages_.execute.execute(sub_warp);
  stages_.writeback.retire(sub_warp);
}

// What reading the operands does.
void FastPath::gather(const link::DecodedInstruction& decoded, unsigned row, LaneMask executing) {
  RegisterArray& array = stages_.registers.array();
  const isa::Instruction& instruction = decoded.instruction;
  const auto words = [&](unsigned reg, unsigned count, isa::LaneWord* into) {
    for (unsigned word = 0; word < count; ++word) {
      if (reg >= isa::kRZ) {
        into[word].fill(0);
      } else {
        into[word] = array.word(row, reg + word);
      }
    }
  };
  const auto predicate = [&](isa::Pred pred) {
    const LaneMask value = pred.reg == isa::kPT ? ~LaneMask{0} : array.predicate(row, pred.reg);
    return pred.negated ? ~value : value;
  };
  words(instruction.a, decoded.a_words, values_.a.data());
  if (instruction.immediate) {
    isa::load_immediate(instruction, values_);
  } else {
    words(instruction.b, decoded.b_words, values_.b.data());
    words(instruction.d, decoded.d_words, &values_.d);
  }
  words(instruction.c, decoded.c_words, values_.c.data());
  values_.predicate_a = predicate(decoded.sources.a);
  values_.predicate_b = predicate(decoded.sources.b);
  values_.active = executing;
  values_.fault = 0;
}

// All that the stages do with the usual instruction of the usual warp: its threads are in a row of their own, lane for
// lane, and it does no more to the warp than to move it on, or is a branch.
void FastPath::retire_row(const Entry& entry, Group& group, const ThreadHome& home) {
  const link::DecodedInstruction& decoded = *entry.decoded;
  const unsigned row = group.first_row;
  const LaneMask executing = stages_.decode.guarded(decoded.instruction.guard, group);
  const LaneMask lanes = stages_.decode.lanes_of_row(decoded, group, executing);
  stages_.registers.count_reads(lanes, decoded.operand_words);
  const bool branch = decoded.instruction.op == isa::Op::BRA;  // which every thread evaluates (working_lanes())
  const auto working = static_cast<unsigned>(std::popcount(branch ? lanes : executing));
  if (executing != 0 && !branch) {
    gather(decoded, row, executing);
    decoded.function(decoded.instruction, values_);
  }
  stages_.execute.count(working);
  if (state_.fault) {
    return;  // of another instruction in this cycle: it does not come to its end
  }
  state_.moved();
  if (executing != 0) {
    if (decoded.form.words != 0 || decoded.form.predicates()) {
      stages_.registers.count_writes(lanes, decoded.form.words);
      stages_.registers.array().write_row(row, decoded.form, values_, executing);
    }
    static constexpr isa::LaneWord kNoAddress{};
    isa::retire(decoded.form, entry.pc, executing, values_, kNoAddress, home.hashes);
  }
  stages_.writeback.count_retired(decoded, working);
  group.decoded = &decoded;
  InFlight& flight = group.flight();
  flight.formed = flight.completed = 1;
  flight.all_formed = flight.released = true;
  if (decoded.plain && stages_.warps.steps_plainly(group)) {
    stages_.warps.step(group);
  } else {
    stages_.warps.completed(group, decoded, executing);
  }
}

void FastPath::land(Cycle now, Done done) {
  for (std::size_t index = 0; index != count_; ++index) {
    land(entry(index), now, done);
  }
  first_ = count_ = 0;
  known_ = false;
}

void FastPath::land(const Entry& entry, Cycle now, Done done) {
  const auto past = [&](Cycle cycle, Done turn) { return cycle < now || (cycle == now && done >= turn); };
  link::SubWarp& sub_warp = payload(entry);
  const Cycle read = entry.begins - to_execute_;
  const Cycle decoded = read - to_read_;
  if (!past(decoded, Done::decode)) {
    stages_.decode.place(sub_warp, decoded);
    return;
  }
  stages_.decode.form_whole_row(sub_warp, state_.groups[sub_warp.group]);
  if (!past(read, Done::register_read)) {
    stages_.register_read.place(sub_warp, read);
    return;
  }
  stages_.register_read.read(sub_warp, read);
  if (!past(entry.begins, Done::execute)) {
    stages_.execute.place(sub_warp, entry.begins);
    return;
  }
  stages_.execute.execute(sub_warp);
  if (!past(entry.leaves, Done::execute)) {
    stages_.execute.place_running(sub_warp, entry.leaves);
  } else if (!past(entry.leaves + 1, Done::memory)) {
    stages_.memory.place(sub_warp, entry.leaves + 1);
  } else {
    stages_.writeback.place(sub_warp, entry.leaves + 2);
  }
}

}  // namespace heddle::hw
