#include "hw/core/execute/execute.hpp"

#include <algorithm>

#include "hw/issue/discipline.hpp"
#include "hw/parameters/execution_time.hpp"

namespace heddle::hw {

namespace {

bool is_complex(const link::DecodedInstruction& decoded) {
  return decoded.unit == isa::Unit::complex;
}
bool is_half(const link::DecodedInstruction& decoded) {
  return decoded.unit == isa::Unit::half;
}
bool multiplies_matrices(const link::DecodedInstruction& decoded) {
  return decoded.unit == isa::Unit::tensor;
}
bool sums_predicates(const link::DecodedInstruction& decoded) {
  return isa::is_accumulate(decoded.instruction.op) || isa::is_tree_traverse(decoded.instruction.op);
}
bool allocates(const link::DecodedInstruction& decoded) {
  return isa::is_heap(decoded.instruction.op);
}

// Products that wait for the tensor core, while other instructions pass: one of each warp of a GPU's sub-core.
constexpr unsigned kTensorQueue = 16;

// The units that a core has beside its lanes' execute stages. Operations that would take no longer there pass those.
std::vector<Unit> units_of(const CoreParameters& core, CoreStatistics& statistics) {
  std::vector<Unit> units;
  const bool early = about<IssueDiscipline>(core.issue).traits.early_next_pc;
  if (!early || !complex_is_simple(core)) {
    UnitTraits complex;
    complex.takes = is_complex;
    complex.latency = std::max(core.complex_latency, core.execute_stages);
    complex.interval = core.complex_interval;
    complex.room = (complex.latency + core.complex_interval - 1) / core.complex_interval;  // that overlap at full rate
    complex.queue = core.complex_queue;
    complex.joins = complex.waits = true;
    units.emplace_back(complex, UnitCounters{&statistics.complex_queued, &statistics.complex_queue_full,
                                             &statistics.complex_wait_cycles});
  }
  if (!half_is_simple(core)) {
    UnitTraits half;
    half.takes = is_half;
    half.latency = half_time(core);
    half.interval = core.half_interval;
    half.room = (half.latency + core.half_interval - 1) / core.half_interval;
    half.joins = half.waits = half.forwards = true;
    units.emplace_back(half, UnitCounters{});
  }
  if (core.tensor_rate != 0) {
    UnitTraits tensor;
    tensor.takes = multiplies_matrices;
    tensor.latency = std::max(core.tensor_latency, core.execute_stages);
    tensor.room = tensor.latency + 1;  // each takes it for a cycle or more
    tensor.queue = kTensorQueue;
    tensor.waits = true;
    units.emplace_back(tensor, UnitCounters{});
  }
  const auto pipelined = [&](bool (*takes)(const link::DecodedInstruction&), unsigned latency, bool waits) {
    if (latency > core.execute_stages) {
      units.emplace_back(UnitTraits{takes, latency, 0, latency, 0, false, waits}, UnitCounters{});
    }
  };
  pipelined(sums_predicates, prefix_latency(core), false);
  pipelined(allocates, core.heap_latency, true);
  return units;
}

}  // namespace

ExecuteStage::ExecuteStage(const sc_core::sc_module_name& name, CoreState& state, const FetchStage& fetch)
    : ReceivingStage(name, state, state.machine.core.register_read_latency, CoreStage::execute),
      out("out"),
      performer_(state),
      fetch_(fetch),
      units_(units_of(state.machine.core, state.statistics)),
      intervals_{state.machine.core.integer_interval, state.machine.core.float_interval,
                 state.machine.core.double_interval},
      narrow_(*std::max_element(intervals_.begin(), intervals_.end()) > 1) {}

const Unit* ExecuteStage::unit_of(const link::DecodedInstruction& decoded) const {
  const auto found =
      std::find_if(units_.begin(), units_.end(), [&](const Unit& unit) { return unit.traits.takes(decoded); });
  return found == units_.end() ? nullptr : &*found;
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
  // Results that are forwarded come by time, also those of an operation that is behind one that is kept: the last one
  // counts then.
  const bool to_the_last = warps_ != nullptr;
  if (!latch_.settled(now) || (!pipe_.empty() && pipe_[to_the_last ? pipe_.size() - 1 : 0].done > now) ||
      (!apart_.empty() && (to_the_last ? apart_.back() : apart_.front()).done > now)) {
    return false;
  }
  const link::SubWarp* const head = latch_.front(now);
  if (head != nullptr && lanes_busy(*head->decoded, now)) {
    return false;
  }
  const Unit* const wanted = head != nullptr && !head->decoded->in_order ? unit_of(*head->decoded) : nullptr;
  // Why an operation finds no room is another thing once the unit could start one (start_apart): not before that.
  return std::all_of(units_.begin(), units_.end(), [&](const Unit& unit) {
    return (unit.waiting().empty() && wanted != &unit) || unit.blocked(now);
  });
}

// A result of another unit that is ready is first, but that of a group whose simple operation began before it and has
// been kept since: with an early next PC both are in flight, and go on in their order.
bool ExecuteStage::apart_goes_first(Cycle now) const {
  return !apart_.empty() && apart_.front().done <= now &&
         (warps_ == nullptr || pipe_.empty() || pipe_.front().done > apart_.front().done);
}

// One sub-warp per cycle to the memory stage, results of other units first.
bool ExecuteStage::hand_on_next(Cycle now) {
  if (apart_goes_first(now)) {
    link::SubWarp& sub_warp = *apart_.front().sub_warp;
    if (!out.offer(sub_warp)) {
      held(sub_warp, state_.block_cause);
      return false;
    }
    unit_of(*sub_warp.decoded)->leaves();
    waits_no_more(state_, sub_warp);  // and the sub-warps beside it
    apart_.erase(apart_.begin());
    state_.block_cause = IdleCause::complex;  // should a full pipe wait behind it
    return true;
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
    if (state_.observer != nullptr) {
      tell_units(working(first));
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
  if (state_.observer != nullptr) {
    tell_units(active);
  }
  if (next != nullptr) {
    held(*next, state_.block_cause);
  }
  return true;
}

bool ExecuteStage::start(link::SubWarp& sub_warp, Cycle now, Begun& begun) {
  Unit* const unit = sub_warp.decoded->in_order ? nullptr : unit_of(*sub_warp.decoded);
  if (unit != nullptr && begun.joined != unit && !unit->has_room(now)) {
    finds_no_room(*unit, sub_warp, now);
    return false;
  }
  if (unit == nullptr && begun.simple == nullptr && pipe_.size() == state_.machine.core.execute_stages) {
    return false;  // who kept the pipe from handing on has set the cause
  }
  if (begun.simple == nullptr && lanes_busy(*sub_warp.decoded, now)) {
    state_.block_cause = IdleCause::complex;
    return false;
  }
  state_.moved();
  if (!lets(sub_warp)) {
    works_now(sub_warp);
    performer_.perform(sub_warp);
  } else if (state_.observer != nullptr) {
    pipeline_->show_work(sub_warp, position_);
  }
  state_.statistics.complex_operations += is_complex(*sub_warp.decoded) ? 1 : 0;
  const Cycle last =
      unit != nullptr ? start_apart(*unit, sub_warp, now, begun) : start_simple(sub_warp, now, begun.simple);
  if (state_.observer != nullptr) {
    state_.observer->issued(state_, sub_warp, last);
  }
  return true;
}

Cycle ExecuteStage::start_simple(link::SubWarp& sub_warp, Cycle now, link::SubWarp*& begun) {
  const Cycle last = now + state_.machine.core.execute_stages - 1;
  if (begun == nullptr) {
    pipe_.push({leaves_at(last, now), &sub_warp});
    if (narrow_ && sub_warp.decoded->lanes != isa::LaneKind::other) {
      lanes_free_[static_cast<std::size_t>(sub_warp.decoded->lanes)] = now + interval_of(*sub_warp.decoded);
    }
  } else {
    begun->beside = &sub_warp;
  }
  begun = &sub_warp;
  if (warps_ != nullptr) {
    warps_->computed(sub_warp, last);
  }
  return last;
}

// One sub-warp leaves per cycle, in order: behind those on a passage, too.
Cycle ExecuteStage::leaves_at(Cycle last, Cycle now) const {
  if (pipeline_ == nullptr || !pipeline_->lets_any_by()) {
    return last;
  }
  const Cycle before = std::max(pipeline_->begun_leave_until(now), pipe_.empty() ? 0 : pipe_[pipe_.size() - 1].done);
  return std::max(last, before + 1);
}

// ---------------------------------------------------------------------------------- units beside the lanes' stages

void ExecuteStage::finds_no_room(Unit& unit, const link::SubWarp& sub_warp, Cycle now) {
  if (!unit.blocked(now)) {
    state_.block_cause = IdleCause::complex;  // else what keeps the unit's results from leaving has set the cause
  }
  waits_for(unit, sub_warp);
  unit.found_full(sub_warp);
}

// In the unit or its queue, by itself or in other lanes beside one that has begun in this cycle.
Cycle ExecuteStage::start_apart(Unit& unit, link::SubWarp& sub_warp, Cycle now, Begun& begun) {
  waits_for(unit, sub_warp);
  const auto forwards = [&](Cycle last) {
    if (unit.traits.forwards && warps_ != nullptr) {
      warps_->computed(sub_warp, last);
    }
  };
  if (begun.joined == &unit) {
    begun.last_joined->beside = &sub_warp;
    begun.last_joined = &sub_warp;
    forwards(begun.joined_until);
    return begun.joined_until;
  }
  const Cycle last = unit.comes(sub_warp, now);
  forwards(last);
  if (last != link::kNever) {
    leave_apart(sub_warp, last);
  } else {
    ++waiting_apart_;
  }
  if (unit.traits.joins) {
    begun.joined = &unit;
    begun.last_joined = &sub_warp;
    begun.joined_until = last;
  }
  return last;
}

// The heads of the queues whose units take them; the others wait on.
bool ExecuteStage::begin_waiting(Cycle now) {
  bool begun = false;
  if (waiting_apart_ == 0) {
    return begun;
  }
  for (Unit& unit : units_) {
    Cycle last = 0;
    if (link::SubWarp* const first = unit.next(now, last)) {
      begun = true;
      --waiting_apart_;
      state_.moved();
      leave_apart(*first, last);
      for (link::SubWarp* each = first; each != nullptr && state_.observer != nullptr; each = each->beside) {
        state_.observer->began(state_, *each, last);
      }
    }
    if (state_.observer != nullptr) {
      for (const Unit::Waiting& waiting : unit.waiting()) {
        held(*waiting.sub_warp, IdleCause::complex);
      }
    }
  }
  return begun;
}

// An instruction whose last sub-warp has come to the unit waits for it, whether it has begun or not.
void ExecuteStage::waits_for(const Unit& unit, const link::SubWarp& sub_warp) {
  Group& group = state_.groups[sub_warp.group];
  if (unit.traits.waits && sub_warp.last && sub_warp.flight == group.latest && !group.flight().released &&
      group.state == GroupState::in_flight) {
    state_.groups.set_state(group, GroupState::complex);
  }
}

void ExecuteStage::waits_no_more(CoreState& state, const link::SubWarp& first) {
  for (const link::SubWarp* each = &first; each != nullptr; each = each->beside) {
    Group& group = state.groups[each->group];
    if (each->last && each->flight == group.latest && group.state == GroupState::complex) {
      state.groups.set_state(group, GroupState::in_flight);
    }
  }
}

void ExecuteStage::leave_apart(link::SubWarp& sub_warp, Cycle done) {
  const auto later = [](Cycle at, const Running& running) { return at < running.done; };
  apart_.insert(std::upper_bound(apart_.begin(), apart_.end(), done, later), {done, &sub_warp});
}

// The units see what fetch did front_latency() cycles before: at first what it did before the core came to rest.
void ExecuteStage::waited(Cycle first, Cycle cycles) {
  state_.statistics.fu_active[0] += cycles;
  if (occupied_at_rest_) {
    state_.count_idle(first, cycles, cause_at_rest_);
    return;
  }
  const Cycle before = std::min<Cycle>(cycles, front_latency_);
  for (Cycle cycle = first; cycle != first + before; ++cycle) {
    state_.count_idle(cycle, 1, idle_cause(cycle));
  }
  state_.count_idle(first + before, cycles - before, fetch_.rest_cause());
}

void ExecuteStage::each_sub_warp(Visit visit) {
  ReceivingStage::each_sub_warp(visit);
  const auto within = [&](link::SubWarp* first) {
    for (; first != nullptr; first = first->beside) {
      visit(*pipeline_, *first, position_ + 1);
    }
  };
  for (std::size_t i = 0; i != pipe_.size(); ++i) {
    within(pipe_[i].sub_warp);
  }
  for (const Running& running : apart_) {
    within(running.sub_warp);
  }
  for (const Unit& unit : units_) {
    for (const auto& waiting : unit.waiting()) {
      within(waiting.sub_warp);
    }
  }
}

void ExecuteStage::reset() {
  drop_all();
  pipe_.clear();
  apart_.clear();
  waiting_apart_ = 0;
  lanes_free_.fill(0);
  for (Unit& unit : units_) {
    unit.reset();
  }
  occupied_at_rest_ = false;
}

}  // namespace heddle::hw
