#include "hw/gpu/dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::hw {

Residency residency(const Machine& machine, const Launch& launch) {
  const CoreParameters& core = machine.core;
  const std::uint64_t warp_size = launch.warp_size != 0 ? launch.warp_size : core.warp_size;
  const std::uint64_t threads = (launch.threads_per_block() + warp_size - 1) / warp_size * warp_size;
  const struct {
    const char* key;
    std::uint64_t have;
    std::uint64_t need;
    const char* unit;
  } resources[] = {
      {"core.blocks", core.blocks, 1, "blocks"},
      {"core.threads", core.threads, threads, "threads (whole warps)"},
      {"core.registers", core.registers, threads * launch.registers, "registers"},
      {"scratchpad.bytes", machine.scratchpad.bytes, launch.shared_bytes, "bytes of scratchpad"},
  };
  Residency result;
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

Dispatcher::Dispatcher(const sc_core::sc_module_name& name, const Machine& machine, link::Clock clock,
                       std::vector<std::unique_ptr<Core>>& cores, GlobalScheduler* global)
    : link::ClockedModule(name, clock),
      core("core", machine.gpu.cores + (global != nullptr ? 1 : 0)),
      machine_(machine),
      cores_(cores),
      global_(global) {
  if (global_ != nullptr) {
    core[machine.gpu.cores].bind(*this);
    core[machine.gpu.cores].bind(global_->blocks);
  }
  for (unsigned i = 0; i < cores.size(); ++i) {
    core[i].bind(*this);
    core[i].bind(cores[i]->blocks);
  }
}

void Dispatcher::start(const Launch& launch) {
  launch_ = &launch;
  status_ = LaunchStatus::running;
  fault_.reset();
  begun_ = false;
  flushing_ = false;
  stopping_ = false;
  stops_at_ = link::kNever;
  wake(clock().now() + 1);
}

Cycle Dispatcher::launch_cycles() const {
  return status_ == LaunchStatus::running && begun_ ? clock().now() - first_ : last_cycles_;
}

Cycle Dispatcher::total_cycles() const {
  return statistics_.cycles + (status_ == LaunchStatus::running && begun_ ? clock().now() - first_ : 0);
}

void Dispatcher::begin(Cycle now) {
  begun_ = true;
  first_ = now;
  next_block_ = 0;
  finished_ = 0;
  flushed_ = 0;
  stopped_ = 0;
  next_core_ = 0;
  messages_.clear();
  raised_.clear();
  l2_flushing_ = false;
  l2_flushed_ = 0;
  l2_flushed_at_ = link::kNever;
  slots_.clear();
  const Residency room = residency(machine_, *launch_);
  if (room.blocks == 0) {
    isa::Fault fault;
    fault.kind = isa::Fault::Kind::resources;
    fault.detail = room.reason;
    fault_ = fault;
    return;
  }
  // The scratchpad is a core's: kernels that use it stay where they begin, at least up to their last access (ODGS paper
  // 3.5 and 3.8).
  const bool uses_scratchpad = launch_->shared_bytes != 0;
  const bool global = global_ != nullptr && (!uses_scratchpad || moves_after_last_access(machine_.core));
  const unsigned bound_blocks = uses_scratchpad ? room.blocks : 0;
  if (global) {
    slots_.assign(cores_.size() + 1, {});
    slots_.back().resize(global_->slots(*launch_));
  } else {
    slots_.assign(cores_.size(), std::vector<Slot>(room.blocks));
  }
  clock().tell([this, now, global, bound_blocks] {
    for (const auto& one : cores_) {
      one->begin_launch(*launch_, now, global);
    }
    if (global) {
      global_->begin_launch(*launch_, replay_ != nullptr, bound_blocks);
    } else if (global_ != nullptr) {
      global_->launch_stays();
    }
  });
}

Cycle Dispatcher::advance(Cycle now) {
  if (status_ != LaunchStatus::running) {
    return link::kNever;
  }
  if (!begun_) {
    begin(now);
  }
  take_messages(now);
  raised_.take(now, [this](isa::Fault fault, Cycle) {
    if (!fault_) {
      fault_ = std::move(fault);
    }
  });
  if (fault_) {
    if (slots_.empty()) {  // no core has begun
      end_with(now, LaunchStatus::fault);
    } else if (!stopping_) {
      stops_at_ = std::min(stops_at_, now + kStopLatency);
      if (now < stops_at_) {
        return stops_at_;
      }
      stop_cores();
    } else if (stopped_ == cores_.size() && l2_done(now)) {
      end_with(now, LaunchStatus::fault);
    }
    return link::kNever;
  }
  const std::uint64_t blocks = launch_->grid.count();
  if (next_block_ < blocks) {
    const std::uint64_t before = next_block_;
    dispatch();
    return next_block_ != before && next_block_ < blocks ? now + 1 : link::kNever;
  }
  if (finished_ == blocks && !flushing_) {
    flush();
  }
  if (flushing_ && flushed_ == cores_.size() && l2_done(now)) {
    end_with(now, LaunchStatus::done);
  }
  return link::kNever;
}

void Dispatcher::take_messages(Cycle now) {
  std::optional<unsigned> faulted;  // of several cores in one cycle the first, by number
  messages_.take(now, [&](const BlockCommand& message, Cycle) {
    switch (message.kind) {
      case BlockCommand::Kind::block_done:
        free(slots_[message.core][message.slot]);
        break;
      case BlockCommand::Kind::faulted:
        faulted = std::min(faulted.value_or(message.core), message.core);
        break;
      case BlockCommand::Kind::stopped:
        ++stopped_;
        break;
      default:
        ++flushed_;
    }
  });
  if (faulted && !fault_) {
    fault_ = cores_[*faulted]->fault();
  }
  if (!messages_.empty()) {
    wake(now + 1);
  }
}

void Dispatcher::free(Slot& slot) {
  slot.used = false;
  ++finished_;
  if (replay_ != nullptr) {
    replay_->finish_block(slot.block);
  }
}

bool Dispatcher::send(unsigned to, BlockCommand& command) {
  BlockPhase phase = BlockPhase::command;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  return core[to]->nb_transport_fw(command, phase, delay) != ::tlm::TLM_UPDATED;
}

void Dispatcher::dispatch() {
  for (std::size_t tried = 0; tried < slots_.size(); ++tried) {
    const unsigned to = next_core_;
    next_core_ = (next_core_ + 1) % static_cast<unsigned>(slots_.size());
    std::vector<Slot>& slots = slots_[to];
    const auto slot = std::find_if(slots.begin(), slots.end(), [](const Slot& one) { return !one.used; });
    if (slot == slots.end()) {
      continue;
    }
    *slot = {true, next_block_};
    const isa::Dim3& grid = launch_->grid;
    BlockCommand command{
        BlockCommand::Kind::start_block,
        to,
        static_cast<unsigned>(slot - slots.begin()),
        {static_cast<std::uint32_t>(next_block_ % grid.x), static_cast<std::uint32_t>(next_block_ / grid.x % grid.y),
         static_cast<std::uint32_t>(next_block_ / grid.x / grid.y)},
        next_block_,
        {}};
    if (replay_ != nullptr) {
      command.records = replay_->start_block(next_block_);
    }
    if (!send(to, command)) {
      throw InternalError("a core refused a block that it has room for");
    }
    ++next_block_;
    ++statistics_.blocks;
    return;
  }
}

void Dispatcher::flush() {
  flushing_ = true;
  for (unsigned i = 0; i < cores_.size(); ++i) {
    BlockCommand command{BlockCommand::Kind::flush, i, 0, {}, 0, {}};
    if (!send(i, command)) {
      throw InternalError("a core refused to flush");
    }
  }
}

void Dispatcher::stop_cores() {
  stopping_ = true;
  for (unsigned i = 0; i < cores_.size(); ++i) {
    BlockCommand command{BlockCommand::Kind::stop, i, 0, {}, 0, {}};
    if (!send(i, command)) {
      throw InternalError("a core refused to stop");
    }
  }
}

// True once the L2 is empty; starts that. What was told in one cycle counts in the next.
bool Dispatcher::l2_done(Cycle now) {
  if (!flush_l2) {
    return true;
  }
  if (!l2_flushing_) {
    l2_flushing_ = true;
    clock().tell([this] { flush_l2(); });
  }
  return l2_flushed_at_ < now;
}

void Dispatcher::l2_flushed(unsigned slices) {
  if (++l2_flushed_ == slices) {
    l2_flushed_at_ = clock().now();
    wake(l2_flushed_at_ + 1);
  }
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
  for (const auto& one : cores_) {
    one->end_launch(now);
  }
  last_cycles_ = now - first_;
  statistics_.cycles += last_cycles_;
  ++statistics_.launches;
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
