#include "traces/vcd_file.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "traces/vcd_text.hpp"

namespace heddle::traces {

VcdFile::VcdFile(ByteSink& out, link::Clock clock, Options options)
    : VcdFile(std::make_unique<VcdText>(out), std::move(clock), std::move(options)) {}

VcdFile::VcdFile(std::unique_ptr<WaveForm> form, link::Clock clock, Options options)
    : WaveLog(options.apart ? kBatch : 0),
      clock_(std::move(clock)),
      options_(std::move(options)),
      form_(std::move(form)),
      steps_([this](link::Cycle cycle, std::span<const link::WaveChange> changes) { show(cycle, changes); }) {
  if (options_.apart) {
    thread_ = std::make_unique<BatchThread<Ops>>([this](Ops& told) { steps_.apply({told.ops.data(), told.count}); });
  }
  follow(clock_);
  sc_core::sc_get_curr_simcontext()->add_trace_file(this);
}

VcdFile::~VcdFile() {
  if (!finished_) {
    sc_core::sc_get_curr_simcontext()->remove_trace_file(this);
  }
}

// ------------------------------------------------------------------------------------------------ declarations

void VcdFile::add(const std::string& name, unsigned width, VarType type, bool wave) {
  if (header_written_) {
    throw InternalError("the signal " + name + " is traced after the simulation has begun");
  }
  if (name.empty() || width == 0) {
    throw InternalError("a traced signal needs a name and a width");
  }
  variables_.push_back({name, width, type, wave});
  if (!wave) {
    pass_each_step();
    thread_.reset();
  }
}

void VcdFile::declare(const std::string& name, unsigned width) {
  if (width > 64) {
    throw InternalError("the signal " + name + " is wider than 64 bits");
  }
  add(name, width, VarType::wire, true);
  waves_.push_back(static_cast<std::uint32_t>(variables_.size() - 1));
  latest_.emplace_back();
  steps_.declare();
}

void VcdFile::write_comment(const std::string& comment) {
  if (comment.find("$end") == std::string::npos) {
    comments_.push_back(comment);
  }
}

void VcdFile::write_header() {
  header_written_ = true;
  const std::uint64_t period = clock_.cycles(1).value();
  const std::uint64_t per_ns = sc_core::sc_time(1, sc_core::SC_NS).value();
  const bool whole_ns = polled_.empty() && per_ns != 0 && period % per_ns == 0;
  resolution_units_ = whole_ns ? per_ns : 1;
  cycle_units_ = period / resolution_units_;
  // A power of ten, as SystemC allows for its resolution.
  const int unit =
      whole_ns ? -9 : static_cast<int>(std::lround(std::log10(sc_core::sc_get_time_resolution().to_seconds())));
  for (Polled& polled : polled_) {
    if (variables_[polled.variable].type != VarType::event) {
      polled.shown = polled.text();
    }
  }
  form_->begin({options_.version, comments_, unit, variables_, waves_});
}

// ------------------------------------------------------------------------------------------------------- values

// The values with which the window begins.
void VcdFile::open_window(std::uint64_t time) {
  window_open_ = true;
  form_->time(time);
  form_->first_values(true);
  for (std::uint32_t wave = 0; wave != waves_.size(); ++wave) {  // as they were declared
    if (latest_[wave].known) {
      const link::WaveChange first{wave, latest_[wave].value};
      form_->changes({&first, 1});
    } else {
      form_->unknown(wave);
    }
  }
  for (Polled& polled : polled_) {
    if (variables_[polled.variable].type != VarType::event) {
      form_->text(polled.variable, polled.shown);
    }
  }
  form_->first_values(false);
}

void VcdFile::pass(std::vector<link::WaveOp>& ops, std::size_t count) {
  if (thread_) {
    if (!header_written_) {
      write_header();
    }
    Ops told{std::move(ops), count};
    thread_->hand_over(told);
    ops = std::move(told.ops);
  } else {
    steps_.apply({ops.data(), count});
  }
}

void VcdFile::show(link::Cycle cycle, std::span<const link::WaveChange> changes) {
  if (cycle > options_.to) {
    return;
  }
  if (!window_open_) {
    if (cycle > options_.from) {
      open_window(time_of(options_.from));
    } else {
      for (const link::WaveChange& change : changes) {
        latest_[change.wave] = {change.value, true};
      }
      if (cycle < options_.from) {
        return;
      }
      open_window(time_of(cycle));
      return;
    }
  }
  form_->time(time_of(cycle));
  changes_ += changes.size();
  if (!changes.empty()) {
    note_change(cycle);
  }
  form_->changes(changes);
}

void VcdFile::look(std::uint64_t time) {
  const link::Cycle now = clock_.now();
  if (now > options_.to) {
    return;
  }
  const bool visible = now >= options_.from;
  if (visible && !window_open_) {
    open_window(time_of(options_.from));
  }
  for (Polled& polled : polled_) {
    std::string text = polled.text();
    if (text != polled.shown) {
      if (visible) {
        form_->time(time);
        ++changes_;
        note_change(now);
        form_->text(polled.variable, text);
      }
      if (variables_[polled.variable].type != VarType::event) {
        polled.shown = std::move(text);
      }
    }
  }
}

// The kernel calls this at the end of every time step.
void VcdFile::cycle(bool delta_cycle) {
  if (delta_cycle || finished_) {
    return;
  }
  if (!header_written_) {
    write_header();
  }
  const bool changed = !idle();
  const link::Cycle step = end_step();
  if (asleep() || over_ || (!changed && polled_.empty())) {
    return;  // what was announced can wait for the next change
  }
  flush(step);
  if (!polled_.empty()) {
    look(sc_core::sc_time_stamp().value() / resolution_units_);
  }
}

void VcdFile::wait_for_window() {
  if (options_.from != 0 && polled_.empty()) {
    sleep(options_.from);
  }
}

void VcdFile::window_begins(link::Cycle now) {
  if (asleep()) {
    wake(now);
  }
}

void VcdFile::window_over(link::Cycle now) {
  if (!over_ && !finished_ && polled_.empty()) {
    window_begins(now);
    flush(now);
    pass_on();
    leave();
    over_ = true;
  }
}

void VcdFile::finish() {
  if (finished_) {
    return;
  }
  if (!header_written_) {
    write_header();
  }
  const link::Cycle now = clock_.now();
  window_begins(now + 1);
  flush(now);
  pass_on();
  if (thread_) {
    thread_->finish();
  }
  if (!polled_.empty()) {
    look(sc_core::sc_time_stamp().value() / resolution_units_);
  }
  if (!window_open_) {
    open_window(time_of(options_.from));
  }
  last_cycle_ = std::max(options_.from, std::min(now, options_.to));
  form_->time(time_of(last_cycle_ + 1));
  form_->end();
  finished_ = true;
  sc_core::sc_get_curr_simcontext()->remove_trace_file(this);
}

}  // namespace heddle::traces
