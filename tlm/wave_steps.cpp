#include "tlm/wave_steps.hpp"

#include <algorithm>
#include <utility>

namespace heddle::link {

void WaveSteps::declare() {
  states_.emplace_back();
  due_values_.emplace_back();
  dirty_.resize(states_.size() + 1);
  changes_.resize(states_.size() + 1);
}

void WaveSteps::apply(std::span<const WaveOp> ops) {
  const WaveOp* op = ops.data();
  const WaveOp* const end = op + ops.size();
  while ((op = apply_sets(op, end)) != end) {
    apply_other(op);
    const bool has_cycle =
        op->kind == WaveOp::Kind::set_at || op->kind == WaveOp::Kind::add_at || op->kind == WaveOp::Kind::merge;
    op += has_cycle ? 2 : 1;
  }
}

// Without a branch on what an op is or finds, which is hard to foresee.
const WaveOp* WaveSteps::apply_sets(const WaveOp* op, const WaveOp* const end) {
  State* const states = states_.data();
  std::uint32_t* dirty = dirty_.data() + dirty_count_;
  PulseEnd* next = next_.data() + next_count_;
  const PulseEnd* next_end = next_.data() + next_.size();
  for (; op != end && op->kind <= WaveOp::Kind::count; ++op) {
    if (next == next_end) [[unlikely]] {
      next_count_ = next_.size();
      next_.resize(2 * next_.size() + 64);
      next = next_.data() + next_count_;
      next_end = next_.data() + next_.size();
    }
    const WaveOp told = *op;
    State& state = states[told.wave];
    const bool pulse = told.kind != WaveOp::Kind::set;
    const bool adds = told.kind == WaveOp::Kind::count && state.dirty;
    const std::uint32_t generation = state.generation + (state.scheduled ? 1 : 0);  // it voids what was announced
    state.value = told.value + (adds ? state.value : 0);
    state.generation = generation;
    state.scheduled = pulse;
    *dirty = told.wave;
    dirty += state.dirty ? 0 : 1;
    state.dirty = true;
    next->wave = told.wave;
    next->generation = generation;
    next += pulse ? 1 : 0;
  }
  dirty_count_ = static_cast<std::size_t>(dirty - dirty_.data());
  next_count_ = static_cast<std::size_t>(next - next_.data());
  return op;
}

void WaveSteps::apply_other(const WaveOp* op) {
  switch (op->kind) {
    case WaveOp::Kind::merge: {
      const Cycle now = op[1].value;
      pass_before(now);
      collect_present(now);
      const WaveOp merged{op->wave, WaveOp::Kind::set, op->value | states_[op->wave].value};
      apply_sets(&merged, &merged + 1);
      break;
    }
    case WaveOp::Kind::set_at:
    case WaveOp::Kind::add_at: {
      State& state = states_[op->wave];
      const bool difference = op->kind == WaveOp::Kind::add_at;
      state.scheduled = state.scheduled || !difference;
      announce(op[1].value, {op->wave, state.generation, op->value, difference});
      break;
    }
    case WaveOp::Kind::forget:
      forget(op->wave);
      break;
    case WaveOp::Kind::end_step:
      end_step(op->value);
      break;
    default:
      break;
  }
}

// What the wave has announced or set goes with it: modules go after their last step.
void WaveSteps::forget(std::uint32_t wave) {
  const auto dirty = dirty_.begin() + static_cast<std::ptrdiff_t>(dirty_count_);
  dirty_count_ = static_cast<std::size_t>(std::remove(dirty_.begin(), dirty, wave) - dirty_.begin());
  const auto of_wave = [wave](const auto& announced) { return announced.wave == wave; };
  const auto take_out = [&](std::vector<PulseEnd>& ends, std::size_t& count) {
    const auto end = ends.begin() + static_cast<std::ptrdiff_t>(count);
    count = static_cast<std::size_t>(std::remove_if(ends.begin(), end, of_wave) - ends.begin());
  };
  std::erase(collected_, wave);
  take_out(next_, next_count_);
  take_out(due_, due_count_);
  std::vector<Later> kept;
  kept.reserve(later_.size());
  for (; !later_.empty(); later_.pop()) {
    if (!of_wave(later_.top().change)) {
      kept.push_back(later_.top());
    }
  }
  later_ = decltype(later_)(std::greater<>(), std::move(kept));
}

// Without a branch on whether it is a change, which is hard to foresee.
inline void WaveSteps::add(std::uint32_t wave, std::uint64_t value) {
  State& state = states_[wave];
  changes_[changes_count_] = {wave, value};
  changes_count_ += value != state.shown || !state.shown_known ? 1 : 0;
  state.shown = value;
  state.shown_known = true;
}

inline void WaveSteps::show_changes(Cycle cycle) {
  if (changes_count_ != 0) {
    show_(cycle, {changes_.data(), std::exchange(changes_count_, 0)});
  }
}

// An announced change takes place, unless a set has voided it: one of an earlier step, or, for a change in the present
// cycle, one of this step.
inline void WaveSteps::collect(const Announced& announced, bool at_present) {
  State& state = states_[announced.wave];
  if (announced.difference) {
    state.value += announced.value;
    due_values_[announced.wave] = state.value;
  } else {
    if (announced.generation != (at_present ? state.generation : state.flushed_generation)) {
      return;
    }
    if (!state.dirty || at_present) {
      state.value = announced.value;
    }
    due_values_[announced.wave] = announced.value;
  }
  if (!state.collected) {
    state.collected = true;
    collected_.push_back(announced.wave);
  }
}

void WaveSteps::collect_pulses(bool at_present) {
  for (const PulseEnd& end : std::span(due_.data(), due_count_)) {
    const State& state = states_[end.wave];
    if (end.generation == (at_present ? state.generation : state.flushed_generation)) {
      collect({end.wave, end.generation, 0, false}, at_present);
    }
  }
  due_count_ = 0;
}

// What was announced for cycles before this one takes place.
void WaveSteps::pass_before(Cycle now) {
  while (true) {
    Cycle at = due_count_ == 0 ? kNever : due_at_;
    if (!later_.empty()) {
      at = std::min(at, later_.top().at);
    }
    if (at >= now) {
      break;
    }
    while (!later_.empty() && later_.top().at == at) {
      collect(later_.top().change, false);
      later_.pop();
    }
    if (due_count_ != 0 && due_at_ == at) {
      collect_pulses(false);
    }
    for (const std::uint32_t wave : collected_) {
      states_[wave].collected = false;
      add(wave, due_values_[wave]);
    }
    collected_.clear();
    show_changes(at);
  }
}

// What was announced for the present cycle goes with what is set in it.
void WaveSteps::collect_present(Cycle now) {
  while (!later_.empty() && later_.top().at == now) {
    collect(later_.top().change, true);
    later_.pop();
  }
  if (due_count_ != 0 && due_at_ == now) {
    collect_pulses(true);
  }
}

void WaveSteps::end_step(Cycle now) {
  latest_ = now;
  pass_before(now);
  collect_present(now);
  for (const std::uint32_t wave : collected_) {
    states_[wave].collected = false;
    if (!states_[wave].dirty) {
      add(wave, due_values_[wave]);
    }
  }
  collected_.clear();
  for (const std::uint32_t wave : std::span(dirty_.data(), dirty_count_)) {
    State& state = states_[wave];
    state.dirty = false;
    state.flushed_generation = state.generation;
    add(wave, state.value);
  }
  dirty_count_ = 0;
  show_changes(now);
  if (next_count_ != 0) {
    if (due_count_ == 0) {
      due_.swap(next_);
      due_count_ = next_count_;
    } else {  // another step of the same cycle
      due_.resize(due_count_);
      due_.insert(due_.end(), next_.begin(), next_.begin() + static_cast<std::ptrdiff_t>(next_count_));
      due_count_ = due_.size();
    }
    next_count_ = 0;
    due_at_ = now + 1;
  }
}

}  // namespace heddle::link
