// The stages of a core in their order: the one place that says which there are, and the engine that advances them. A
// core with another front end has other entries; nothing else of it names a stage to join, advance or empty.
//
//   tick(now)       the turns of a cycle, from write-back back to fetch, so that a stage which hands something on makes
//                   room in the same cycle, and its successor looks at it in the next
//   settle(now)     at the start of cycle `now`, before any turn: every sub-warp is where the stages would have it,
//                   with all that they would have done to it by then
//
// Sub-warps that are let by. Where no thread has two instructions in flight (strict and relaxed issue), a module that
// is not called misses nothing of a sub-warp on its way: no other one reads or writes the registers of its threads
// before it retires. So where a stage says that it would hold a sub-warp no longer than its latency
// (Stage::lets_by), the cycles in which the sub-warp is at each stage's head are known when it is handed on. It becomes
// a passage here. What the stages do to it (Stage::work) is put off until somebody must see it: the stage at which it
// stops, which gets it in its cycle, or the last stage, where it retires. For the usual instruction of the usual warp
// hw/effects/own_row.hpp does all of it at once.
//
// Stages and models from elsewhere decide that, not the pipeline. Nothing is let by while a replay wants every sub-warp
// in its stage; nor by a stage that says so for a launch (sees_all) or for an instruction (lets_by); nor past a socket
// to which something else than the next stage is bound (a tap, another model), which is called for each sub-warp in its
// cycle, as it is between any two modules. The turns are the same code in all cases.
//
// Observers are told of each sub-warp in its cycle, on a passage too: in the turns of a cycle each stage shows what
// would be at its head (Stage::shows). For that the work of decode is done in its cycle, which says who is in the
// sub-warp; that of the other stages stays put off where hw/effects/own_row.hpp does it.
//
// The times. A sub-warp that is handed on in cycle t is at the next stage's head `latency` cycles later, and hands
// itself on from there in that cycle. In the stage of the functional units it stays as long as its operation takes, and
// until the one before it has left, one per cycle: leaves = max(begins + passage - 1, leaves of the one before + 1).
// Passages and sub-warps in the stages are one sequence. Passages begin behind the last stage before the units that
// sees all: behind fetch for warps of one row, behind decode where it parts a warp into sub-warps.
//
// What holds one up: a sub-warp that stays at the head of a stage which is still to come, or results of another unit
// that leave the units first. The turns of a cycle show that before it can matter to a passage. Then all passages
// *land*: each sub-warp comes to the latch, or into the units, where it would be by now. In cycles in which something
// stays, none begins; the stages pass sub-warps on, and what they let by has its work put off as before.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "hw/core/pipeline/stage.hpp"
#include "tlm/ring.hpp"

namespace heddle::hw {

class Pipeline {
 public:
  // From the last stage to the first; at most 31. They outlive the pipeline.
  explicit Pipeline(const std::vector<Stage*>& stages);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Joins each stage's output to the next one's input: join(initiator socket, input), which binds the two. While the
  // modules are built.
  template <class Join>
  void bind(Join join) {
    for (unsigned position = 0; position != last_; ++position) {
      join(at_[position]->output()->socket, *inputs_[position + 1]);
    }
  }
  void bind() {
    bind([](link::WarpInitiatorSocket& from, StageInput& to) { from.bind(to.in); });
  }
  // Cycles from the one in which the first stage hands something on to the one in which `stage` can work on it, when
  // nothing holds it up.
  [[nodiscard]] unsigned latency_to(const Stage& stage) const { return to_[position_of(stage)]; }

  // Before a launch: the stages are empty. `all_in_stages`: somebody wants every sub-warp in its stage. `alone`: one
  // stage may have turns alone.
  void reset(bool all_in_stages = false, bool alone = false);
  // Whether somebody observes the core: between launches, or two cycles of one. Who does within a launch from cycle
  // `now` on finds each sub-warp in a stage, with all that has been done to it.
  void observed(bool by_somebody) {
    if (!observed_) {  // what is there is of an earlier observer's time
      std::fill(beginning_.begin(), beginning_.end(), Shown{});
      std::fill(leaving_.begin(), leaving_.end(), Shown{});
    }
    observed_ = by_somebody;
    shows_ = 0;
  }
  void observed_from(Cycle now) {
    settle(now);
    wake();
    busy_ |= (2U << last_) - 2;  // what a stage tells in every cycle to who observes, it tells in its turns
    observed(true);
  }
  // What becomes of an instruction of this launch: which stages its sub-warps stop at. Decode asks.
  void describe(link::DecodedInstruction& decoded) const;

  void tick(Cycle now) {
    now_ = now;
    if (alone_ != kNone && tick_alone(now)) {
      return;
    }
    stays_at_ = 0;
    turns(now, last_);
  }
  void settle(Cycle now);
  [[nodiscard]] bool idle() const;
  // All stages are stuck.
  [[nodiscard]] bool stuck(Cycle now) const { return none_passes() && stuck_but(kNone, now); }

  // ---- rest
  // After a cycle in which nothing moved on, or in which one stage alone had a turn: nothing will move on in the next
  // cycles, until something comes from outside. None has turns alone while somebody observes all of them.
  [[nodiscard]] bool at_rest(Cycle now);
  // One stage alone has turns: all others wait for its head to go on.
  [[nodiscard]] bool one_works() const { return alone_ != kNone; }
  // Something has come from outside that may concern any stage.
  void wake() { alone_ = kNone; }
  // Something has come from outside that changes nothing for a pipeline at rest.
  [[nodiscard]] bool rests_on(Cycle now) {
    const unsigned holder = alone_ != kNone ? alone_ : holder_;
    return holder != kNone && at_[0]->stuck(now) && at_[holder]->rests_on();
  }
  // No cycle is simulated from the next one on. And: those cycles were not.
  void rests(bool stopped = false) { rests(last_ + 1, stopped); }
  void waited(Cycle first, Cycle cycles) { waited(last_ + 1, first, cycles); }
  // In this launch sub-warps are let by.
  [[nodiscard]] bool lets_any_by() const { return letting_; }
  // The number of the stage in front of which passages begin then, from the front end on: 1, behind fetch, and so on.
  [[nodiscard]] unsigned entry() const { return letting_ ? entry_ : 0; }

  // ---- for stages
  // The first stage, or the one in front of the entry, hands a sub-warp on. True: it is on a passage.
  [[nodiscard]] bool begin(link::SubWarp& sub_warp);
  // A sub-warp is to come to stage number `position`: what the stages before it have put off is done if it stops there.
  void prepare(unsigned position, link::SubWarp& sub_warp) {
    if (position != last_ && !lets(position, sub_warp)) {
      finish(sub_warp, position);
    }
  }
  // A stage lets a sub-warp by.
  [[nodiscard]] bool lets(unsigned position, const link::SubWarp& sub_warp) const {
    return letting_ && sub_warp.decoded != nullptr && (((sub_warp.decoded->stops | all_stop_) >> position) & 1U) == 0;
  }
  // Does what the stages before number `position` have put off.
  void finish(link::SubWarp& sub_warp, unsigned position) {
    for (; sub_warp.done < position; ++sub_warp.done) {
      at_[sub_warp.done]->work(sub_warp);
    }
  }
  // All stages behind the first one have let it by so far. Where passages begin behind fetch, decode may have formed it
  // for observers: that is its warp as a whole, which hw/effects/own_row.hpp counts on in any case.
  [[nodiscard]] bool untouched(const link::SubWarp& sub_warp) const {
    return sub_warp.done == 1 || (sub_warp.done == kFormed && entry_ == 1);
  }
  // For stage number `position`, which shows a sub-warp: nothing of its work is put off any longer, unless all of it is
  // done at once in the end.
  void show_work(link::SubWarp& sub_warp, unsigned position) {
    if (!untouched(sub_warp) || !sub_warp.decoded->in_row) {
      finish(sub_warp, position + 1);
    }
  }
  // A sub-warp that is on its passage begins in the functional units in this cycle: they are not idle.
  [[nodiscard]] bool serves_units(Cycle now) const { return begins_[now & begins_mask_] == now; }
  // Of the sub-warps on a passage that have begun there before `now`: the cycle in which the last one leaves; 0: there
  // is none.
  [[nodiscard]] Cycle begun_leave_until(Cycle now) const;
  // Cycles between the heads of a stage before the units and of the units.
  [[nodiscard]] Cycle before_units(unsigned position) const { return to_units_ - to_[position]; }
  void has_work(unsigned position) { busy_ |= 1U << position; }

 private:
  // A sub-warp that stages let by, up to the one in whose list it is.
  struct Passage {
    link::SubWarp* sub_warp = nullptr;
    Cycle leaves = 0;  // the units
  };
  // For observers: of a passage that begins in the units in one cycle, or leaves them in another one.
  struct Shown {
    Cycle at = link::kNever;
    link::SubWarp* sub_warp = nullptr;
    unsigned end = 0;
  };
  static constexpr std::uint8_t kFormed = 2;  // SubWarp::done, behind decode
  [[nodiscard]] Cycle head_at(const Passage& passage, unsigned position) const {
    return passage.leaves + to_[position] - to_units_;
  }
  [[nodiscard]] unsigned position_of(const Stage& stage) const;
  static constexpr unsigned kNone = 0;  // of positions at which something stays: fetch holds nobody up
  [[nodiscard]] bool stuck_but(unsigned other, Cycle now) const;
  // The cycle of the stage that has turns alone, and where its head goes on of those before it. False: all have turns.
  [[nodiscard]] bool tick_alone(Cycle now);
  [[nodiscard]] bool alone_stays(Cycle now);
  template <class Visit>
  void each_that_rests(unsigned stages, Visit visit);
  void rests(unsigned stages, bool stopped);
  void waited(unsigned stages, Cycle first, Cycle cycles);
  [[nodiscard]] bool busy_behind(unsigned position) const { return (busy_ >> position) > 1; }
  [[nodiscard]] [[gnu::noinline]] bool know_last_leaves();
  [[nodiscard]] bool none_passes() const { return passing_ == 0; }
  [[nodiscard]] Cycle last_in_stages(Cycle now) const;
  void turns(Cycle now, unsigned first);
  void turns_in_stages(Cycle now, unsigned first);
  // What observers are told of in this cycle: each sub-warp on a passage that is at a stage's head.
  [[gnu::noinline]] void note_passage(link::SubWarp& sub_warp, Cycle leaves, unsigned end);
  [[nodiscard]] static Shown* at(std::vector<Shown>& all, Cycle cycle) {
    Shown& shown = all[cycle & (all.size() - 1)];
    return shown.at == cycle ? &shown : nullptr;
  }
  [[nodiscard]] Shown* shown_at(unsigned position, Cycle now) {
    return position <= units_at_ ? at(beginning_, now + before_units(position))
                                 : at(leaving_, now - (to_[position] - to_units_));
  }
  [[nodiscard]] std::uint32_t heads(Cycle now);
  // Null: nothing is to be shown there.
  [[nodiscard]] link::SubWarp* to_show(unsigned position, Cycle now) {
    if (((shows_ >> position) & 1U) == 0) [[likely]] {
      return nullptr;
    }
    const Shown* const shown = shown_at(position, now);
    return shown != nullptr ? shown->sub_warp : nullptr;
  }
  [[gnu::noinline]] void show(unsigned position, link::SubWarp& sub_warp);
  void tell_entered(unsigned position, const link::SubWarp& sub_warp) const {
    inputs_[position]->tell_entered(sub_warp);
  }
  [[gnu::noinline]] void turns_before(Cycle now, std::uint32_t positions);
  void turn_of_units(Cycle now);
  [[gnu::noinline]] void turn(unsigned position, Cycle now);
  [[nodiscard]] link::SubWarp* take_due(unsigned position);
  void stays(Cycle now, unsigned position);
  // Stages from number `had_turn` on have had their turn in this cycle.
  void land(Cycle now, unsigned had_turn);
  void land(const Passage& passage, unsigned end, Cycle now, unsigned had_turn);

  std::vector<Stage*> at_;           // by position: from the first to the last
  std::vector<StageInput*> inputs_;  // likewise
  std::vector<unsigned> to_;         // cycles from fetch to the head of each, without the time in the units
  unsigned last_;
  unsigned units_at_ = 0;  // the position of the functional units
  UnitsStage* units_ = nullptr;
  Cycle to_units_ = 0;             // to_ of it
  Cycle passage_ = 0;              // UnitsStage::passage()
  std::uint32_t count_rests_ = 0;  // stages that do
  std::uint32_t all_stop_ = 0;     // stages that see every sub-warp in this launch, but for the last one
  bool observed_ = false;
  std::uint32_t shows_ = 0;  // of this cycle: stages at whose head a passage is, while somebody observes
  bool letting_ = false;
  bool may_work_alone_ = false;
  unsigned alone_ = kNone;                     // the stage that has turns alone
  unsigned holder_ = kNone;                    // at rest: the one that holds up all others, observed
  unsigned entry_ = 1;                         // passages begin in front of this stage
  Cycle to_begin_ = 0;                         // cycles from there to the units
  Cycle now_ = 0;                              // the cycle whose turns are under way
  std::uint32_t busy_ = 0;                     // stages that have something, or will find out
  std::uint32_t stays_at_ = 0;                 // of this cycle: stages whose head stays
  bool known_ = false;                         // last_leaves_ is that of the sub-warp that was handed on last
  Cycle last_leaves_ = 0;                      // the units, by what has been handed on
  std::size_t passing_ = 0;                    // passages
  std::vector<link::Ring<Passage>> passages_;  // by the position at which they end, in order
  std::vector<Cycle> due_;                     // likewise: the cycle in which the first one is at its end; kNever: none
  std::vector<Cycle> begins_{link::kNever};    // of passages: each in the place of its cycle, a power of two of them
  Cycle begins_mask_ = 0;
  std::vector<Shown> beginning_, leaving_;  // by those cycles: powers of two of them; of passages, while observed
};

inline bool Stage::lets(const link::SubWarp& sub_warp) const {
  return pipeline_ != nullptr && pipeline_->lets(position_, sub_warp);
}
inline void Stage::works_now(link::SubWarp& sub_warp) const {
  if (pipeline_ != nullptr && pipeline_->lets_any_by()) {
    pipeline_->finish(sub_warp, position_);
    sub_warp.done = static_cast<std::uint8_t>(position_ + 1);
  }
}
inline void Stage::has_work() const {
  if (pipeline_ != nullptr) {
    pipeline_->has_work(position_);
  }
}
inline bool StageOutput::begin_passage(link::SubWarp& sub_warp) const {
  return pipeline_->begin(sub_warp);
}
inline void StageOutput::prepare(link::SubWarp& sub_warp) const {
  if (sub_warp.done <= position_) {
    pipeline_->prepare(position_ + 1, sub_warp);
  }
}

inline bool Pipeline::begin(link::SubWarp& sub_warp) {
  const link::DecodedInstruction* const decoded = sub_warp.decoded;
  if (decoded == nullptr || (!known_ && !know_last_leaves())) [[unlikely]] {
    known_ = false;
    return false;
  }
  const Cycle begins = now_ + to_begin_;
  const Cycle leaves = std::max(begins + passage_ - 1, last_leaves_ + 1);
  const unsigned end = decoded->passage_end;
  if (end == 0) [[unlikely]] {
    last_leaves_ = decoded->in_order ? leaves : last_leaves_;
    return false;
  }
  last_leaves_ = leaves;
  sub_warp.begins = begins;
  begins_[begins & begins_mask_] = begins;
  Passage& passage = passages_[end].add();
  passage.sub_warp = &sub_warp;
  passage.leaves = leaves;
  ++passing_;
  if (due_[end] == link::kNever) {
    due_[end] = head_at(passage, end);
  }
  if (observed_) [[unlikely]] {
    note_passage(sub_warp, leaves, end);
  }
  return true;
}

}  // namespace heddle::hw
