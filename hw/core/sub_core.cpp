#include "hw/core/sub_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "hw/coalesce/coalescer.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/scalar/scalarisation.hpp"

namespace heddle::hw {

namespace {

std::unique_ptr<WarpScheduler> scheduler_for(CoreState& state) {
  return Registry<WarpScheduler>::instance().make(state.core.scheduler,
                                                  {state.groups, state.core, 0, std::numeric_limits<unsigned>::max(),
                                                   state.machine.core.warp_size, &state.statistics});
}
std::unique_ptr<SubWarpFormer> former_for(const CoreState& state) {
  return Registry<SubWarpFormer>::instance().make(state.core.former,
                                                  {state.core.simd_width, state.rows_per_warp, state.core});
}
std::unique_ptr<Divergence> divergence_for(CoreState& state) {
  const CoreParameters& core = state.core;
  std::unique_ptr<Divergence> divergence =
      Registry<Divergence>::instance().make(core.divergence, {state.groups, core, &state.statistics});
  // The mechanism says how many groups there can be at once; the stages size their tables by it.
  state.groups.resize(divergence->groups(core.threads), divergence->dynamic() ? 1 : state.rows_per_warp);
  return divergence;
}
std::unique_ptr<IssueDiscipline> issue_for(const CoreState& state) {
  return Registry<IssueDiscipline>::instance().make(
      state.core.issue, {state.core, scratchpad_goes_on(state.machine), constants_go_on(state.machine)});
}
// Null: every thread executes for itself.
std::unique_ptr<Scalarisation> scalar_for(const CoreState& state) {
  const std::string& name = state.machine.core.scalar;
  return about<Scalarisation>(name).traits.finds ? Registry<Scalarisation>::instance().make(name, {}) : nullptr;
}
std::unique_ptr<Coalescer> coalescer_for(const CoreState& state) {
  return Registry<Coalescer>::instance().make(state.machine.core.coalescer, {state.machine.l1d.line_bytes});
}

}  // namespace

SubCore::SubCore(const Machine& machine, unsigned core, unsigned number, link::Clock clock,
                 const isa::DeviceMemory* bounds, CoreTaps& taps, const CoreExtension& extension)
    : clock_(clock),
      state_(machine, core, bounds, number),
      registers_("registers", machine.core.simd_width, static_cast<unsigned>(state_.rows.size()),
                 about<Scalarisation>(machine.core.scalar).traits.finds ? &state_.statistics : nullptr,
                 [&](const BankTargetSocket& port) { return taps.at(extension.banks, port); }),
      warps_(state_, registers_.array(), divergence_for(state_), issue_for(state_)),
      l0_(machine.l0i.enabled ? std::make_unique<L0Cache>("l0i", machine.l0i, machine.icache.line_bytes) : nullptr),
      l0c_(machine.constant_cache.l0_bytes != 0
               ? std::make_unique<L0Cache>("l0c", machine.constant_cache.l0(), machine.constant_cache.line_bytes)
               : nullptr),
      fetch_("fetch", state_, scheduler_for(state_)),
      decode_("decode", state_, former_for(state_), scalar_for(state_), registers_.array(),
              [&](const FormerTargetSocket& form) { return taps.at(extension.former, form); }),
      register_read_("register_read", state_, clock),
      execute_("execute", state_, fetch_),
      memory_("memory", state_, clock, coalescer_for(state_)),
      writeback_("writeback", state_, warps_),
      pipeline_(stages_with(extension)) {
  if (l0_) {
    taps.bind(extension.lines, fetch_.icache, l0_->cpu);
  }
  if (l0c_) {
    taps.bind(extension.lines, *memory_.constants(), l0c_->cpu);
  }
  taps.bind(extension.registers, register_read_.registers, registers_.read_port);
  taps.bind(extension.sub_warps, memory_.returns.socket, writeback_.returns.in);
  taps.bind(extension.registers, writeback_.registers, registers_.write_port);
  pipeline_.bind([&](auto& from, StageInput& to) { taps.bind(extension.sub_warps, from, to.in); });
  fetch_.predecode_by(decode_);
  execute_.comes_after(pipeline_.latency_to(execute_));
  if (machine.registers.banks != 0) {
    execute_.reads_by(register_read_);
  }
  warps_.accesses(memory_);
  if (memory_.queue().exists()) {
    fetch_.take_places_of(memory_.queue());
  }
  limit_loads();
  fetch_by_lane();
  if (warps_.early_next_pc()) {
    decode_.tell(warps_);
    if (warps_.stalls_on_use()) {
      fetch_.issue_by(warps_);
    }
    register_read_.tell(warps_);
    execute_.tell(warps_);
  }
  if (warps_.releases_diverged()) {
    warps_.left_path = [this](const Group& group, unsigned flight, unsigned row, LaneMask lanes) {
      decode_.leave(group, flight, row, lanes);
    };
  }
  if (warps_.parts_in_flight()) {
    memory_.tell(warps_);
    fetch_.tell(warps_);
  }
}

std::vector<Stage*> SubCore::stages_with(const CoreExtension& extension) {
  std::vector<Stage*> all = {&writeback_, &memory_, &execute_, &register_read_, &decode_, &fetch_};
  const auto name_of_input = [](Stage* stage) { return stage->input() != nullptr ? stage->input()->basename() : ""; };
  for (const CoreExtension::Stage& own : extension.stages) {
    const auto before =
        std::find_if(all.begin(), all.end(), [&](Stage* at) { return own.before == name_of_input(at); });
    if (own.before.empty() || before == all.end()) {
      std::vector<std::string> names;
      std::for_each(all.rbegin() + 1, all.rend(), [&](Stage* at) { names.emplace_back(name_of_input(at)); });
      throw InputError({}, fmt::format("no stage of {} is called '{}'", name(), own.before),
                       "a stage can stand in front of " + join(names));
    }
    own_stages_.push_back(own.make(state_, clock_));
    if (own_stages_.back() == nullptr || own_stages_.back()->output() == nullptr) {
      throw InputError({}, fmt::format("the stage in front of {}.{} has no output", name(), own.before),
                       "Stage::output() is where it hands sub-warps on");
    }
    all.insert(before + 1, own_stages_.back().get());  // which the ones behind it are in front of here
  }
  return all;
}

void SubCore::fetch_by_lane() {
  if (about<Divergence>(state_.core.divergence).traits.mimd_lanes) {
    fetch_.fetch_by_lane(warps_.divergence());
    decode_.decode_by_lane(true);
  }
}

void SubCore::limit_loads() {
  const std::string& name = state_.machine.core.load_limiter;
  if (!about<LoadLimiter>(name).traits.limits) {
    return;
  }
  limiter_ = Registry<LoadLimiter>::instance().make(name, {state_.groups, state_.machine, state_.statistics});
  fetch_.limit_by(limiter_.get());
  if (limiter_made) {
    limiter_made(limiter_.get());
  }
}

// A launch may have warps of its own size (thesis 9.2.1). The policies and tables are made for one size: they are made
// anew when it changes.
void SubCore::set_warp_size(std::uint32_t warp_size) {
  if (warp_size == state_.core.warp_size) {
    return;
  }
  state_.core = with_warp_size(state_.machine.core, warp_size);
  state_.rows_per_warp = state_.core.warp_size / state_.core.simd_width;
  std::unique_ptr<Divergence> divergence = divergence_for(state_);
  warps_.diverge_by(std::move(divergence), issue_for(state_));
  decode_.form_by(former_for(state_));
  fetch_.schedule_by(scheduler_for(state_));
  limit_loads();
  fetch_by_lane();
}

// Whether somebody sees sub-warps on their way who is none of the stages: a replay, a mechanism that parts groups whose
// instructions are in flight, or gives each lane an instruction of its own, or ports of register banks, which what is
// read and what is written have in their cycles.
bool SubCore::sees_every_stage() const {
  const Divergence::Traits& mechanism = about<Divergence>(state_.core.divergence).traits;
  return state_.replay != nullptr || mechanism.parts_in_flight || mechanism.mimd_lanes ||
         state_.machine.registers.banks != 0;
}

void SubCore::begin_launch(const Launch& launch, Cycle first, bool global, bool keeps_code) {
  set_warp_size(launch.warp_size != 0 ? launch.warp_size : state_.machine.core.warp_size);
  state_.launch = &launch;
  state_.fault.reset();
  state_.stray_loads.clear();
  state_.invariants.reset();
  heard_.clear();
  state_.wake_ups.clear();
  for (const Group& group : state_.groups.all()) {
    state_.groups.set_state(state_.groups[group.id], GroupState::free);
  }
  state_.vacate();
  state_.global_warps = global;
  warps_.reset();
  warps_.divergence().begin_launch(global);
  if (limiter_ != nullptr) {
    limiter_->begin_launch();
  }
  registers_.configure(launch.registers);
  if (l0_) {
    l0_->begin_launch(keeps_code);
  }
  if (l0c_) {
    l0c_->begin_launch(false);
  }
  pipeline_.reset(sees_every_stage(), limiter_ == nullptr);
  state_.pool.take_back_all();
  fetch_.launch_begins(first);
  fetch_.begins(first);
  state_.flushing = false;
  accounted_ = first;
  next_ = 0;
  state_.last_retirement = first;
  if (state_.observer != nullptr) {
    state_.observer->launch_began(state_, first);
    tell_sleep(first);
  }
}

void SubCore::end_launch(Cycle end) {
  account_sleep(end);
  if (told_rest_) {
    end_told_rest(end);
  }
  fetch_.launch_ends(end);
  if (state_.observer != nullptr) {
    state_.observer->launch_ended(state_, end);
  }
}

void SubCore::place_warp(BlockHome& block, unsigned warp, unsigned place, std::span<const ThreadRecord> records) {
  state_.hold(block, warp, place);
  for (unsigned i = 0; i != state_.rows_per_warp; ++i) {
    const ThreadHome& home = block.threads[std::size_t{warp} * state_.rows_per_warp + i];
    const unsigned row = place * state_.rows_per_warp + i;
    registers_.clear_row(row);
    if (replay_) {
      const std::size_t first = std::min<std::size_t>(home.first, records.size());
      replay_->start_row(row, records.subspan(first, home.threads));
    }
  }
}

// ------------------------------------------------------------------------------------------------- turns

void SubCore::tell(Cycle now, HomeMessage message) {
  heard_.put(now, std::move(message));
  next_ = std::min(next_, now + 1);
}

void SubCore::hear(Cycle now) {
  heard_.take(now, [this](HomeMessage& message) {
    if (!state_.fault) {
      if (message.begins_block) {
        scratchpad_taken(message.threads.front().thread.home->block->scratchpad_base);
      }
      writeback_.hear(message);
    }
  });
}

// A rest, unless something says no.
Cycle SubCore::next_when_still(Cycle now, bool news, Cycle caches) {
  // An observer of the cache is told of every refusal in its cycle.
  const bool prefetches = l0_ && (state_.observer != nullptr ? l0_->has_to_ask() : l0_->may_be_taken());
  const auto at = [&](Cycle cycle) { return next_ = prefetches ? now + 1 : cycle; };
  if (state_.groups.any_ready() || !state_.wake_ups.empty() || !pipeline_.idle() || warps_.departing()) {
    const bool goes_on = state_.last_move == now && !pipeline_.one_works();
    const bool each_is_told = state_.observer != nullptr && (prefetches || !rests_are_known_);
    if (goes_on || each_is_told || news || has_news() || !pipeline_.at_rest(now)) {
      return at(now + 1);
    }
    pipeline_.rests();
    if (state_.observer != nullptr) {
      begin_told_rest(now);
    }
    return at(std::min(caches, next_by_itself(now)));
  }
  // Everything waits: nothing changes until a line arrives or a block starts.
  pipeline_.rests();
  if (state_.observer != nullptr) {
    tell_sleep(now + 1);
  }
  return at(heard_.empty() ? std::min(caches, next_by_itself(now)) : now + 1);
}

void SubCore::begin_told_rest(Cycle now) {
  told_rest_ = true;
  state_.observer->rests(state_);
  if (!execute_.occupied(now)) {
    tell_sleep(now + 1);  // what execute sees of fetch, which comes later, is another thing at first
  }
  memory_.shows_rest(true);
}

void SubCore::end_told_rest(Cycle now) {
  told_rest_ = false;
  memory_.shows_rest(false);
  if (state_.observer != nullptr) {
    state_.observer->rested(state_, now);
  }
}

void SubCore::tell_held_at_rest(Cycle first, Cycle cycles) {
  for (const CoreState::Held& held : state_.held) {
    state_.observer->held(state_, *held.sub_warp, held.stage, held.cause, first, cycles);
  }
}

void SubCore::stop(Cycle at, Cycle now) {
  account_sleep(at);
  if (told_rest_) {
    end_told_rest(at);
  }
  pipeline_.rests(true);
  if (l0_) {
    l0_->stop();
  }
  account_sleep(now);
  if (state_.observer != nullptr) {
    tell_sleep(now);
  }
}

const Group* SubCore::first_live_group() const {
  const auto groups = state_.groups.all();
  const auto found =
      std::find_if(groups.begin(), groups.end(), [](const Group& group) { return group.state != GroupState::free; });
  return found == groups.end() ? nullptr : &*found;
}

// As account_sleep() will count it.
void SubCore::tell_sleep(Cycle from) const {
  std::array<IdleCause, 3 * 64> first{};  // the longest way from fetch to execute
  const std::size_t count = std::min<std::size_t>(execute_.front_latency(), first.size());
  for (std::size_t i = 0; i < count; ++i) {
    first[i] = execute_.idle_cause(from + i);
  }
  state_.observer->sleeps(state_, from, {first.data(), count}, fetch_.rest_cause());
}

void SubCore::observe(CoreObserver* observer) {
  if (told_rest_ && observer == nullptr) {
    told_rest_ = false;
    memory_.shows_rest(false);
  }
  state_.observer = observer;
  state_.groups.watch(observer, state_);
  pipeline_.observed(observer != nullptr);
  rests_are_known_ = observer != nullptr && observer->knows_rests();
}

void SubCore::observe_from(CoreObserver& observer, Cycle now) {
  account_sleep(now);
  if (told_rest_) {
    end_told_rest(now);
  }
  if (state_.observer == nullptr) {
    pipeline_.observed_from(now);
  }
  observe(&observer);
  wake();
}

void SubCore::replay(bool records) {
  replay_ = !records ? nullptr
                     : std::make_unique<ReplayRows>(static_cast<unsigned>(state_.rows.size()),
                                                    state_.machine.core.simd_width);
  state_.replay = replay_.get();
}

}  // namespace heddle::hw
