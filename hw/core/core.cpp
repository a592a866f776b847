#include "hw/core/core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "hw/coherence/protocol.hpp"

namespace heddle::hw {

void Core::settle(Cycle until) {
  if (running_) {
    for (SubCore* const sub_core : sub_cores_) {
      sub_core->count_until(until);
    }
  }
}

const std::optional<isa::Fault>& Core::fault() const {
  for (const SubCore* const sub_core : sub_cores_) {
    if (sub_core->state().fault) {
      return sub_core->state().fault;
    }
  }
  return first().state().fault;
}

Cycle Core::last_retirement() const {
  Cycle latest = 0;
  for (const SubCore* const sub_core : sub_cores_) {
    latest = std::max(latest, sub_core->state().last_retirement);
  }
  return latest;
}

std::uint64_t Core::warp_instructions() const {
  std::uint64_t sum = 0;
  for (const SubCore* const sub_core : sub_cores_) {
    sum += sub_core->state().statistics.warp_instructions;
  }
  return sum;
}

std::uint64_t Core::thread_instructions() const {
  std::uint64_t sum = 0;
  for (const SubCore* const sub_core : sub_cores_) {
    sum += sub_core->state().statistics.thread_instructions;
  }
  return sum;
}

bool Core::quiet() const {
  return l1d_.quiet() && (!bulk_copies_ || bulk_copies_->idle()) && icache_.quiet() && texture_.quiet() &&
         (!constant_cache_ || constant_cache_->quiet()) &&
         std::all_of(sub_cores_.begin(), sub_cores_.end(), [](const SubCore* sub_core) { return sub_core->quiet(); });
}

bool Core::busy() const {
  return std::any_of(sub_cores_.begin(), sub_cores_.end(), [](const SubCore* sub_core) { return sub_core->busy(); });
}

WarpUnit::Progress Core::progress() const {
  WarpUnit::Progress all = WarpUnit::Progress::none;
  for (SubCore* const sub_core : sub_cores_) {
    if (!sub_core->busy()) {
      continue;
    }
    const WarpUnit::Progress progress = sub_core->warps().progress();
    if (progress == WarpUnit::Progress::some) {
      return progress;
    }
    all = progress == WarpUnit::Progress::spins ? progress : all;
  }
  return all;
}

std::string Core::describe_waiting() const {
  std::string text;
  for (SubCore* const sub_core : sub_cores_) {
    if (const std::string waiting = sub_core->warps().describe_waiting(); !waiting.empty()) {
      text += (text.empty() ? "" : "; ") +
              (only_ != nullptr ? "" : fmt::format("sub-core {}: ", sub_core->state().sub_core)) + waiting;
    }
  }
  return text;
}

std::vector<CoreState::StrayLoads> Core::take_stray_loads() {
  std::vector<CoreState::StrayLoads> all;
  for (SubCore* const sub_core : sub_cores_) {
    const std::vector<CoreState::StrayLoads> own = std::exchange(sub_core->state().stray_loads, {});
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

// ---------------------------------------------------------------------------------------------- launches

void Core::begin_launch(const LaunchCommand& command) {
  const Launch& launch = *command.launch;
  if (!machine_.scratchpad.carve_outs.empty()) {
    l1d_.use(machine_.l1d.bytes - command.carve_out);
  }
  fault_told_ = false;
  told_.clear();
  if (launch_bytes_ != nullptr) {
    launch_bytes_->begin_launch();
  }
  const bool keeps_code =
      machine_.icache.kept && launch.code_version != 0 && launch.code_version == code_version_ && icache_.quiet();
  code_version_ = launch.code_version;
  for (SubCore* const sub_core : sub_cores_) {
    sub_core->begin_launch(launch, command.cycle, command.global, keeps_code);
  }
  if (!keeps_code) {
    icache_.invalidate();
  }
  texture_.invalidate();
  if (constant_cache_) {
    constant_cache_->invalidate();
  }
  l1d_.forget_failed_write();
  for (const std::unique_ptr<LinePorts>& ports : line_ports_) {
    ports->reset();
  }
  slots_.reset();
  indexed_constants_.reset();
  running_ = true;
  flushing_ = false;
  leaves_grid_ = false;
  stop_at_ = link::kNever;
  flushed_ = false;
}

void Core::end_launch(Cycle end) {
  if (running_) {
    for (SubCore* const sub_core : sub_cores_) {
      sub_core->end_launch(end);
    }
    running_ = false;
  }
}

// Observers see the cycles of all cores in their order.
Core::Expects Core::expects() const {
  if (!running_ || flushing_ || faulted() || stop_at_ != link::kNever || first().state().observer != nullptr ||
      !busy() || !told_.empty() || others != nullptr || l1d_.waits_to_send() || icache_.waits_to_send() ||
      texture_.waits_to_send() || (constant_cache_ && constant_cache_->waits_to_send()) || first().warps().at_grid()) {
    return Expects::anything;
  }
  const bool of_constants = constant_cache_ && constant_cache_->owed_answers();
  return l1d_.owed_answers() || icache_.owed_answers() || texture_.owed_answers() || of_constants ? Expects::answers
                                                                                                  : Expects::nothing;
}

::tlm::tlm_sync_enum Core::nb_transport_fw(LaunchCommand& command, LaunchPhase& phase, sc_core::sc_time&) {
  if (phase == LaunchPhase::begins) {
    begin_launch(command);
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
      set_now(told);  // its warps may be fetched in the cycle after that
      start_block(command);
      set_now(now);
      for (SubCore* const sub_core : sub_cores_) {
        sub_core->wake();
      }
      return;
    }
    if (command.kind == BlockCommand::Kind::leave_grid) {
      leaves_grid_ = true;
      return;
    }
    l1d_.flush();
    for (SubCore* const sub_core : sub_cores_) {
      sub_core->state().flushing = true;
    }
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
    first().tell(clock().now(), std::move(*std::unique_ptr<HomeMessage>(kept)));
    wake(clock().now() + 1);
  });
  return ::tlm::TLM_COMPLETED;
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
    for (unsigned offset = 0; constant_cache_ && offset < line.bytes; offset += constant_cache_->line_bytes()) {
      constant_cache_->invalidate_line(line.address + offset, visible);
    }
  });
  return ::tlm::TLM_COMPLETED;
}

// Of all places for warps in the core, the sub-cores have every n-th.
void Core::start_block(const BlockCommand& command) {
  CoreState& home = first().state();
  home.begin_home(command.slot, command.index, command.linear);
  BlockHome& block = home.block(command.slot);
  scratchpad_.clear(block.scratchpad_base, home.launch->shared_bytes);
  const auto count = static_cast<unsigned>(sub_cores_.size());
  const auto warps = static_cast<unsigned>(block.threads.size() / home.rows_per_warp);
  const unsigned first_place = command.slot * warps;
  for (unsigned warp = 0; warp != warps; ++warp) {
    const unsigned place = first_place + warp;
    sub_cores_[place % count]->place_warp(block, warp, place / count, command.records);
  }
  for (unsigned warp = 0; warp != warps; ++warp) {
    const unsigned place = first_place + warp;
    sub_cores_[place % count]->begin_warp(block, warp, place / count, warp / count);
  }
  if (home.observer != nullptr) {
    home.observer->block_started(home, command.slot);
  }
}

void Core::finish_block(unsigned slot) {
  CoreState& home = first().state();
  if (home.observer != nullptr) {
    home.observer->block_finished(home, slot);
  }
  home.blocks[slot].used = false;
  answer(BlockCommand::Kind::block_done, slot);
}

void Core::block_at_grid(unsigned slot) {
  const BlockHome& block = first().state().block(slot);
  std::optional<WarpUnit::Waiting> waits;
  for (SubCore* const sub_core : sub_cores_) {
    const std::optional<WarpUnit::Waiting> here = sub_core->warps().first_waiting(block);
    waits = here && (!waits || here->warp < waits->warp) ? here : waits;
  }
  answer({BlockCommand::Kind::at_grid, index_, slot, waits.value().thread, block.linear, {}, waits->pc});
}

// What other cores have stored before a fence or the grid's barrier must not be hidden by an L1 that is not kept
// coherent: by its copy, or by what a read brings that has left already. An L1 that meets others at the launch's end
// has none: no other core stores what it keeps.
void Core::drop_old_copies() {
  if (machine_.gpu.cores > 1 && launch_bytes_ == nullptr &&
      !about<CoherenceProtocol>(machine_.gpu.coherence).traits.coherent) {
    l1d_.invalidate();
  }
}

void Core::leave_grid() {
  leaves_grid_ = false;
  drop_old_copies();
  first().leave_grid();
}

void Core::answer(BlockCommand::Kind kind, unsigned slot) {
  answer({kind, index_, slot, {}, 0, {}, 0});
}

void Core::answer(const BlockCommand& command) {
  answer_ = command;
  BlockPhase phase = BlockPhase::command;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  blocks->nb_transport_bw(answer_, phase, delay);
}

// ------------------------------------------------------------------------------------------------- turns

// In the core's turn of nearly every cycle: in line there.
[[gnu::always_inline]] inline bool Core::turns(Cycle now) {
  const bool news = has_news();
  if (only_ != nullptr) {
    if (!only_->begin(now, news)) {
      return false;
    }
    if (leaves_grid_) {
      leave_grid();
    }
    only_->go(now);
  } else {
    turns_of_several(now, news);
  }
  if (first().warps().departing() && l1d_.stores_visible()) {
    first().warps().send_departing();
  }
  if (only_ != nullptr) {
    only_->tell_cycle_end(now);
  } else {
    for (SubCore* const sub_core : sub_cores_) {
      sub_core->tell_cycle_end(now);
    }
  }
  return true;
}

Cycle Core::advance(Cycle now) {
  set_now(now);
  if (!told_.empty()) {
    obey(now);
  }
  const Cycle constants = constant_cache_ ? constant_cache_->advance(now) : link::kNever;
  const Cycle copies = bulk_copies_ ? bulk_copies_->advance(now) : link::kNever;
  const Cycle caches = std::min({l1d_.advance(now), icache_.advance(now), texture_.advance(now), constants, copies});
  if (running_ && now >= stop_at_) {
    drain(now);
  } else if (running_ && faulted()) {
    tell_fault();  // a line came back with a bus error
  }
  if (!running_ || flushed_ || now >= stop_at_ || faulted()) {
    for (SubCore* const sub_core : sub_cores_) {
      sub_core->settle(now);
    }
    return caches;
  }
  if (!turns(now)) {
    return std::min(caches, only_->next(now, false, link::kNever));
  }
  if (l1d_.failed_write() && !faulted()) {
    note_failed_write();
  }
  if (faulted()) {
    for (SubCore* const sub_core : sub_cores_) {
      sub_core->settle(now + 1);
    }
    tell_fault();
    return caches;
  }
  return next_cycle(now, caches);
}

void Core::turns_of_several(Cycle now, bool news) {
  const auto count = static_cast<unsigned>(sub_cores_.size());
  for (unsigned i = 0; i != count; ++i) {
    SubCore& sub_core = *sub_cores_[(now + i) % count];
    if ((!news && !sub_core.due(now) && !sub_core.may_have_room()) || !sub_core.begin(now, news)) {
      continue;
    }
    if (leaves_grid_ && &sub_core == &first()) {
      leave_grid();
    }
    sub_core.go(now);
  }
}

void Core::note_failed_write() {
  const Cache::FailedWrite& write = *l1d_.failed_write();
  CoreState& state = sub_cores_[write.group / first().state().groups.size()]->state();
  state.raise(isa::Fault::Kind::bus_error, state.groups[state.own_number(write.group)],
              fmt::format("the memory refused a write to the line at {:#x}", write.address));
  state.fault->pc = write.pc;
  state.fault->address = write.address;
  state.fault->size = machine_.l1d.line_bytes;
}

[[gnu::always_inline]] inline Cycle Core::next_cycle(Cycle now, Cycle caches) {
  // What an L0 has fetched ahead must have come: the memory may have nothing to answer when the launch ends.
  const auto idle = [](const SubCore* sub_core) { return sub_core->idle() && sub_core->quiet(); };
  if (flushing_ && std::all_of(sub_cores_.begin(), sub_cores_.end(), idle) && l1d_.quiet()) {
    flushing_ = false;
    flushed_ = true;
    answer(BlockCommand::Kind::flushed, 0);
  }
  const bool news = has_news();
  Cycle next = bulk_copies_ ? std::min(caches, bulk_copies_->next(now)) : caches;
  if (only_ != nullptr) {
    next = std::min(next, only_->next(now, news, caches));
  } else {
    for (SubCore* const sub_core : sub_cores_) {
      const Cycle own = sub_core->next(now, news, link::kNever);
      next = std::min(next, sub_core->may_have_room() ? now + 1 : own);
    }
  }
  if (next == link::kNever) {
    check_deadlock();
  }
  return next;
}

void Core::drain(Cycle now) {
  for (SubCore* const sub_core : sub_cores_) {
    sub_core->stop(stop_at_, now);
  }
  if (!flushed_ && quiet()) {
    flushed_ = true;
    answer(BlockCommand::Kind::stopped, 0);
  }
}

void Core::check_deadlock() {
  if (!busy() || !quiet()) {
    return;
  }
  // Nothing is outstanding, so all threads that are left wait at barriers that no thread can complete, or for threads
  // of their warp.
  std::vector<BarrierUnit::Waiters> waiters;
  for (SubCore* const sub_core : sub_cores_) {
    waiters.push_back(sub_core->warps().waiters());
  }
  if (const std::optional<BarrierUnit::Stuck> stuck = BarrierUnit::stuck(waiters)) {
    sub_cores_[stuck->sub_core]->state().raise(isa::Fault::Kind::barrier_mismatch, *stuck->sub_warp,
                                               static_cast<unsigned>(std::countr_zero(stuck->sub_warp->executing)), 0,
                                               0, stuck->detail);
    tell_fault();
    return;
  }
  for (SubCore* const sub_core : sub_cores_) {
    if (sub_core->warps().finds_deadlock()) {
      tell_fault();
      return;
    }
  }
}

void Core::tell_fault() {
  if (!fault_told_) {
    fault_told_ = true;
    answer(BlockCommand::Kind::faulted, 0);
  }
}

void Core::observe(CoreObserver* observer) {
  for (SubCore* const sub_core : sub_cores_) {
    sub_core->observe(observer == nullptr ? nullptr : &observer->of_core(sub_core->state().index));
  }
}

void Core::observe(CoreObserver& observer, CoreObserver& joined) {
  // After its last turn the core tells nothing more but the end of the launch.
  const bool within = running_ && !flushed_ && !faulted() && stop_at_ == link::kNever;
  for (SubCore* const sub_core : sub_cores_) {
    const CoreState& state = sub_core->state();
    CoreObserver& of_core = observer.of_core(state.index);
    if (within) {
      sub_core->observe_from(of_core, clock().now());
    } else {
      sub_core->observe(&of_core);
    }
    joined.of_core(state.index).joined(state);
  }
  if (within) {
    wake(clock().now());
  }
}

void Core::replay(bool records) {
  for (SubCore* const sub_core : sub_cores_) {
    sub_core->replay(records);
  }
}

}  // namespace heddle::hw
