#include "tlm/wave.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.hpp"

namespace heddle::link {

Wave::~Wave() {
  if (log_ != nullptr) {
    log_->forget(*this);
  }
}

void Wave::change_otherwise(std::uint64_t value) {
  log_->change_comes();
  settle(value);
  if (!log_->asleep_) {
    log_->mark_dirty(*this);
  }
}

void Wave::set_at(Cycle at, std::uint64_t value) {
  if (log_ != nullptr) {
    log_->change_comes();
    unusual_ |= kScheduled;
    log_->announce(at, {this, value, generation_, false});
  }
}

void Wave::add_at(Cycle at, std::uint64_t difference) {
  if (log_ != nullptr) {
    log_->change_comes();
    log_->announce(at, {this, difference, 0, true});
  }
}

WaveLog::~WaveLog() {
  for (Wave* const wave : waves_) {
    if (wave != nullptr) {
      wave->log_ = nullptr;
    }
  }
}

// Between two calls of the kernel, by whoever looks at the GPU then, waves change in the kernel's next step.
void WaveLog::begin_step() {
  if (!clock_ || asleep_ || clock_->now() == step_ || sc_core::sc_get_status() != sc_core::SC_RUNNING) {
    return;
  }
  if (step_ != kNever) {
    flush(step_);
  }
  step_ = clock_->now();
}

// What the wave has announced or set goes with it: modules go after their last step.
void WaveLog::forget(Wave& wave) {
  waves_[wave.index_] = nullptr;
  const auto dirty = dirty_.begin() + static_cast<std::ptrdiff_t>(dirty_count_);
  dirty_count_ = static_cast<std::size_t>(std::remove(dirty_.begin(), dirty, &wave) - dirty_.begin());
  std::erase(collected_, &wave);
  const auto of_wave = [&wave](const auto& announced) { return announced.wave == &wave; };
  const auto take_out = [&](std::vector<PulseEnd>& ends, std::size_t& count) {
    const auto end = ends.begin() + static_cast<std::ptrdiff_t>(count);
    count = static_cast<std::size_t>(std::remove_if(ends.begin(), end, of_wave) - ends.begin());
  };
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

void WaveLog::announce(Cycle at, const Announced& change) {
  later_.push({std::max(at, latest_), order_++, change});
  if (asleep_ && later_.size() > most_later_) {
    take_place(present());
    most_later_ = std::max(kFewLater, 2 * later_.size());
  }
}

// While it sleeps: what was announced for cycles before this one is as if it had been set, unless a set() has voided
// it.
void WaveLog::take_place(Cycle before) {
  for (; !later_.empty() && later_.top().at < before; later_.pop()) {
    const Announced& announced = later_.top().change;
    Wave& wave = *announced.wave;
    if (announced.difference || announced.generation == wave.generation_) {
      wave.becomes(announced.difference ? wave.value_ + announced.value : announced.value);
    }
  }
}

void WaveLog::wake(Cycle now) {
  take_place(now);
  asleep_ = false;
  latest_ = now - 1;
  for (Wave* const wave : waves_) {
    if (wave != nullptr) {
      wave->flushed_generation_ = wave->generation_;
      if (wave->known()) {
        add(*wave, wave->value_);
      }
    }
  }
  show_changes(latest_);
}

void WaveLog::leave() {
  for (Wave* const wave : waves_) {
    if (wave != nullptr) {
      wave->log_ = nullptr;
    }
  }
  waves_.clear();
  dirty_count_ = 0;
  next_count_ = due_count_ = 0;
  later_ = {};
}

void WaveLog::take(Wave& wave, const std::string& name, unsigned width) {
  if (wave.log_ != nullptr) {
    throw InternalError("the signal " + name + " is traced twice");
  }
  declare(name, width);
  wave.log_ = this;
  wave.index_ = static_cast<std::uint32_t>(waves_.size());
  waves_.push_back(&wave);
  dirty_.resize(waves_.size() + 1);
  changes_.resize(waves_.size() + 1);
}

// An announced change takes place, unless a set() has voided it: one of an earlier step, or, for a change in the
// present cycle, one of this step.
void WaveLog::collect(const Announced& announced, bool at_present) {
  Wave& wave = *announced.wave;
  if (announced.difference) {
    wave.becomes(wave.value_ + announced.value);
    wave.due_value_ = wave.value_;
  } else {
    if (announced.generation != (at_present ? wave.generation_ : wave.flushed_generation_)) {
      return;
    }
    if (!wave.dirty_ || at_present) {
      wave.becomes(announced.value);
    }
    wave.due_value_ = announced.value;
  }
  if (!wave.collected_) {
    wave.collected_ = true;
    collected_.push_back(&wave);
  }
}

void WaveLog::collect_pulses(bool at_present) {
  for (const PulseEnd& end : std::span(due_.data(), due_count_)) {
    if (end.generation == (at_present ? end.wave->generation_ : end.wave->flushed_generation_)) {
      collect({end.wave, 0, end.generation, false}, at_present);
    }
  }
  due_count_ = 0;
}

void WaveLog::pass_on(Cycle cycle) {
  for (Wave* const wave : collected_) {
    wave->collected_ = false;
    add(*wave, wave->due_value_);
  }
  collected_.clear();
  show_changes(cycle);
}

void WaveLog::flush(Cycle now) {
  latest_ = now;
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
    pass_on(at);
  }
  // The present cycle: what was announced for it goes with what was set in it.
  while (!later_.empty() && later_.top().at == now) {
    collect(later_.top().change, true);
    later_.pop();
  }
  if (due_count_ != 0 && due_at_ == now) {
    collect_pulses(true);
  }
  for (Wave* const wave : collected_) {
    wave->collected_ = false;
    if (!wave->dirty_) {
      add(*wave, wave->due_value_);
    }
  }
  collected_.clear();
  for (Wave* const wave : std::span(dirty_.data(), dirty_count_)) {
    wave->dirty_ = false;
    wave->flushed_generation_ = wave->generation_;
    add(*wave, wave->value_);
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

void sc_trace(sc_core::sc_trace_file* file, Wave& wave, const std::string& name, int width) {
  auto* const log = dynamic_cast<WaveLog*>(file);
  if (log == nullptr) {
    throw InternalError("the signal " + name + " needs a trace file that takes changes (WaveLog)");
  }
  log->take(wave, name, static_cast<unsigned>(width));
}

}  // namespace heddle::link
