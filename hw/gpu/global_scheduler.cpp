// Long: one class: messages, barriers and links all change the one pool of threads; the pool has a file of its own.
#include "hw/gpu/global_scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "hw/divergence/divergence.hpp"

namespace heddle::hw {

GlobalScheduler::GlobalScheduler(const sc_core::sc_module_name& name, const Machine& machine, link::Clock clock)
    : link::ClockedModule(name, clock),
      blocks("blocks"),
      core("core", machine.gpu.cores),
      machine_(machine),
      parameters_(machine.core.policies.of<OdgsParameters>()),
      pool_(machine.core.simd_width, parameters_.own_blocks ? machine.gpu.cores : 1) {
  blocks.bind(*this);
  for (unsigned i = 0; i != machine.gpu.cores; ++i) {
    core[i].bind(*this);
  }
}

unsigned GlobalScheduler::slots(const Launch& launch) const {
  const std::uint64_t width = machine_.core.simd_width;
  const std::uint64_t threads = (launch.threads_per_block() + width - 1) / width * width;
  return static_cast<unsigned>(local_memories(machine_) / threads);
}

void GlobalScheduler::begin_launch(const Launch& launch, std::uint64_t blocks, bool replays, unsigned bound_blocks) {
  ++statistics_.launches;
  binds_ = bound_blocks != 0;
  statistics_.scratchpad_launches += binds_ ? 1 : 0;
  launch_ = &launch;
  launch_blocks_ = blocks;
  replays_ = replays;
  const unsigned width = machine_.core.simd_width;
  const unsigned rows = machine_.core.threads / width;
  places_per_core_ =
      launch.registers == 0 ? rows : std::min(rows, machine_.core.registers / (launch.registers * width));
  free_places_.assign(machine_.gpu.cores, places_per_core_);
  link_in_.assign(machine_.gpu.cores, 0);
  link_out_.assign(machine_.gpu.cores, 0);
  next_core_ = 0;
  pool_.clear();
  blocks_.clear();
  blocks_.resize(slots(launch));
  bound_.begin(slots(launch), machine_.gpu.cores, bound_blocks, (launch.threads_per_block() + width - 1) / width);
  begun_ = 0;
  running_ = 0;
  live_ = 0;
  waiting_ = 0;
  told_.clear();
  heard_.clear();
  coming_.clear();
  leaving_.clear();
  emptied_.clear();
  stuck_ = false;
  counted_ = clock().now();
}

// --------------------------------------------------------------------------------------------------- what it is told

::tlm::tlm_sync_enum GlobalScheduler::nb_transport_fw(BlockCommand& command, BlockPhase&, sc_core::sc_time&) {
  clock().tell([this, command] {
    told_.put(clock().now(), command);
    wake(clock().now() + 1);
  });
  return ::tlm::TLM_COMPLETED;
}

::tlm::tlm_sync_enum GlobalScheduler::nb_transport_fw(HomeMessage& message, HomePhase&, sc_core::sc_time&) {
  // What is told is kept as bytes: the message waits beside.
  auto* const kept = std::make_unique<HomeMessage>(std::move(message)).release();
  clock().tell([this, kept] {
    heard_.put(clock().now(), std::move(*std::unique_ptr<HomeMessage>(kept)));
    wake(clock().now() + 1);
  });
  return ::tlm::TLM_COMPLETED;
}

Cycle GlobalScheduler::advance(Cycle now) {
  if (launch_ == nullptr) {
    return link::kNever;
  }
  statistics_.pool_thread_cycles += pool_.threads() * (now - counted_);
  counted_ = now;
  told_.take(now, [this](const BlockCommand& command, Cycle) { begin_block(command); });
  heard_.take(now, [this, now](HomeMessage& message) { hear(message, now); });
  while (!coming_.empty() && coming_.begin()->first <= now) {
    come(coming_.begin()->second);
    coming_.erase(coming_.begin());
  }
  while (!emptied_.empty() && emptied_.begin()->first <= now) {
    ++free_places_[emptied_.begin()->second];
    emptied_.erase(emptied_.begin());
  }
  statistics_.pool_peak = std::max<std::uint64_t>(statistics_.pool_peak, pool_.threads());
  send_warps(now);
  while (!leaving_.empty() && leaving_.begin()->first <= now) {
    transmit(leaving_.begin()->second);
    leaving_.erase(leaving_.begin());
  }
  look_for_stuck_barriers();
  statistics_.stolen_blocks = pool_.stolen_blocks();
  if (observer_ != nullptr) {
    show();
  }
  Cycle next = link::kNever;
  if (!coming_.empty()) {
    next = std::min(next, coming_.begin()->first);
  }
  if (!emptied_.empty()) {
    next = std::min(next, emptied_.begin()->first);
  }
  if (!leaving_.empty()) {
    next = std::min(next, leaving_.begin()->first);
  }
  return next;
}

void GlobalScheduler::show() {
  GlobalSchedulerObserver::Shown shown;
  shown.threads = pool_.threads();
  shown.full_warps = pool_.full_warps();
  shown.new_warps = pool_.fresh_warps();
  shown.coming = coming_.size();
  shown.leaving = leaving_.size();
  for (const unsigned free : free_places_) {
    shown.free_places += free;
  }
  for (const Block& block : blocks_) {
    shown.at_barriers += block.used ? block.waiting.size() : 0;
  }
  shown.queued_blocks = bound_.queued();
  shown.scratchpads = bound_.taken();
  observer_->shown(shown);
}

void GlobalScheduler::begin_block(const BlockCommand& command) {
  Block& block = blocks_[command.slot];
  block.used = true;
  ++begun_;
  ++running_;
  block.records = command.records;
  block.waiting.clear();
  block.in_core.clear();
  block.unbound = link::kNever;
  live_ += launch_->threads_per_block();
  block.home.core = machine_.gpu.cores;
  block.home.slot = command.slot;
  const unsigned owner = parameters_.own_blocks ? static_cast<unsigned>(command.linear % machine_.gpu.cores) : 0;
  const unsigned width = machine_.core.simd_width;
  const std::uint64_t warps = (launch_->threads_per_block() + width - 1) / width;
  CoreParameters shape = machine_.core;
  shape.warp_size = width;
  block.home.begin(*launch_, shape, command.index, command.linear, std::uint64_t{command.slot} * warps * width);
  ++statistics_.blocks;
  if (binds_) {
    block.home.scratchpad_core = machine_.gpu.cores;
    bound_.queue(command.slot);
    return;
  }
  for (ThreadHome& home : block.home.threads) {
    if (home.threads == width) {
      pool_.begin(home, owner);
      continue;
    }
    for (unsigned lane = 0; lane != home.threads; ++lane) {
      pool_.add(0, new_thread(home, lane));
    }
  }
}

Traveller GlobalScheduler::new_thread(ThreadHome& home, unsigned lane) const {
  Traveller thread;
  thread.thread = {&home, static_cast<std::uint8_t>(lane)};
  thread.lane = static_cast<std::uint8_t>(lane);
  thread.registers.assign(launch_->registers, 0);
  if (replays_) {
    const std::size_t number = home.first + lane;
    const std::span<const ThreadRecord> records = blocks_[home.block->slot].records;
    thread.replay.record = number < records.size() ? records[number] : ThreadRecord{};
  }
  return thread;
}

void GlobalScheduler::hear(HomeMessage& message, Cycle now) {
  switch (message.kind) {
    case HomeMessage::Kind::group: {
      const std::size_t threads = message.threads.size();
      const Cycle here = transfer(now, threads, link_in_[message.from]);
      statistics_.context_bytes += context_bytes(threads);
      if (message.waits_at) {
        ++statistics_.barrier_warps;
        for (unsigned place = 0; place != message.empties_places; ++place) {
          emptied_.emplace(here, message.from);
        }
        coming_.emplace(here, std::move(message));
        return;
      }
      ++statistics_.diverged_warps;
      statistics_.diverged_threads += threads;
      const Cycle ready = here + parameters_.handling_latency;
      for (unsigned place = 0; place != message.empties_places; ++place) {
        emptied_.emplace(ready, message.from);
      }
      coming_.emplace(ready, std::move(message));
      return;
    }
    case HomeMessage::Kind::arrival:
      if (std::string wrong = message.block->arrive(message.arrival, now); !wrong.empty()) {
        isa::Fault fault;
        fault.kind = isa::Fault::Kind::barrier_mismatch;
        fault.pc = message.pc;
        fault.block = message.block->index;
        fault.thread = message.thread.index();
        fault.detail = std::move(wrong);
        clock().at_cycle_end(
            [this, kept = new isa::Fault(std::move(fault))] { raise(*std::unique_ptr<isa::Fault>(kept)); });
        return;
      }
      if (message.arrival.waits()) {
        waiting_ += message.arrival.threads;
        if (message.arrival.sub_warp != nullptr) {
          block_of(*message.block)
              .in_core.push_back({message.arrival.barrier, message.pc, message.thread, message.arrival.threads});
        }
      }
      release(block_of(*message.block), now);
      return;
    case HomeMessage::Kind::past:
      pass(block_of(*message.block), now);
      return;
    case HomeMessage::Kind::exit:
      leave(*message.block, message.exited, now);
      return;
    case HomeMessage::Kind::place:
      ++free_places_[message.from];
      return;
    case HomeMessage::Kind::release:
      break;
  }
  throw InternalError("the global scheduler was told of a barrier's release");
}

// Threads are here.
void GlobalScheduler::come(HomeMessage& message) {
  if (message.waits_at) {
    wait(message, clock().now());
    return;
  }
  for (Traveller& thread : message.threads) {
    pool_.add(message.pc, std::move(thread));
  }
}

// --------------------------------------------------------------------------------------------------- blocks

// The barrier counts the threads of each block by themselves, the blocks in the order of their first threads.
void GlobalScheduler::wait(HomeMessage& message, Cycle now) {
  std::vector<BlockHome*> homes;
  for (const Traveller& thread : message.threads) {
    BlockHome* const home = thread.thread.home->block;
    if (std::find(homes.begin(), homes.end(), home) == homes.end()) {
      homes.push_back(home);
    }
  }
  for (BlockHome* const home : homes) {
    Block& block = block_of(*home);
    HomeMessage arrival;
    arrival.kind = HomeMessage::Kind::arrival;
    arrival.pc = message.pc - 1;
    arrival.block = home;
    arrival.arrival = *message.waits_at;
    arrival.arrival.threads = arrival.arrival.true_threads = 0;
    for (Traveller& thread : message.threads) {
      if (thread.thread.home->block != home) {
        continue;
      }
      arrival.thread = arrival.arrival.threads == 0 ? thread.thread : arrival.thread;
      ++arrival.arrival.threads;
      arrival.arrival.true_threads += thread.true_at_barrier ? 1 : 0;
      block.waiting.push_back({arrival.arrival.barrier, message.pc, std::move(thread)});
    }
    hear(arrival, now);
  }
}

void GlobalScheduler::release(Block& block, Cycle now) {
  BlockHome::Release done;
  while (block.home.complete(done)) {
    ++statistics_.barriers;
    statistics_.barrier_imbalance += now - done.first_arrival;
    if (done.waiting.empty()) {
      continue;  // all threads only arrived (bar.arrive)
    }
    const unsigned barrier = done.waiting.front().barrier;
    release_in_core(block, barrier, done);
    for (Waiting& one : block.waiting) {
      if (one.barrier == barrier) {
        --waiting_;
        one.thread.released_value = done.value;
        pool_.add(one.pc, std::move(one.thread));
      }
    }
    std::erase_if(block.waiting, [&](const Waiting& one) { return one.barrier == barrier; });
  }
}

// Releases the threads that wait where they are, all in one core.
void GlobalScheduler::release_in_core(Block& block, unsigned barrier, BlockHome::Release& done) {
  std::erase_if(done.waiting, [](const BlockHome::Waiter& waiter) { return waiter.sub_warp == nullptr; });
  if (done.waiting.empty()) {
    return;
  }
  std::erase_if(block.in_core, [&](const WaitingInCore& one) {
    waiting_ -= one.barrier == barrier ? one.threads : 0;
    return one.barrier == barrier;
  });
  HomeMessage message;
  message.kind = HomeMessage::Kind::release;
  message.from = machine_.gpu.cores;
  message.to = done.waiting.front().core;
  message.block = &block.home;
  message.release = done;
  transmit(message);
}

// One of its warps has made its last access to the scratchpad.
void GlobalScheduler::pass(Block& block, Cycle now) {
  if (bound_.past(block.home.slot)) {
    block.home.scratchpad_core = machine_.gpu.cores;
    block.unbound = now;
  }
}

void GlobalScheduler::leave(BlockHome& home, unsigned threads, Cycle now) {
  Block& block = block_of(home);
  live_ -= threads;
  if (!home.exit(threads)) {
    release(block, now);  // an exit can complete a barrier
    return;
  }
  if (bound_.bound(home.slot) != 0) {
    throw InternalError("a block has ended, and keeps its part of a scratchpad");
  }
  statistics_.early_scratchpads += block.unbound < now ? 1 : 0;
  block.used = false;
  --running_;
  answer_ = {BlockCommand::Kind::block_done, machine_.gpu.cores, home.slot, {}, 0, {}};
  BlockPhase phase = BlockPhase::command;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  blocks->nb_transport_bw(answer_, phase, delay);
}

// --------------------------------------------------------------------------------------------------- warps

std::optional<unsigned> GlobalScheduler::next_core() {
  std::optional<unsigned> best;
  for (unsigned tried = 0; tried != machine_.gpu.cores; ++tried) {
    const unsigned candidate = (next_core_ + tried) % machine_.gpu.cores;
    if (free_places_[candidate] != 0 && (!best || free_places_[candidate] > free_places_[*best])) {
      best = candidate;
    }
  }
  if (best) {
    next_core_ = (*best + 1) % machine_.gpu.cores;
  }
  return best;
}

void GlobalScheduler::send_warps(Cycle now) {
  // Bound warps may wait for threads that are here.
  const bool more = !binds_ && begun_ != launch_blocks_ && running_ != blocks_.size();
  for (;;) {
    while (pool_.full_warps() == 0 && send_block(now)) {
    }
    if (!pool_.has_warp()) {
      return;
    }
    const unsigned before = next_core_;
    const std::optional<unsigned> to = next_core();
    if (!to) {
      return;
    }
    std::optional<GlobalPool::Warp> warp = pool_.take(parameters_.own_blocks ? *to : 0, more);
    if (!warp) {
      next_core_ = before;
      return;
    }
    --free_places_[*to];
    send(std::move(*warp), *to, now);
  }
}

// A block of a kernel that uses the scratchpad begins, if it can.
bool GlobalScheduler::send_block(Cycle now) {
  const std::optional<BoundBlocks::Part> part = bound_.place(free_places_);
  if (!part) {
    return false;
  }
  BlockHome& home = blocks_[part->slot].home;
  home.scratchpad_core = part->core;
  home.scratchpad_base = part->number * launch_->shared_bytes;
  free_places_[part->core] -= static_cast<unsigned>(home.threads.size());
  for (std::size_t warp = 0; warp != home.threads.size(); ++warp) {
    ++statistics_.new_warps;
    HomeMessage message;
    message.bound = true;
    message.begins_block = warp == 0;
    message.warp_in_block = static_cast<unsigned>(warp);
    for (unsigned lane = 0; lane != home.threads[warp].threads; ++lane) {
      message.threads.push_back(new_thread(home.threads[warp], lane));
    }
    send(std::move(message), part->core, now);
  }
  return true;
}

void GlobalScheduler::send(GlobalPool::Warp warp, unsigned to, Cycle now) {
  switch (warp.kind) {
    case GlobalPool::Warp::Kind::fresh:
      ++statistics_.new_warps;
      for (unsigned lane = 0; lane != warp.home->threads; ++lane) {
        warp.threads.push_back(new_thread(*warp.home, lane));
      }
      break;
    case GlobalPool::Warp::Kind::full:
      ++statistics_.full_warps;
      break;
    case GlobalPool::Warp::Kind::incomplete:
      ++statistics_.incomplete_warps;
      statistics_.incomplete_threads += warp.threads.size();
      break;
  }
  HomeMessage message;
  message.pc = warp.pc;
  message.threads = std::move(warp.threads);
  send(std::move(message), to, now);
}

void GlobalScheduler::send(HomeMessage message, unsigned to, Cycle now) {
  message.kind = HomeMessage::Kind::group;
  message.from = machine_.gpu.cores;
  message.to = to;
  statistics_.context_bytes += context_bytes(message.threads.size());
  const Cycle sent = transfer(now, message.threads.size(), link_out_[to]);
  leaving_.emplace(sent, std::move(message));
}

void GlobalScheduler::transmit(HomeMessage& message) {
  HomePhase phase = HomePhase::message;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  core[message.to]->nb_transport_bw(message, phase, delay);
}

std::uint64_t GlobalScheduler::context_bytes(std::size_t threads) const {
  return threads * hw::context_bytes(launch_->registers);
}

Cycle GlobalScheduler::transfer(Cycle now, std::size_t threads, Cycle& free) {
  if (parameters_.link_bytes == 0) {
    return now;
  }
  const Cycle cycles = (context_bytes(threads) + parameters_.link_bytes - 1) / parameters_.link_bytes;
  free = std::max(now, free) + cycles;
  return free - 1;
}

// --------------------------------------------------------------------------------------------------- for ever

std::string GlobalScheduler::describe(const Block& block) const {
  std::string text;
  for (unsigned id = 0; id != isa::reference::kBarriers; ++id) {
    const isa::reference::Barriers::State& barrier = block.home.barriers().state(id);
    if (barrier.arrived != 0) {
      text += fmt::format("{}barrier {} has {} of {} threads", text.empty() ? "" : "; ", id, barrier.arrived,
                          barrier.count != 0 ? barrier.count : block.home.live_threads);
    }
  }
  const std::uint32_t exited = launch_->threads_per_block() - block.home.live_threads;
  return exited == 0 ? text : fmt::format("{}; {} threads have exited", text, exited);
}

// Every thread of the blocks that have begun waits at a barrier, but for threads of blocks that wait for room, which
// will not come.
void GlobalScheduler::look_for_stuck_barriers() {
  const std::uint64_t unborn = bound_.queued() * launch_->threads_per_block();
  if (waiting_ == 0 || live_ != waiting_ + unborn || stuck_ || !heard_.empty() || !told_.empty()) {
    return;
  }
  const auto waits = [](const Block& block) {
    return block.used && (!block.waiting.empty() || !block.in_core.empty());
  };
  const Block* first = nullptr;
  for (const Block& block : blocks_) {
    if (waits(block) && (first == nullptr || block.home.linear < first->home.linear)) {
      first = &block;
    }
  }
  stuck_ = true;
  isa::Fault fault;
  fault.kind = isa::Fault::Kind::barrier_mismatch;
  const bool here = !first->waiting.empty();
  fault.pc = here ? first->waiting.front().thread.released_pc : first->in_core.front().pc;
  fault.block = first->home.index;
  fault.thread = (here ? first->waiting.front().thread.thread : first->in_core.front().first).index();
  fault.detail = "the barrier can never complete: " + describe(*first);
  clock().at_cycle_end([this, kept = new isa::Fault(std::move(fault))] { raise(*std::unique_ptr<isa::Fault>(kept)); });
}

std::string GlobalScheduler::describe_waiting() const {
  std::string text;
  for (const Block& block : blocks_) {
    if (block.used && (!block.waiting.empty() || !block.in_core.empty())) {
      text += fmt::format("{}block {}: {}", text.empty() ? "" : "; ", block.home.linear, describe(block));
    }
  }
  return text;
}

}  // namespace heddle::hw
