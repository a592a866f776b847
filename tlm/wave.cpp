#include "tlm/wave.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace heddle::link {

Wave::~Wave() {
  if (log_ != nullptr) {
    log_->forget(*this);
  }
}

void Wave::merge(std::uint64_t bits) {
  if (log_ == nullptr) {
    return;
  }
  log_->change_comes();
  if (log_->asleep_) {
    log_->set_sleeping(*this, value_ | bits);
    return;
  }
  settled_ = false;
  log_->add({index_, WaveOp::Kind::merge, bits});
  log_->add({0, WaveOp::Kind::at, log_->present_of(log_->step_)});
}

void Wave::set_at(Cycle at, std::uint64_t value) {
  if (log_ != nullptr) {
    settled_ = false;
    log_->announce(*this, WaveOp::Kind::set_at, at, value);
  }
}

void Wave::add_at(Cycle at, std::uint64_t difference) {
  if (log_ != nullptr) {
    log_->announce(*this, WaveOp::Kind::add_at, at, difference);
  }
}

WaveLog::~WaveLog() {
  for (Wave* const wave : waves_) {
    if (wave != nullptr) {
      wave->log_ = nullptr;
    }
  }
}

void WaveLog::take(Wave& wave, const std::string& name, unsigned width) {
  if (wave.log_ != nullptr) {
    throw InternalError("the signal " + name + " is traced twice");
  }
  declare(name, width);
  wave.log_ = this;
  wave.index_ = static_cast<std::uint32_t>(waves_.size());
  waves_.push_back(&wave);
  sleeping_.emplace_back();
}

// --------------------------------------------------------------------------------------------------------- steps

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

void WaveLog::flush(Cycle now) {
  add({0, WaveOp::Kind::end_step, now});
  if (count_ >= batch_) {
    pass_on();
  }
  idle_count_ = count_;
}

void WaveLog::pass_on() {
  if (count_ != 0) {
    pass(ops_, std::exchange(count_, 0));
    idle_count_ = 0;
  }
}

void WaveLog::more_room() {
  ops_.resize(std::max(2 * ops_.size(), batch_ + batch_ / 2 + 64));
}

void WaveLog::leave() {
  for (Wave* const wave : waves_) {
    if (wave != nullptr) {
      wave->log_ = nullptr;
    }
  }
  waves_.clear();
  later_.clear();
}

void WaveLog::forget(Wave& wave) {
  waves_[wave.index_] = nullptr;
  std::erase_if(later_, [&wave](const Announced& announced) { return announced.wave == &wave; });
  add_aside({wave.index_, WaveOp::Kind::forget, 0});
}

void WaveLog::announce(Wave& wave, WaveOp::Kind kind, Cycle at, std::uint64_t value) {
  change_comes();
  if (asleep_) {
    announce_sleeping({&wave, kind, sleeping_[wave.index_].generation, value, at});
    return;
  }
  add_aside({wave.index_, kind, value});
  add_aside({0, WaveOp::Kind::at, at});
}

// --------------------------------------------------------------------------------------------------------- sleep

void WaveLog::set_sleeping(Wave& wave, std::uint64_t value) {
  wave.settle(value);
  Sleeping& sleeping = sleeping_[wave.index_];
  sleeping = {0, sleeping.generation + 1, true};
}

// What takes place before the log wakes needs no queue: what sets the wave later overrides it, whether it voids the
// announcement or finds it in place. Only an announcement for a later cycle, made earlier, outlives it.
void WaveLog::announce_sleeping(const Announced& announced) {
  if (announced.at >= until_) {
    later_.push_back(announced);
    return;
  }
  Wave& wave = *announced.wave;
  Sleeping& sleeping = sleeping_[wave.index_];
  if (announced.kind == WaveOp::Kind::add_at) {
    wave.value_ += announced.value;
  } else if (sleeping.at <= announced.at) {
    wave.value_ = announced.value;
    sleeping.at = announced.at;
  }
  sleeping.known = true;
}

void WaveLog::wake(Cycle now) {
  std::erase_if(later_, [this](const Announced& announced) {
    return announced.kind == WaveOp::Kind::set_at &&
           announced.generation != sleeping_[announced.wave->index_].generation;
  });
  std::stable_sort(later_.begin(), later_.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  const auto first = std::find_if(later_.begin(), later_.end(), [now](const auto& one) { return one.at >= now; });
  until_ = now;
  std::for_each(later_.begin(), first, [this](const Announced& over) { announce_sleeping(over); });
  asleep_ = false;
  for (Wave* const wave : waves_) {
    if (wave != nullptr && sleeping_[wave->index_].known) {
      add({wave->index_, WaveOp::Kind::set, wave->value_});
    }
  }
  flush(now - 1);
  std::for_each(first, later_.end(), [this](const Announced& announced) {
    add_aside({announced.wave->index_, announced.kind, announced.value});
    add_aside({0, WaveOp::Kind::at, announced.at});
  });
  later_.clear();
}

// ------------------------------------------------------------------------------------------------------- setters

void WaveSetter::set_otherwise(Wave& wave, std::uint64_t value) {
  if (wave.log_ != log_) {
    wave.set(value);
  } else if (value != wave.value_ || !wave.settled_) {
    wave.settle(value);
    tell(wave, WaveOp::Kind::set, value);
  }
}

void WaveSetter::tell_otherwise(Wave& wave, WaveOp::Kind kind, std::uint64_t value) {
  if (!awake_) {
    log_->set_sleeping(wave, kind == WaveOp::Kind::set ? value : 0);  // which it has from the next cycle on
    return;
  }
  log_->count_ = static_cast<std::size_t>(next_ - log_->ops_.data());
  log_->add({wave.index_, kind, value});
  next_ = log_->ops_.data() + log_->count_;
  end_ = log_->ops_.data() + log_->ops_.size();
}

void sc_trace(sc_core::sc_trace_file* file, Wave& wave, const std::string& name, int width) {
  auto* const log = dynamic_cast<WaveLog*>(file);
  if (log == nullptr) {
    throw InternalError("the signal " + name + " needs a trace file that takes changes (WaveLog)");
  }
  log->take(wave, name, static_cast<unsigned>(width));
}

}  // namespace heddle::link
