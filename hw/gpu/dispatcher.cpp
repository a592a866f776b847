#include "hw/gpu/dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/coherence/protocol.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/scratchpad/carve_out.hpp"

namespace heddle::hw {

namespace {

class CoresOfGpu final : public DispatchedCores {
 public:
  explicit CoresOfGpu(std::vector<std::unique_ptr<Core>>& cores) : cores_(cores) {}
  [[nodiscard]] unsigned count() const override { return static_cast<unsigned>(cores_.size()); }
  [[nodiscard]] BlockTargetSocket& blocks(unsigned core) override { return cores_[core]->blocks; }
  [[nodiscard]] LaunchTargetSocket& launches(unsigned core) override { return cores_[core]->launches; }
  [[nodiscard]] std::uint64_t warp_instructions(unsigned core) const override {
    return cores_[core]->warp_instructions();
  }
  [[nodiscard]] std::uint64_t thread_instructions(unsigned core) const override {
    return cores_[core]->thread_instructions();
  }
  [[nodiscard]] bool quiet(unsigned core) const override { return cores_[core]->quiet(); }
  [[nodiscard]] const std::optional<isa::Fault>& fault(unsigned core) const override { return cores_[core]->fault(); }

 private:
  std::vector<std::unique_ptr<Core>>& cores_;
};

}  // namespace

Residency residency(const Machine& machine, const Launch& launch) {
  const CoreParameters& core = machine.core;
  const std::uint64_t warp_size = launch.warp_size != 0 ? launch.warp_size : core.warp_size;
  const std::uint64_t threads = (launch.threads_per_block() + warp_size - 1) / warp_size * warp_size;
  // Each sub-core has registers for whole warps, which are dealt out to the sub-cores in turn.
  const std::uint64_t of_warp = std::max<std::uint64_t>(warp_size * launch.registers, 1);
  const std::uint64_t registers =
      core.sub_cores == 1 ? core.registers : core.registers / core.sub_cores / of_warp * of_warp * core.sub_cores;
  const std::uint64_t others = std::min({std::uint64_t{core.blocks}, core.threads / std::max<std::uint64_t>(threads, 1),
                                         registers / std::max<std::uint64_t>(threads * launch.registers, 1)});
  const std::uint64_t scratchpad = carve_out(machine, launch.shared_bytes, others, launch.carve_out);
  const struct {
    const char* key;
    std::uint64_t have;
    std::uint64_t need;
    const char* unit;
  } resources[] = {
      {"core.blocks", core.blocks, 1, "blocks"},
      {"core.threads", core.threads, threads, "threads (whole warps)"},
      {"core.registers", registers, threads * launch.registers, "registers"},
      {"scratchpad.bytes", scratchpad, launch.shared_bytes, "bytes of scratchpad"},
  };
  Residency result;
  result.carve_out = scratchpad;
  std::uint64_t blocks = ~std::uint64_t{0};
  for (const auto& resource : resources) {
    const std::uint64_t fit = resource.need == 0 ? ~std::uint64_t{0} : resource.have / resource.need;
    if (fit < blocks) {
      blocks = fit;
      result.limit = resource.key;
    }
    if (fit == 0) {
      result.reason = fmt::format("a block needs {} {}, a core has {} ({})", resource.need, resource.unit,
                                  resource.have, resource.key);
      break;
    }
  }
  result.blocks = static_cast<unsigned>(blocks);
  return result;
}

unsigned kernels_at_once(const Machine& machine) {
  const Divergence::Traits& mechanism = about<Divergence>(machine.core.divergence).traits;
  const bool one = mechanism.changes_cores || mechanism.global_pool != nullptr ||
                   about<CoherenceProtocol>(machine.gpu.coherence).traits.meets_at_end;
  return one ? 1 : machine.gpu.kernels;
}

Dispatcher::Dispatcher(const sc_core::sc_module_name& name, const Machine& machine, link::Clock clock,
                       std::vector<std::unique_ptr<Core>>& cores, GlobalScheduler* global)
    : Dispatcher(name, machine, clock, std::make_unique<CoresOfGpu>(cores), global) {}

Dispatcher::Dispatcher(const sc_core::sc_module_name& name, const Machine& machine, link::Clock clock,
                       std::unique_ptr<DispatchedCores> cores, GlobalScheduler* global)
    : link::ClockedModule(name, clock),
      core("core", machine.gpu.cores + (global != nullptr ? 1 : 0)),
      launches("launches", machine.gpu.cores),
      l2("l2_", machine.l2.enabled ? memory_slices(machine) : 0),
      machine_(machine),
      cores_(std::move(cores)),
      global_(global) {
  if (global_ != nullptr) {
    core[machine.gpu.cores].bind(*this);
    core[machine.gpu.cores].bind(global_->blocks);
  }
  for (unsigned i = 0; i < cores_->count(); ++i) {
    core[i].bind(*this);
    core[i].bind(cores_->blocks(i));
    launches[i].bind(*this);
    launches[i].bind(cores_->launches(i));
  }
  for (std::size_t slice = 0; slice < l2.size(); ++slice) {
    l2[slice].bind(*this);
  }
}

void Dispatcher::start(const Launch& launch) {
  if (status_ == LaunchStatus::running) {
    joining_.push_back(&launch);
    wake(clock().now() + 1);
    return;
  }
  tell_changed();
  running_.assign(1, {&launch, {}, false});
  joining_.clear();
  changing_.clear();
  status_ = LaunchStatus::running;
  fault_.reset();
  begun_ = false;
  flushing_ = false;
  stopping_ = false;
  stops_at_ = link::kNever;
  wake(clock().now() + 1);
}

bool Dispatcher::may_join() const {
  return status_ == LaunchStatus::running && !flushing_ && !stopping_ && !fault_ && replay_ == nullptr &&
         !global_launch_ && running_.size() + joining_.size() < kernels_at_once(machine_);
}

Cycle Dispatcher::launch_cycles() const {
  return status_ == LaunchStatus::running && begun_ ? clock().now() - first_ : last_cycles_;
}

Cycle Dispatcher::total_cycles() const {
  return statistics_.cycles + (status_ == LaunchStatus::running && begun_ ? clock().now() - first_ : 0);
}

Residency Dispatcher::room_for(const Launch& launch) {
  Residency room = residency(machine_, launch);
  if (launch.cooperative && room.blocks != 0) {
    room.reason = why_no_cooperation(machine_);
    if (room.reason.empty()) {
      room.reason = why_not_resident(machine_, launch);
    }
    room.blocks = room.reason.empty() ? room.blocks : 0;
  }
  if (room.blocks == 0) {
    isa::Fault fault;
    fault.kind = isa::Fault::Kind::resources;
    fault.launch = launch.id;
    fault.detail = room.reason;
    fault_ = fault;
  }
  return room;
}

void Dispatcher::begin(Cycle now) {
  const Launch& launch = *running_.front().launch;
  running_.front().told.begin = now;
  running_.front().blocks_from = now + machine_.gpu.launch_latency;
  begun_ = true;
  first_ = now;
  stopped_ = 0;
  messages_.clear();
  raised_.clear();
  l2_flushing_ = false;
  l2_flushed_ = 0;
  l2_flushed_at_ = link::kNever;
  // The scratchpad is a core's: kernels that use it stay where they begin, at least up to their last access (ODGS paper
  // 3.5 and 3.8). So do kernels of cooperative launches, all of whose blocks must have a place from the beginning.
  const bool uses_scratchpad = launch.shared_bytes != 0;
  global_launch_ =
      global_ != nullptr && !launch.cooperative && (!uses_scratchpad || moves_after_last_access(machine_.core));
  table_ = {};
  const Residency room = room_for(launch);
  if (room.blocks == 0) {
    return;
  }
  const unsigned bound_blocks = uses_scratchpad ? room.blocks : 0;
  std::vector<unsigned> slots(cores_->count(), global_launch_ ? 0 : room.blocks);
  if (global_launch_) {
    slots.push_back(global_->slots(launch));
  }
  table_.begin(blocks_of(launch), slots, cores_->count());
  counted_.resize(cores_->count());
  clock().tell([this, &launch, now, bound_blocks] {
    for (unsigned i = 0; i < cores_->count(); ++i) {
      counted_[i] = {cores_->warp_instructions(i), cores_->thread_instructions(i)};
      tell(i, LaunchPhase::begins, now, &launch, global_launch_);
    }
    if (global_launch_) {
      global_->begin_launch(launch, blocks_of(launch), replay_ != nullptr, bound_blocks);
    } else if (global_ != nullptr) {
      global_->launch_stays();
    }
  });
}

void Dispatcher::join(Cycle now) {
  for (const Launch* const launch : joining_) {
    const Residency room = room_for(*launch);
    table_.join(launch->grid.count(), room.blocks);
    running_.push_back({launch, {nullptr, now}, false, now + machine_.gpu.launch_latency});
  }
  joining_.clear();
}

Cycle Dispatcher::advance(Cycle now) {
  if (status_ != LaunchStatus::running) {
    return link::kNever;
  }
  if (!begun_) {
    begin(now);
  }
  join(now);
  take_messages(now);
  raised_.take(now, [this](isa::Fault fault, Cycle) {
    if (!fault_) {
      fault_ = std::move(fault);
    }
  });
  if (fault_) {
    if (table_.launches() == 0) {  // no core has begun
      end_with(now, LaunchStatus::fault);
    } else if (!stopping_) {
      stops_at_ = std::min(stops_at_, now + kStopLatency);
      if (now < stops_at_) {
        return stops_at_;
      }
      stop_cores();
    } else if (stopped_ == cores_->count() && l2_done(now)) {
      end_with(now, LaunchStatus::fault);
    }
    return link::kNever;
  }
  release_grids(now);
  const bool dispatched = table_.blocks_left() && dispatch(now);
  if (running_.size() > 1) {
    share_cores(now);
  }
  if (table_.blocks_left()) {
    return dispatched ? now + 1 : next_launched(now);
  }
  if (table_.over() && !flushing_) {
    flushing_ = true;
    for (const unsigned index : table_.remaining()) {
      flush(index);
    }
  }
  if (flushing_ && table_.all_written_back() && l2_done(now)) {
    end_with(now, LaunchStatus::done);
  }
  return link::kNever;
}

void Dispatcher::take_messages(Cycle now) {
  std::optional<unsigned> faulted;  // of several cores in one cycle the first, by number
  messages_.take(now, [&](const BlockCommand& message, Cycle) {
    switch (message.kind) {
      case BlockCommand::Kind::block_done:
        block_finished(message, now);
        break;
      case BlockCommand::Kind::at_grid:
        arrives_at_grid(message, now);
        break;
      case BlockCommand::Kind::faulted:
        faulted = std::min(faulted.value_or(message.core), message.core);
        break;
      case BlockCommand::Kind::stopped:
        ++stopped_;
        break;
      default:
        table_.written_back(message.core);
    }
  });
  if (faulted && !fault_) {
    fault_ = cores_->fault(*faulted);
  }
  if (!messages_.empty()) {
    wake(now + 1);
  }
}

void Dispatcher::block_finished(const BlockCommand& message, Cycle now) {
  const std::uint64_t block = table_.finish(message.core, message.slot);
  if (replay_ != nullptr) {
    replay_->finish_block(block);
  }
  if (some_ != nullptr) {
    some_->finished.push_back({some_->blocks[block], now});
  }
  look_at_grid(table_.owner(message.core));
}

bool Dispatcher::send(unsigned to, BlockCommand& command) {
  BlockPhase phase = BlockPhase::command;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  return core[to]->nb_transport_fw(command, phase, delay) != ::tlm::TLM_UPDATED;
}

// False: no place has room, or no launch has begun its blocks.
bool Dispatcher::dispatch(Cycle now) {
  const std::optional<LaunchTable::Block> block = table_.next(launched(now));
  if (!block) {
    return false;
  }
  Running& running = running_[block->launch];
  if (block->launch != 0 && block->number == 0) {
    running.told.begin = now;
  }
  const std::uint64_t number = some_ == nullptr ? block->number : some_->blocks[block->number];
  BlockCommand command{BlockCommand::Kind::start_block,
                       block->place,
                       block->slot,
                       block_index(running.launch->grid, number),
                       number,
                       {},
                       0};
  if (replay_ != nullptr) {
    command.records = replay_->start_block(number);
  }
  if (!send(block->place, command)) {
    throw InternalError("a core refused a block that it has room for");
  }
  ++statistics_.blocks;
  return true;
}

// Cores that earlier launches leave go to later ones; launches that are over end.
void Dispatcher::share_cores(Cycle now) {
  while (const std::optional<unsigned> index = table_.leaving()) {
    flush(*index);
  }
  while (const std::optional<LaunchTable::HandOver> change = table_.hand_over()) {
    changing_.push_back(*change);
  }
  if (!changing_.empty()) {
    clock().tell([this, now] {
      std::erase_if(changing_, [&](const LaunchTable::HandOver& change) { return change_hands(change, now); });
      wake(now + 1);
    });
  }
  while (const std::optional<LaunchTable::Index> index = table_.ended()) {
    clock().tell([this, index = *index, now] { end_launch(index, now, true); });
  }
}

// False: what the core has asked for has not all come.
bool Dispatcher::change_hands(const LaunchTable::HandOver& change, Cycle now) {
  if (!cores_->quiet(change.core)) {
    return false;
  }
  count_for(change.core, change.from);
  if (core_left) {
    core_left(change.core, *running_[change.from].launch);
  }
  tell(change.core, LaunchPhase::ends, now);
  tell(change.core, LaunchPhase::begins, now, running_[change.to].launch);
  table_.take(change.core);
  return true;
}

// What the core has retired since it was last counted was the launch's.
void Dispatcher::count_for(unsigned index, LaunchTable::Index launch) {
  const Counted retired{cores_->warp_instructions(index), cores_->thread_instructions(index)};
  Counted& counted = counted_[index];
  Ended& told = running_[launch].told;
  told.warp_instructions += retired.warp_instructions - counted.warp_instructions;
  told.thread_instructions += retired.thread_instructions - counted.thread_instructions;
  counted = retired;
}

void Dispatcher::end_launch(LaunchTable::Index index, Cycle now, bool complete) {
  Running& running = running_[index];
  if (running.ended) {
    return;
  }
  running.ended = true;
  const std::size_t begun = table_.launches() == 0 ? 0 : cores_->count();
  for (unsigned i = 0; i < begun; ++i) {
    if (table_.owner(i) == index) {
      count_for(i, index);
      if (core_left) {
        core_left(i, *running.launch);
      }
    }
  }
  running.told.launch = running.launch;
  running.told.end = now;
  running.told.complete = complete;
  ++statistics_.launches;
  if (launch_ended) {
    launch_ended(running.told);
  }
}

void Dispatcher::flush(unsigned index) {
  BlockCommand command{BlockCommand::Kind::flush, index, 0, {}, 0, {}, 0};
  if (!send(index, command)) {
    throw InternalError("a core refused to flush");
  }
}

void Dispatcher::stop_cores() {
  stopping_ = true;
  for (unsigned i = 0; i < cores_->count(); ++i) {
    BlockCommand command{BlockCommand::Kind::stop, i, 0, {}, 0, {}, 0};
    if (!send(i, command)) {
      throw InternalError("a core refused to stop");
    }
  }
}

void Dispatcher::tell(unsigned to, LaunchPhase phase, Cycle cycle, const Launch* launch, bool global) {
  LaunchCommand command{to, cycle, launch, global, launch != nullptr ? residency(machine_, *launch).carve_out : 0};
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  launches[to]->nb_transport_fw(command, phase, delay);
}

void Dispatcher::raise(isa::Fault fault) {
  if (status_ == LaunchStatus::running && begun_) {
    raised_.put(clock().now(), std::move(fault));
    wake(clock().now() + 1);
  }
}

void Dispatcher::end_with(Cycle now, LaunchStatus status) {
  clock().tell([this, now, status] { end(now, status); });
}

void Dispatcher::end(Cycle now, LaunchStatus status) {
  if (status == LaunchStatus::done && wrong_at_end) {
    fault_ = wrong_at_end(*running_.front().launch);
    status = fault_ ? LaunchStatus::fault : status;
  }
  for (LaunchTable::Index index = 0; index < running_.size(); ++index) {
    end_launch(index, now, status == LaunchStatus::done);
  }
  for (unsigned i = 0; i < cores_->count(); ++i) {
    tell(i, LaunchPhase::ends, now);
  }
  last_cycles_ = now - first_;
  statistics_.cycles += last_cycles_;
  status_ = status;
  if (ended) {
    ended();
  }
}

void Dispatcher::stop(isa::Fault fault) {
  if (status_ == LaunchStatus::running && begun_) {
    if (!fault_) {
      fault_ = std::move(fault);
    }
    end(clock().now() + 1, LaunchStatus::fault);
  }
}

::tlm::tlm_sync_enum Dispatcher::nb_transport_bw(BlockCommand& command, BlockPhase&, sc_core::sc_time&) {
  clock().tell([this, command] {
    messages_.put(clock().now(), command);
    wake(clock().now() + 1);
  });
  return ::tlm::TLM_COMPLETED;
}

}  // namespace heddle::hw
