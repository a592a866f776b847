#include "hw/core/pipeline/pipeline.hpp"

namespace heddle::hw {

Pipeline::Pipeline(const std::vector<Stage*>& stages)
    : at_(stages.rbegin(), stages.rend()), last_(static_cast<unsigned>(at_.size()) - 1) {
  for (unsigned position = 0; position != at_.size(); ++position) {
    Stage& stage = *at_[position];
    stage.stand_in(*this, position);
    inputs_.push_back(stage.input());
    if (stage.input() != nullptr) {
      stage.input()->serve(busy_, 1U << position);
    }
    if (stage.side_input() != nullptr) {
      stage.side_input()->serve(busy_, 1U << position);
    }
    if (stage.output() != nullptr) {
      stage.output()->stand_in(*this, position);
    }
    count_rests_ |= stage.counts_rests() ? 1U << position : 0;
    to_.push_back((position == 0 ? 0 : to_.back()) + stage.latency());
    if (auto* const units = dynamic_cast<UnitsStage*>(&stage)) {
      units_ = units;
      units_at_ = position;
      to_units_ = to_.back();
      passage_ = units->passage();
    }
  }
  passages_.resize(at_.size());
  due_.assign(at_.size(), link::kNever);
}

unsigned Pipeline::position_of(const Stage& stage) const {
  const auto found = std::find(at_.begin(), at_.end(), &stage);
  if (found == at_.end()) {
    throw InternalError("the stage is not in the pipeline");
  }
  return static_cast<unsigned>(found - at_.begin());
}

void Pipeline::reset(bool all_in_stages, bool alone) {
  for (Stage* const stage : at_) {
    stage->reset();
  }
  for (link::Ring<Passage>& passages : passages_) {
    passages.clear();
  }
  std::fill(due_.begin(), due_.end(), link::kNever);
  passing_ = 0;
  busy_ = stays_at_ = shows_ = 0;
  known_ = false;
  letting_ = false;
  may_work_alone_ = alone;
  alone_ = kNone;
  for (unsigned position = 0; position != last_; ++position) {
    at_[position]->output()->let_by(false, false);
  }
  if (units_ == nullptr) {
    return;
  }
  all_stop_ = 1;
  for (unsigned position = 1; position != last_; ++position) {
    all_stop_ |= at_[position]->sees_all() ? 1U << position : 0;
  }
  for (unsigned position = 0; position != last_; ++position) {
    // What is bound between two stages is called when the one hands on, and the other gets what comes of that.
    all_stop_ |= at_[position]->output()->direct() == nullptr ? 3U << position : 0;
  }
  letting_ = !all_in_stages && ((all_stop_ >> units_at_) & 1U) == 0;
  const std::uint32_t before_units = all_stop_ & ((1U << units_at_) - 1);
  entry_ = static_cast<unsigned>(std::bit_width(before_units));
  to_begin_ = to_units_ - to_[entry_ - 1];
  begins_.assign(std::bit_ceil(to_units_ + 1U), link::kNever);
  begins_mask_ = begins_.size() - 1;
  beginning_.assign(begins_.size(), {});
  // One sub-warp leaves per cycle: all that the stages can hold are gone after so many.
  leaving_.assign(std::bit_ceil(4 * (to_[last_] + passage_ + 1)), {});
  for (unsigned position = 0; position != last_; ++position) {
    at_[position]->output()->let_by(letting_, position + 1 == entry_);
  }
}

void Pipeline::describe(link::DecodedInstruction& decoded) const {
  decoded.stops = 0;
  decoded.in_row = units_ != nullptr && ((all_stop_ >> units_at_) & 1U) == 0;
  for (unsigned position = 1; position != last_; ++position) {
    const bool by = at_[position]->lets_by(decoded);
    decoded.stops |= by ? 0 : 1U << position;
    decoded.in_row = decoded.in_row && by && at_[position]->works_in_row();
  }
  decoded.in_order = units_ != nullptr && units_->in_order(decoded);
  const std::uint32_t stops = decoded.stops | all_stop_ | 1U << last_;
  const auto end = static_cast<unsigned>(std::countr_zero(stops >> entry_)) + entry_;
  decoded.passage_end = static_cast<std::uint8_t>(end > units_at_ && decoded.in_order ? end : 0);
}

bool Pipeline::idle() const {
  // From the front end, which is the busiest. A stage that is not busy has nothing.
  if (!none_passes() || !at_[0]->idle()) {
    return false;
  }
  for (std::uint32_t left = busy_ & ~1U; left != 0; left &= left - 1) {
    if (!at_[static_cast<unsigned>(std::countr_zero(left))]->idle()) {
      return false;
    }
  }
  return true;
}

bool Pipeline::stuck_but(unsigned other, Cycle now) const {
  for (unsigned position = 0; position <= last_; ++position) {
    if ((position != other || other == kNone) && !at_[position]->stuck(now)) {
      return false;
    }
  }
  return true;
}

// ------------------------------------------------------------------------------------------------- rest

bool Pipeline::at_rest(Cycle now) {
  if (alone_ == kNone) {
    const unsigned holder = stays_at_ == 0 ? kNone : static_cast<unsigned>(std::bit_width(stays_at_)) - 1;
    if (!none_passes() || !stuck_but(observed_ ? kNone : holder, now)) {
      return false;
    }
    holder_ = observed_ && may_work_alone_ ? holder : kNone;
    if (observed_) {
      return true;
    }
    if (holder != kNone && may_work_alone_ && !busy_behind(holder)) {
      alone_ = holder;
    } else {
      return holder == kNone || at_[holder]->stuck(now);
    }
  }
  return at_[alone_]->stuck(now) || at_[alone_]->foresees_stuck();
}

// Of the first `stages` stages those that count rests, in the order of their turns.
template <class Visit>
inline void Pipeline::each_that_rests(unsigned stages, Visit visit) {
  for (std::uint32_t left = count_rests_ & ((1U << stages) - 1); left != 0;) {
    const auto position = static_cast<unsigned>(std::bit_width(left)) - 1;
    left &= ~(1U << position);
    visit(*at_[position]);
  }
}

void Pipeline::rests(unsigned stages, bool stopped) {
  each_that_rests(stages, [stopped](Stage& stage) { stage.rests(stopped); });
}

void Pipeline::waited(unsigned stages, Cycle first, Cycle cycles) {
  each_that_rests(stages, [=](Stage& stage) { stage.waited(first, cycles); });
}

// False: its head has gone on, so the stages before it have turns too.
bool Pipeline::alone_stays(Cycle now) {
  if (at_[alone_]->turn(now) != Stage::After::holds_up) {
    return false;
  }
  rests(alone_, false);
  waited(alone_, now, 1);
  if (busy_behind(alone_)) {
    alone_ = kNone;  // it has handed something on
  }
  return true;
}

bool Pipeline::tick_alone(Cycle now) {
  const unsigned alone = alone_;
  if (!at_[0]->stuck(now)) {
    alone_ = kNone;
    return false;
  }
  if (!alone_stays(now)) {
    alone_ = kNone;
    stays_at_ = 0;
    turns(now, alone - 1);
  }
  return true;
}

// ---------------------------------------------------------------------------------------------- passages

// After the turns behind the entry, in a cycle in which nothing stays: when the last sub-warp leaves the units that is
// on its way there or in them.
Cycle Pipeline::last_in_stages(Cycle now) const {
  Cycle last = units_->last_leaves(now);
  for (const link::Ring<Passage>& passages : passages_) {
    last = passages.empty() ? last : std::max(last, passages[passages.size() - 1].leaves);
  }
  for (unsigned position = units_at_; position >= entry_; --position) {
    inputs_[position]->each([&](const link::SubWarp& each, Cycle visible) {
      if (each.decoded == nullptr || each.decoded->in_order) {
        last = std::max(visible + before_units(position) + passage_ - 1, last + 1);
      }
    });
  }
  return last;
}

// False: a sub-warp that is handed on now goes from stage to stage.
bool Pipeline::know_last_leaves() {
  if ((stays_at_ >> entry_) != 0) {
    return false;
  }
  last_leaves_ = last_in_stages(now_);
  known_ = true;
  return true;
}

Cycle Pipeline::begun_leave_until(Cycle now) const {
  Cycle leaves = 0;
  if (none_passes()) {
    return leaves;
  }
  for (unsigned end = units_at_ + 1; end <= last_; ++end) {
    const link::Ring<Passage>& passages = passages_[end];
    for (std::size_t left = passages.size(); left != 0; --left) {
      if (const Passage& passage = passages[left - 1]; passage.sub_warp->begins < now) {
        leaves = std::max(leaves, passage.leaves);
        break;
      }
    }
  }
  return leaves;
}

// ------------------------------------------------------------------------------------------------- turns

// For observers.
void Pipeline::note_passage(link::SubWarp& sub_warp, Cycle leaves, unsigned end) {
  beginning_[sub_warp.begins & (beginning_.size() - 1)] = {sub_warp.begins, &sub_warp, end};
  leaving_[leaves & (leaving_.size() - 1)] = {leaves, &sub_warp, end};
  tell_entered(entry_, sub_warp);
}

// The stages at whose head a passage is in this cycle, or, of the units, leaves them. At the last stage it ends, which
// tells itself.
std::uint32_t Pipeline::heads(Cycle now) {
  std::uint32_t heads = at(leaving_, now) != nullptr ? 1U << units_at_ : 0;
  for (unsigned position = entry_; position != last_; ++position) {
    const Shown* const shown = shown_at(position, now);
    heads |= shown != nullptr && position < shown->end ? 1U << position : 0;
  }
  return heads;
}

// After the turn of the stage, in which the passages may have landed.
void Pipeline::show(unsigned position, link::SubWarp& sub_warp) {
  at_[position]->shows(sub_warp);
  if (position != units_at_) {
    tell_entered(position + 1, sub_warp);
  }
}

// The sub-warp whose passage ends in this cycle.
inline link::SubWarp* Pipeline::take_due(unsigned position) {
  link::Ring<Passage>& passages = passages_[position];
  link::SubWarp* const sub_warp = passages.front().sub_warp;
  passages.pop();
  --passing_;
  due_[position] = passages.empty() ? link::kNever : head_at(passages.front(), position);
  return sub_warp;
}

// Nothing is let by: every stage that has something has its turn.
void Pipeline::turns_in_stages(Cycle now, unsigned first) {
  for (unsigned position = first; position != 0; --position) {
    if (((busy_ >> position) & 1U) != 0) {
      if (at_[position]->turn(now) == Stage::After::empty) {
        busy_ &= ~(1U << position);
      }
    } else if (position == units_at_) {
      units_->idles(now);
    }
  }
  at_[0]->tick(now);
}

void Pipeline::turns(Cycle now, unsigned first) {
  if (!letting_) {
    turns_in_stages(now, first);
    return;
  }
  const bool passing = !none_passes();
  if (observed_) [[unlikely]] {
    shows_ = passing ? heads(now) : 0;
  }
  if (first == last_) {
    if (((busy_ >> last_) & 1U) != 0) {
      turn(last_, now);
    }
    if (due_[last_] == now) {
      at_[last_]->ends(*take_due(last_));  // behind what had to wait somewhere
    }
    --first;
  }
  for (unsigned position = first; position > units_at_; --position) {
    link::SubWarp* const shows = to_show(position, now);
    if (due_[position] == now) {
      link::SubWarp& sub_warp = *take_due(position);
      finish(sub_warp, position);
      inputs_[position]->place(sub_warp, now);
    }
    if (((busy_ >> position) & 1U) != 0) {
      turn(position, now);
    }
    if (shows != nullptr) [[unlikely]] {
      show(position, *shows);
    }
  }
  const std::uint32_t before = (2U << std::min(first, units_at_)) - 2;
  if (((busy_ | shows_) & before) != 0) {
    turns_before(now, before);
  } else if (first >= units_at_ && !serves_units(now)) {
    units_->idles(now);
  }
  at_[0]->tick(now);  // looks for work in every cycle
  if (passing || !none_passes()) {
    inputs_[last_]->moved();
  }
}

// Of the units and the stages before them that are among `positions`, something is in some, or is to be shown.
void Pipeline::turns_before(Cycle now, std::uint32_t positions) {
  if (((positions >> units_at_) & 1U) != 0) {
    turn_of_units(now);
  }
  positions &= ~(1U << units_at_);
  for (std::uint32_t left = 0; (left = (busy_ | shows_) & positions) != 0;) {
    const auto position = static_cast<unsigned>(std::bit_width(left)) - 1;
    positions &= (1U << position) - 1;  // in which passages may have landed by then
    link::SubWarp* const shows = to_show(position, now);
    if (((busy_ >> position) & 1U) != 0) {
      turn(position, now);
    }
    if (shows != nullptr) [[unlikely]] {
      show(position, *shows);
    }
  }
}

void Pipeline::turn_of_units(Cycle now) {
  const bool busy = ((busy_ >> units_at_) & 1U) != 0;
  if (busy && units_->others_leave(now)) {
    stays(now, units_at_ + 1);
  }
  link::SubWarp* const shows = to_show(units_at_, now);
  const Shown* const leaving = shows_ != 0 ? at(leaving_, now) : nullptr;
  link::SubWarp* const leaves = leaving != nullptr ? leaving->sub_warp : nullptr;
  if (leaves != nullptr && leaves != shows) [[unlikely]] {
    tell_entered(units_at_ + 1, *leaves);
  }
  if (busy) {
    turn(units_at_, now);
  } else if (!serves_units(now)) {
    units_->idles(now);
  }
  if (shows != nullptr) [[unlikely]] {
    show(units_at_, *shows);
    if (leaves == shows) {  // one stage: in the cycle in which it begins
      tell_entered(units_at_ + 1, *leaves);
    }
  }
}

void Pipeline::turn(unsigned position, Cycle now) {
  const Stage::After after = at_[position]->turn(now);
  if (after == Stage::After::empty) {
    busy_ &= ~(1U << position);
  } else if (after == Stage::After::holds_up) {
    stays(now, position);
  }
}

void Pipeline::stays(Cycle now, unsigned position) {
  if (position < entry_) {
    return;  // behind it the passages go on
  }
  stays_at_ |= 1U << position;
  known_ = false;
  if (!none_passes()) {
    land(now, position);
  }
}

void Pipeline::land(Cycle now, unsigned had_turn) {
  for (link::Ring<Passage>& passages : passages_) {
    for (; !passages.empty(); passages.pop()) {
      land(passages.front(), static_cast<unsigned>(&passages - passages_.data()), now, had_turn);
    }
  }
  passing_ = 0;
  known_ = false;
  shows_ = 0;
  std::fill(due_.begin(), due_.end(), link::kNever);
  std::fill(begins_.begin(), begins_.end(), link::kNever);
}

void Pipeline::land(const Passage& passage, unsigned end, Cycle now, unsigned had_turn) {
  const auto past = [&](unsigned position, Cycle hands_on) {
    return hands_on < now || (hands_on == now && position >= had_turn);
  };
  link::SubWarp& sub_warp = *passage.sub_warp;
  if (observed_) [[unlikely]] {
    beginning_[sub_warp.begins & (beginning_.size() - 1)] = {};
    leaving_[passage.leaves & (leaving_.size() - 1)] = {};
  }
  for (unsigned position = entry_; position <= units_at_; ++position) {
    const Cycle head = sub_warp.begins - before_units(position);
    if (!past(position, head)) {
      inputs_[position]->place(sub_warp, head);
      return;
    }
  }
  if (!past(units_at_, passage.leaves)) {
    has_work(units_at_);
    units_->place_running(sub_warp, passage.leaves);
    return;
  }
  for (unsigned position = units_at_ + 1;; ++position) {
    const Cycle head = head_at(passage, position);
    if (position == end || !past(position, head)) {
      if (!lets(position, sub_warp)) {
        finish(sub_warp, position);
      }
      inputs_[position]->place(sub_warp, head);
      return;
    }
  }
}

void Pipeline::settle(Cycle now) {
  if (!letting_) {
    return;
  }
  if (!none_passes()) {
    land(now, last_ + 1);
  }
  for (Stage* const stage : at_) {
    stage->each_sub_warp(
        [](Pipeline& pipeline, link::SubWarp& sub_warp, unsigned passed) { pipeline.finish(sub_warp, passed); });
  }
}

}  // namespace heddle::hw
