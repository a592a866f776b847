// Long: one class: a core's cycle calls nearly all of it, and what can stand apart (stages, warp unit, pipeline) does.
#include "hw/core/core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "hw/coalesce/coalescer.hpp"
#include "hw/coherence/protocol.hpp"
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
  return Registry<IssueDiscipline>::instance().make(state.core.issue, {state.core});
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

Core::Core(const sc_core::sc_module_name& name, const Machine& machine, unsigned index, link::Clock clock,
           const isa::DeviceMemory* bounds, const CoreExtension& extension)
    : link::ClockedModule(name, clock),
      launches("launches"),
      blocks("blocks"),
      instruction("instruction"),
      data("data"),
      texture("texels"),
      copies("copies"),
      probes("probes"),
      state_(machine, index, bounds),
      registers_("registers", machine.core.simd_width, static_cast<unsigned>(state_.rows.size()),
                 about<Scalarisation>(machine.core.scalar).traits.finds ? &state_.statistics : nullptr,
                 [&](const BankTargetSocket& port) { return tap_at(extension.banks, port); }),
      warps_(state_, registers_.array(), divergence_for(state_), issue_for(state_)),
      scratchpad_("scratchpad", machine.scratchpad, clock),
      icache_("icache", machine.icache, clock, index, *this, machine.gpu.coherence),
      l1d_("l1d", machine.l1d, clock, index, *this, machine.gpu.coherence),
      texture_("texture", machine.texture, machine.l1d.line_bytes, clock, index, *this, machine.gpu.coherence),
      fetch_("fetch", state_, scheduler_for(state_)),
      decode_("decode", state_, former_for(state_), scalar_for(state_), registers_.array(),
              [&](const FormerTargetSocket& form) { return tap_at(extension.former, form); }),
      register_read_("register_read", state_, clock),
      execute_("execute", state_, fetch_),
      memory_("memory", state_, clock, coalescer_for(state_)),
      writeback_("writeback", state_, warps_),
      pipeline_(stages_with(extension)) {
  launches.bind(*this);
  blocks.bind(*this);
  copies.bind(*this);
  probes.bind(l1d_.probes);
  icache_.memory.bind(instruction);
  l1d_.memory.bind(data);
  texture_.memory.bind(texture);
  bind_within(extension.lines, fetch_.icache, icache_.cpu);
  bind_within(extension.registers, register_read_.registers, registers_.read_port);
  bind_within(extension.lines, memory_.l1d, l1d_.cpu);
  bind_within(extension.lines, memory_.texture, texture_.cpu);
  bind_within(extension.scratchpad, memory_.scratchpad, scratchpad_.access);
  bind_within(extension.sub_warps, memory_.returns.socket, writeback_.returns.in);
  bind_within(extension.registers, writeback_.registers, registers_.write_port);
  pipeline_.bind([&](auto& from, StageInput& to) { bind_within(extension.sub_warps, from, to.in); });
  fetch_.predecode_by(decode_);
  execute_.comes_after(pipeline_.latency_to(execute_));
  memory_.stores_visible = [this] { return l1d_.stores_visible(); };
  memory_.drop_old_copies = [this] { drop_old_copies(); };
  warps_.accesses(memory_);
  limit_loads();
  fetch_by_lane();
  if (warps_.early_next_pc()) {
    decode_.tell(warps_);
    register_read_.tell(warps_);
    execute_.tell(warps_);
  }
  if (warps_.parts_in_flight()) {
    memory_.tell(warps_);
    fetch_.tell(warps_);
  }
  state_.local_memories = local_memories(machine);
  const Divergence::Traits& mechanism = about<Divergence>(machine.core.divergence).traits;
  state_.moved_read_memory = mechanism.global_pool != nullptr && machine.gpu.cores > 1 && machine.l1d.enabled &&
                             !machine.gpu.perfect_memory &&
                             !about<CoherenceProtocol>(machine.gpu.coherence).traits.coherent;
  if ((machine.gpu.cores > 1 && mechanism.changes_cores) || mechanism.global_pool != nullptr) {
    others = std::make_unique<HomeInitiatorSocket>("others");
    others->bind(*this);
    execute_.performer().printed_by_guest = [this](const Performer::Printed& said) {
      this->clock().tell([said] { said.put(); });
    };
    warps_.tell = [this](HomeMessage& message) {
      HomePhase phase = HomePhase::message;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      (*others)->nb_transport_fw(message, phase, delay);
    };
  }
  warps_.block_finished = [this](unsigned slot) { finish_block(slot); };
  warps_.block_at_grid = [this](unsigned slot) {
    const WarpUnit::Waiting first = warps_.first_waiting(slot);
    answer({BlockCommand::Kind::at_grid, state_.index, slot, first.thread, state_.block(slot).linear, {}, first.pc});
  };
}

void Core::fetch_by_lane() {
  if (about<Divergence>(state_.core.divergence).traits.mimd_lanes) {
    fetch_.fetch_by_lane(warps_.divergence());
    decode_.decode_by_lane(true);
  }
}

template <class Protocol, class To>
std::unique_ptr<link::TapOf<Protocol>> Core::tap_at(const CoreExtension::MakeTap<Protocol>& make_tap,
                                                    const To& socket) const {
  // What the socket is called within the core.
  const CorePlace place{state_.index, std::string(socket.name()).substr(std::string(name()).size() + 1)};
  return make_tap ? make_tap(place, clock()) : nullptr;
}

template <class Protocol, class From, class To>
void Core::bind_within(const CoreExtension::MakeTap<Protocol>& make_tap, From& from, To& to) {
  std::unique_ptr<link::TapOf<Protocol>> tap = tap_at(make_tap, to);
  link::bind_through(tap.get(), from, to);
  taps_.push_back(std::move(tap));
}

void Core::limit_loads() {
  const std::string& name = state_.machine.core.load_limiter;
  if (!about<LoadLimiter>(name).traits.limits) {
    return;
  }
  limiter_ = Registry<LoadLimiter>::instance().make(name, {state_.groups, state_.machine, state_.statistics});
  fetch_.limit_by(limiter_.get());
  l1d_.tell(limiter_.get());
}

// A launch may have warps of its own size (thesis 9.2.1). The policies and tables are made for one size: they are made
// anew when it changes.
void Core::set_warp_size(std::uint32_t warp_size) {
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

// Whether somebody sees sub-warps on their way who is none of the stages: an observer, a replay, or a mechanism that
// parts groups whose instructions are in flight, or gives each lane an instruction of its own.
bool Core::sees_every_stage() const {
  const Divergence::Traits& mechanism = about<Divergence>(state_.core.divergence).traits;
  return state_.observer != nullptr || state_.replay != nullptr || mechanism.parts_in_flight || mechanism.mimd_lanes;
}

void Core::begin_launch(const Launch& launch, Cycle first, bool global) {
  set_warp_size(launch.warp_size != 0 ? launch.warp_size : state_.machine.core.warp_size);
  state_.launch = &launch;
  state_.fault.reset();
  state_.stray_loads.clear();
  state_.invariants.reset();
  fault_told_ = false;
  told_.clear();
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
  icache_.invalidate();
  texture_.invalidate();
  l1d_.forget_failed_write();
  pipeline_.reset(sees_every_stage(), limiter_ == nullptr);
  state_.pool.take_back_all();
  fetch_.launch_begins(first);
  fetch_.begins(first);
  running_ = true;
  flushing_ = false;
  leaves_grid_ = false;
  state_.flushing = false;
  stop_at_ = link::kNever;
  flushed_ = false;
  accounted_ = first;
  state_.last_retirement = first;
  if (state_.observer != nullptr) {
    state_.observer->launch_began(state_, first);
    tell_sleep(first);
  }
}

void Core::end_launch(Cycle end) {
  if (running_) {
    account_sleep(end);
    fetch_.launch_ends(end);
    running_ = false;
    if (state_.observer != nullptr) {
      state_.observer->launch_ended(state_, end);
    }
  }
}

// Observers see the cycles of all cores in their order.
Core::Expects Core::expects() const {
  if (!running_ || flushing_ || state_.fault || stop_at_ != link::kNever || state_.observer != nullptr || !busy() ||
      !told_.empty() || others != nullptr || l1d_.waits_to_send() || icache_.waits_to_send() ||
      texture_.waits_to_send() || warps_.at_grid()) {
    return Expects::anything;
  }
  return l1d_.owed_answers() || icache_.owed_answers() || texture_.owed_answers() ? Expects::answers : Expects::nothing;
}

::tlm::tlm_sync_enum Core::nb_transport_fw(LaunchCommand& command, LaunchPhase& phase, sc_core::sc_time&) {
  if (phase == LaunchPhase::begins) {
    begin_launch(*command.launch, command.cycle, command.global);
  } else {
    end_launch(command.cycle);
  }
  return ::tlm::TLM_COMPLETED;
}

::tlm::tlm_sync_enum Core::nb_transport_fw(BlockCommand& command, BlockPhase&, sc_core::sc_time&) {
  clock().tell([this, command] {
    told_.put(clock().now(), command);
    wake(clock().now() + 1);
  });
  return command.kind == BlockCommand::Kind::start_block ? ::tlm::TLM_COMPLETED : ::tlm::TLM_ACCEPTED;
}

void Core::obey(Cycle now) {
  told_.take(now, [this, now](const BlockCommand& command, Cycle told) {
    if (command.kind == BlockCommand::Kind::start_block) {
      state_.now = told;  // its warps may be fetched in the cycle after that
      start_block(command);
      state_.now = now;
      return;
    }
    if (command.kind == BlockCommand::Kind::leave_grid) {
      leaves_grid_ = true;
      return;
    }
    l1d_.flush();
    state_.flushing = true;
    if (command.kind == BlockCommand::Kind::stop) {
      flushed_ = false;
      stop_at_ = now;
    } else {
      flushing_ = true;
    }
  });
}

::tlm::tlm_sync_enum Core::nb_transport_bw(HomeMessage& message, HomePhase&, sc_core::sc_time&) {
  // What is told is kept as bytes: the message waits beside.
  auto* const kept = std::make_unique<HomeMessage>(std::move(message)).release();
  clock().tell([this, kept] {
    heard_.put(clock().now(), std::move(*std::unique_ptr<HomeMessage>(kept)));
    wake(clock().now() + 1);
  });
  return ::tlm::TLM_COMPLETED;
}

void Core::hear(Cycle now) {
  heard_.take(now, [this](HomeMessage& message) {
    if (!state_.fault) {
      if (message.begins_block) {
        scratchpad_.clear(message.threads.front().thread.home->block->scratchpad_base, state_.launch->shared_bytes);
      }
      writeback_.hear(message);
    }
  });
}

::tlm::tlm_sync_enum Core::nb_transport_fw(link::Invalidation& line, link::InvalidationPhase&,
                                           sc_core::sc_time& delay) {
  const Cycle visible = clock().visible_after(delay);
  clock().tell([this, line, visible] {
    for (unsigned offset = 0; offset < line.bytes; offset += l1d_.line_bytes()) {
      l1d_.invalidate_line(line.address + offset, visible);
      icache_.invalidate_line(line.address + offset, visible);
      texture_.invalidate_line(line.address + offset, visible);
    }
  });
  return ::tlm::TLM_COMPLETED;
}

void Core::start_block(const BlockCommand& command) {
  const unsigned slot = command.slot;
  state_.begin_block(slot, command.index, command.linear);
  const BlockHome& block = state_.block(slot);
  scratchpad_.clear(block.scratchpad_base, state_.launch->shared_bytes);
  unsigned row = state_.first_row(slot);
  for (const ThreadHome& home : block.threads) {
    registers_.clear_row(row);
    if (replay_) {
      const std::size_t first = std::min<std::size_t>(home.first, command.records.size());
      replay_->start_row(row, command.records.subspan(first, home.threads));
    }
    ++row;
  }
  for (unsigned warp = 0; warp < block.threads.size() / state_.rows_per_warp; ++warp) {
    warps_.begin(slot, warp);
  }
  if (state_.observer != nullptr) {
    state_.observer->block_started(state_, slot);
  }
}

void Core::finish_block(unsigned slot) {
  if (state_.observer != nullptr) {
    state_.observer->block_finished(state_, slot);
  }
  state_.blocks[slot].used = false;
  answer(BlockCommand::Kind::block_done, slot);
}

// What other cores have stored before a fence or the grid's barrier must not be hidden by an L1 that is not kept
// coherent: by its copy, or by what a read brings that has left already.
void Core::drop_old_copies() {
  if (state_.machine.gpu.cores > 1 && !about<CoherenceProtocol>(state_.machine.gpu.coherence).traits.coherent) {
    l1d_.invalidate();
  }
}

void Core::leave_grid() {
  leaves_grid_ = false;
  drop_old_copies();
  writeback_.leave_grid();
}

void Core::answer(BlockCommand::Kind kind, unsigned slot) {
  answer({kind, state_.index, slot, {}, 0, {}, 0});
}

void Core::answer(const BlockCommand& command) {
  answer_ = command;
  BlockPhase phase = BlockPhase::command;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  blocks->nb_transport_bw(answer_, phase, delay);
}

void Core::account_sleep(Cycle until) {
  if (until > accounted_) {
    pipeline_.waited(accounted_, until - accounted_);
    accounted_ = until;
  }
}

Cycle Core::advance(Cycle now) {
  state_.now = now;
  if (!told_.empty()) {
    obey(now);
  }
  const Cycle caches = std::min({l1d_.advance(now), icache_.advance(now), texture_.advance(now)});
  if (running_ && now >= stop_at_) {
    drain(now);
  } else if (running_ && state_.fault) {
    tell_fault();  // a line came back with a bus error
  }
  if (!running_ || flushed_ || state_.fault || now >= stop_at_) {
    pipeline_.settle(now);
    return caches;
  }
  if (!tick(now)) {
    return caches;
  }
  if (warps_.departing() && l1d_.stores_visible()) {
    warps_.send_departing();
  }
  accounted_ = now + 1;
  if (state_.observer != nullptr) {
    state_.observer->cycle_ended(state_, {fetch_.cause(now), fetch_.blocked(), memory_.put_aside(), memory_.gathered(),
                                          execute_.waiting_apart()});
  }
  if (l1d_.failed_write() && !state_.fault) {
    const Cache::FailedWrite& write = *l1d_.failed_write();
    state_.raise(isa::Fault::Kind::bus_error, state_.groups[write.group],
                 fmt::format("the memory refused a write to the line at {:#x}", write.address));
    state_.fault->pc = write.pc;
    state_.fault->address = write.address;
    state_.fault->size = state_.machine.l1d.line_bytes;
  }
  if (state_.fault) {
    pipeline_.settle(now + 1);
    tell_fault();
    return caches;
  }
  return next_cycle(now, caches);
}

// What may concern any stage has come, or is to happen in a cycle of its own.
bool Core::has_news() const {
  return !heard_.empty() || leaves_grid_ || !state_.wake_ups.empty() || flushing_ || warps_.departing() ||
         l1d_.failed_write();
}

bool Core::tick(Cycle now) {
  if (pipeline_.one_works()) {
    if (has_news()) {
      pipeline_.wake();
    } else if (pipeline_.rests_on(now)) {
      return false;
    }
  }
  account_sleep(now);
  if (!heard_.empty()) {
    hear(now);
  }
  if (leaves_grid_) {
    leave_grid();
  }
  warps_.wake_up(now);
  pipeline_.tick(now);
  return true;
}

Cycle Core::next_cycle(Cycle now, Cycle caches) {
  if (flushing_ && pipeline_.idle() && l1d_.quiet()) {
    flushing_ = false;
    flushed_ = true;
    answer(BlockCommand::Kind::flushed, 0);
  }
  if (state_.groups.any_ready() || !state_.wake_ups.empty() || !pipeline_.idle() || warps_.departing()) {
    // Observers are told of every cycle of a sub-warp that is held: with them the core stays awake.
    const bool goes_on = state_.last_move == now && !pipeline_.one_works();
    if (goes_on || state_.observer != nullptr || has_news() || !pipeline_.at_rest(now)) {
      return now + 1;
    }
    pipeline_.rests();
    return std::min(caches, fetch_.next_release(now));
  }
  // Everything waits: nothing changes until a line arrives or a block starts.
  pipeline_.rests();
  if (state_.observer != nullptr) {
    tell_sleep(now + 1);
  }
  const Cycle next = std::min(caches, fetch_.next_release(now));
  if (next == link::kNever) {
    check_deadlock();
  }
  return next;
}

void Core::drain(Cycle now) {
  account_sleep(stop_at_);
  pipeline_.rests(true);
  account_sleep(now);
  if (state_.observer != nullptr) {
    tell_sleep(now);
  }
  if (!flushed_ && quiet()) {
    flushed_ = true;
    answer(BlockCommand::Kind::stopped, 0);
  }
}

const Group* Core::first_live_group() const {
  const auto groups = state_.groups.all();
  const auto found =
      std::find_if(groups.begin(), groups.end(), [](const Group& group) { return group.state != GroupState::free; });
  return found == groups.end() ? nullptr : &*found;
}

void Core::check_deadlock() {
  if (!busy() || !quiet()) {
    return;
  }
  // Nothing is outstanding, so all threads that are left wait at barriers that no thread can complete.
  const std::optional<BarrierUnit::Stuck> stuck = warps_.stuck();
  if (stuck) {
    state_.raise(isa::Fault::Kind::barrier_mismatch, *stuck->sub_warp,
                 static_cast<unsigned>(std::countr_zero(stuck->sub_warp->executing)), 0, 0, stuck->detail);
    tell_fault();
  }
}

void Core::tell_fault() {
  if (!fault_told_) {
    fault_told_ = true;
    answer(BlockCommand::Kind::faulted, 0);
  }
}

// As account_sleep() will count it.
void Core::tell_sleep(Cycle from) const {
  std::array<IdleCause, 3 * 64> first{};  // the longest way from fetch to execute
  const std::size_t count = std::min<std::size_t>(execute_.front_latency(), first.size());
  for (std::size_t i = 0; i < count; ++i) {
    first[i] = execute_.idle_cause(from + i);
  }
  state_.observer->sleeps(state_, from, {first.data(), count}, fetch_.rest_cause());
}

void Core::observe(CoreObserver* observer) {
  state_.observer = observer;
  state_.groups.watch(observer, state_);
}

void Core::replay(bool records) {
  replay_ = !records ? nullptr
                     : std::make_unique<ReplayRows>(static_cast<unsigned>(state_.rows.size()),
                                                    state_.machine.core.simd_width);
  state_.replay = replay_.get();
}

}  // namespace heddle::hw
