#include "hw/core/execute/execute.hpp"

#include <algorithm>

#include "hw/issue/discipline.hpp"
#include "hw/parameters/execution_time.hpp"

namespace heddle::hw {

namespace {

bool sums_predicates(isa::Op op) {
  return isa::is_accumulate(op) || op == isa::Op::TREE_TRAVERSE;
}

}  // namespace

ExecuteStage::ExecuteStage(const sc_core::sc_module_name& name, CoreState& state, const FetchStage& fetch)
    : ReceivingStage(name, state, state.machine.core.register_read_latency, CoreStage::execute),
      out("out"),
      performer_(state),
      fetch_(fetch),
      prefix_network_{prefix_latency(state.machine.core)},
      heap_{state.machine.core.heap_latency},
      complex_is_simple_(about<IssueDiscipline>(state.core.issue).traits.early_next_pc &&
                         complex_is_simple(state.machine.core)),
      queue_(state.machine.core.complex_queue),
      unit_capacity_(unit_capacity(state.machine.core)) {}

unsigned ExecuteStage::unit_capacity(const CoreParameters& core) {
  const unsigned latency = std::max(core.complex_latency, core.execute_stages);
  return (latency + core.complex_interval - 1) / core.complex_interval;
}

bool ExecuteStage::is_late(const link::DecodedInstruction& decoded) const {
  const isa::Op op = decoded.instruction.op;
  const unsigned latency = sums_predicates(op) ? prefix_network_.latency : isa::is_heap(op) ? heap_.latency : 0;
  return latency > state_.machine.core.execute_stages;
}

Cycle ExecuteStage::last_leaves(Cycle now) const {
  Cycle last = now;
  for (std::size_t i = 0; i != pipe_.size(); ++i) {
    last = std::max(pipe_[i].done, last + 1);
  }
  return last;
}

void ExecuteStage::place_running(link::SubWarp& sub_warp, Cycle leaves) {
  link::Ring<Running> behind;
  std::swap(behind, pipe_);
  bool placed = false;
  for (; !behind.empty(); behind.pop()) {
    if (!placed && behind.front().done > leaves) {
      pipe_.push({leaves, &sub_warp});
      placed = true;
    }
    pipe_.push(behind.front());
  }
  if (!placed) {
    pipe_.push({leaves, &sub_warp});
  }
}

void ExecuteStage::tick(Cycle now) {
  const bool handed_on = hand_on(now);
  bool started = begin_waiting(now);
  CoreStatistics& statistics = state_.statistics;
  link::SubWarp* const sub_warp = latch_.front(now);
  if (sub_warp == nullptr) {
    if (pipeline_ == nullptr || !pipeline_->serves_units(now)) {
      idles(now);
    }
  } else if (!start_all(*sub_warp, now)) {
    ++statistics.fu_active[0];
    state_.count_idle(now, 1, state_.block_cause);
    held(*sub_warp, state_.block_cause);
  } else {
    started = true;
  }
  if (!handed_on && started) {
    hand_on(now);  // with a single execute stage, in the cycle of the start
  }
}

bool ExecuteStage::stuck(Cycle now) const {
  if (!latch_.settled(now) || (!pipe_.empty() && pipe_.front().done > now) ||
      (!complex_.empty() && complex_.front().done > now)) {
    return false;
  }
  const link::SubWarp* const head = latch_.front(now);
  const bool unit_wanted = !queue_.empty() || (head != nullptr && head->decoded->unit == isa::Unit::complex);
  // Why an operation finds no room is another thing once the unit could start one (complex_room): not before that.
  return !unit_wanted || (in_unit_ == unit_capacity_ && now >= complex_free_);
}

// A complex result that is ready is first, but that of a group whose simple operation began before it and has been kept
// since: with an early next PC both are in flight, and go on in their order.
bool ExecuteStage::complex_goes_first(Cycle now) const {
  return !complex_.empty() && complex_.front().done <= now &&
         (warps_ == nullptr || pipe_.empty() || pipe_.front().done > complex_.front().done);
}

// One sub-warp per cycle to the memory stage, complex results first.
bool ExecuteStage::hand_on(Cycle now) {
  if (complex_goes_first(now)) {
    link::SubWarp& sub_warp = *complex_.front().sub_warp;
    if (!out.offer(sub_warp)) {
      held(sub_warp, state_.block_cause);
      return false;
    }
    if (sub_warp.decoded->unit == isa::Unit::complex) {
      left_unit(sub_warp);  // and the sub-warps beside it
    } else {
      --late_unit(*sub_warp.decoded)->in_flight;
      waits_no_more(state_, sub_warp);
    }
    complex_.erase(complex_.begin());
    state_.block_cause = IdleCause::complex;  // should a full pipe wait behind it
    return true;
  }
  if (pipe_.empty() || pipe_.front().done > now) {
    return false;
  }
  link::SubWarp& first = *pipe_.front().sub_warp;
  if (!out.offer(first)) {
    held(first, state_.block_cause);
    return false;
  }
  pipe_.pop();
  if (warps_ != nullptr) {
    for (link::SubWarp* each = &first; each != nullptr; each = each->beside) {
      warps_->resolved(*each);
    }
  }
  return true;
}

bool ExecuteStage::start_all(link::SubWarp& first, Cycle now) {
  Begun begun;
  if (first.beside == nullptr) {
    if (!start(first, now, begun)) {
      return false;
    }
    latch_.pop_all();
    if (!lets(first)) {
      count_units(state_, working(first));
    }
    return true;
  }
  link::SubWarp* next = &first;
  unsigned active = 0;
  while (next != nullptr && start(*next, now, begun)) {
    active += working(*next);
    next = next->beside;
    latch_.pop();
  }
  if (next == &first) {
    return false;
  }
  count_units(state_, active);
  if (next != nullptr) {
    held(*next, state_.block_cause);
  }
  return true;
}

ExecuteStage::LateUnit* ExecuteStage::late_unit(const link::DecodedInstruction& decoded) {
  if (!is_late(decoded)) {
    return nullptr;
  }
  return sums_predicates(decoded.instruction.op) ? &prefix_network_ : &heap_;
}

bool ExecuteStage::start(link::SubWarp& sub_warp, Cycle now, Begun& begun) {
  const CoreParameters& core = state_.machine.core;
  const bool complex = is_complex(*sub_warp.decoded);
  if (complex && begun.complex == nullptr && !complex_room(sub_warp, now)) {
    return false;
  }
  LateUnit* const late = late_unit(*sub_warp.decoded);
  if (late != nullptr && late->in_flight == late->latency) {
    return false;  // its way out is blocked, by who has set the cause
  }
  if (!complex && late == nullptr && begun.simple == nullptr && pipe_.size() == core.execute_stages) {
    return false;  // who kept the pipe from handing on has set the cause
  }
  state_.moved();
  if (!lets(sub_warp)) {
    works_now(sub_warp);
    performer_.perform(sub_warp);
  }
  Cycle last = now + (late != nullptr ? late->latency : core.execute_stages) - 1;
  state_.statistics.complex_operations += sub_warp.decoded->unit == isa::Unit::complex ? 1 : 0;
  if (complex) {
    start_complex(sub_warp, now, begun, last);
  } else if (late != nullptr) {
    ++late->in_flight;
    if (late == &heap_) {
      waits_for_complex(sub_warp);
    }
    leave_late(sub_warp, last);
  } else {
    if (begun.simple == nullptr) {
      pipe_.push({leaves_at(last, now), &sub_warp});
    } else {
      begun.simple->beside = &sub_warp;
    }
    begun.simple = &sub_warp;
    if (warps_ != nullptr) {
      warps_->computed(sub_warp, last);
    }
  }
  if (state_.observer != nullptr) {
    state_.observer->issued(state_, sub_warp, last);
  }
  return true;
}

// One sub-warp leaves per cycle, in order: behind those on a passage, too.
Cycle ExecuteStage::leaves_at(Cycle last, Cycle now) const {
  if (pipeline_ == nullptr || !pipeline_->lets_any_by()) {
    return last;
  }
  const Cycle before = std::max(pipeline_->begun_leave_until(now), pipe_.empty() ? 0 : pipe_[pipe_.size() - 1].done);
  return std::max(last, before + 1);
}

// ------------------------------------------------------------------------------------------- the complex unit

bool ExecuteStage::complex_room(const link::SubWarp& sub_warp, Cycle now) {
  if (!queue_.full() || (queue_.empty() && unit_takes(now))) {
    return true;
  }
  if (now < complex_free_ || in_unit_ < unit_capacity_) {
    state_.block_cause = IdleCause::complex;  // else what keeps the unit's results from leaving has set the cause
  }
  waits_for_complex(sub_warp);
  if (found_full_ != &sub_warp) {
    found_full_ = &sub_warp;
    ++state_.statistics.complex_queue_full;
  }
  return false;
}

// In the unit or its queue, by itself or in other lanes beside one that has begun in this cycle.
void ExecuteStage::start_complex(link::SubWarp& sub_warp, Cycle now, Begun& begun, Cycle& last) {
  waits_for_complex(sub_warp);
  if (begun.complex != nullptr) {
    last = begun.complex_last;
    begun.complex->beside = &sub_warp;
    begun.complex = &sub_warp;
    return;
  }
  found_full_ = nullptr;
  const bool at_once = queue_.empty() && unit_takes(now);
  last = at_once ? begin_complex(sub_warp, now) : link::kNever;
  if (!at_once) {
    queue_.push_back({&sub_warp, now});
    ++state_.statistics.complex_queued;
  }
  begun.complex = &sub_warp;
  begun.complex_last = last;
}

Cycle ExecuteStage::begin_complex(link::SubWarp& sub_warp, Cycle now) {
  const CoreParameters& core = state_.machine.core;
  const Cycle last = now + std::max(core.complex_latency, core.execute_stages) - 1;
  ++in_unit_;
  complex_free_ = now + core.complex_interval;
  leave_late(sub_warp, last);
  return last;
}

// The head of the queue, when the unit takes it; the others wait on.
bool ExecuteStage::begin_waiting(Cycle now) {
  const bool begins = !queue_.empty() && unit_takes(now);
  if (begins) {
    const Waiting head = queue_.front();
    queue_.pop_front();
    state_.moved();
    state_.statistics.complex_wait_cycles += now - head.since;
    const Cycle last = begin_complex(*head.sub_warp, now);
    for (link::SubWarp* each = head.sub_warp; each != nullptr && state_.observer != nullptr; each = each->beside) {
      state_.observer->began(state_, *each, last);
    }
  }
  if (state_.observer != nullptr) {
    for (const Waiting& waiting : queue_) {
      held(*waiting.sub_warp, IdleCause::complex);
    }
  }
  return begins;
}

// An instruction whose last sub-warp has come to the unit waits for it, whether it has begun or not.
void ExecuteStage::waits_for_complex(const link::SubWarp& sub_warp) {
  Group& group = state_.groups[sub_warp.group];
  if (sub_warp.last && sub_warp.flight == group.latest && !group.flight().released &&
      group.state == GroupState::in_flight) {
    state_.groups.set_state(group, GroupState::complex);
  }
}

void ExecuteStage::left_unit(const link::SubWarp& first) {
  --in_unit_;
  waits_no_more(state_, first);
}

void ExecuteStage::waits_no_more(CoreState& state, const link::SubWarp& first) {
  for (const link::SubWarp* each = &first; each != nullptr; each = each->beside) {
    Group& group = state.groups[each->group];
    if (each->last && each->flight == group.latest && group.state == GroupState::complex) {
      state.groups.set_state(group, GroupState::in_flight);
    }
  }
}

void ExecuteStage::leave_late(link::SubWarp& sub_warp, Cycle done) {
  const auto later = [](Cycle at, const Running& running) { return at < running.done; };
  complex_.insert(std::upper_bound(complex_.begin(), complex_.end(), done, later), {done, &sub_warp});
}

// The units see what fetch did front_latency() cycles before: at first what it did before the core came to rest.
void ExecuteStage::waited(Cycle first, Cycle cycles) {
  state_.statistics.fu_active[0] += cycles;
  if (occupied_at_rest_) {
    state_.count_idle(first, cycles, state_.block_cause);
    return;
  }
  const Cycle before = std::min<Cycle>(cycles, front_latency_);
  for (Cycle cycle = first; cycle != first + before; ++cycle) {
    state_.count_idle(cycle, 1, idle_cause(cycle));
  }
  state_.count_idle(first + before, cycles - before, fetch_.rest_cause());
}

void ExecuteStage::settle() {
  ReceivingStage::settle();
  for (std::size_t i = 0; i != pipe_.size(); ++i) {
    pipeline_->finish(*pipe_[i].sub_warp, position_ + 1);
  }
}

void ExecuteStage::reset() {
  drop_all();
  pipe_.clear();
  complex_.clear();
  queue_.clear();
  prefix_network_.in_flight = heap_.in_flight = 0;
  in_unit_ = 0;
  complex_free_ = 0;
  found_full_ = nullptr;
  occupied_at_rest_ = false;
}

}  // namespace heddle::hw
