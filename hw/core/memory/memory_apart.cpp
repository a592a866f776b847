// The memory stage where accesses leave the order of the pipeline in the core: into a memory queue (lsu.queue), to the
// unit for copies in bulk, and to write-back when the scratchpad's results come (scratchpad.latency).
#include "hw/core/memory/memory.hpp"

#include "base/set_bits.hpp"

namespace heddle::hw {

void MemoryStage::work_on_access(Cycle now) {
  refused_ = Refused::no;
  load_store_.begin_cycle();
  if (state_.observer != nullptr) {
    tell_queue();
  }
  if (present_ == nullptr) {
    if (queue_.empty() || !queue_.may_leave(now, *slots)) {
      return;
    }
    link::SubWarp& first = queue_.first();
    if (state_.observer != nullptr) {
      state_.observer->in_memory(state_, first);
    }
    if (begin(first, now) != Begin::goes_on) {
      return;
    }
    queue_.leaves(now);
  }
  MemoryAccess& access = *present_;
  if (now < busy_until_) {
    stays(*access.sub_warp, IdleCause::scratchpad);
    return;
  }
  if (!send(access)) {
    stays(*access.sub_warp, state_.block_cause);
    return;
  }
  present_ = nullptr;
  state_.moved();
  if (access.outstanding != 0) {
    wait(access);
  } else {
    comes_back(*access.sub_warp, false);
    complete(access);
  }
}

// All that have arrived wait, but the one that the load-store unit takes next.
void MemoryStage::tell_queue() const {
  bool first = true;
  queue_.each([&](const link::SubWarp& sub_warp) {
    if (!first) {
      held(sub_warp, IdleCause::memory_queue);
    }
    first = false;
  });
}

// The sub-warp at the stage's head goes into the queue, or passes it.
void MemoryStage::pass_head(Cycle now) {
  link::SubWarp* const sub_warp = latch_.front(now);
  if (sub_warp == nullptr || (!finished_ && sub_warp->decoded->unit != isa::Unit::memory && passes(*sub_warp))) {
    return;
  }
  if (!finished_ && !enters(*sub_warp, now)) {
    return;
  }
  if (!out.offer(*sub_warp)) {
    stays(*sub_warp, IdleCause::memory_port);
    return;
  }
  finished_ = false;
  latch_.pop_all();
}

// True: there is nothing left to do for it here (finished_).
bool MemoryStage::enters(link::SubWarp& sub_warp, Cycle now) {
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  if (decoded.queues && sub_warp.executing != 0) {
    if (queue_.arrives(sub_warp, now)) {
      latch_.pop_all();
      state_.moved();
    } else {
      // Where the load-store unit's access is held, it is by the same thing.
      const bool by_access = present_ != nullptr || refused_ != Refused::no;
      stays(sub_warp, by_access ? state_.block_cause : IdleCause::memory_queue);
    }
    return false;
  }
  if (state_.observer != nullptr) {
    state_.observer->in_memory(state_, sub_warp);
  }
  if (decoded.queues) {
    queue_.needs_none(sub_warp);
  } else if (decoded.unit == isa::Unit::memory && sub_warp.executing != 0) {
    if (decoded.instruction.op == isa::Op::MEMBAR) {
      if (begin(sub_warp, now) == Begin::waits) {
        latch_.pop_all();
        return false;
      }
    } else if (!(constant_path_ ? fetch_constants(sub_warp) : answer_at_once(sub_warp))) {
      return false;
    }
  }
  finished_ = true;
  return true;
}

// An access to constants or parameters, which needs nothing of the load-store unit. False after a fault.
bool MemoryStage::answer_at_once(link::SubWarp& sub_warp) {
  MemoryAccess& access = pending_.next();
  access.classify(sub_warp);
  if (!check_.passes(access)) {
    return false;
  }
  pending_.begin();
  state_.moved();
  read_banks(access);
  if (state_.observer != nullptr) {
    state_.observer->accessed(state_, access, state_.now);
  }
  complete(access);
  return true;
}

// Likewise through constant caches, beside the load-store unit too: at the stage's head until its last address has been
// sent. False: it is still there, or waits elsewhere, or the core has a fault.
bool MemoryStage::fetch_constants(link::SubWarp& sub_warp) {
  if (constants_ == nullptr) {
    if (pending_.full()) {
      return stays(sub_warp, IdleCause::pending_full);
    }
    MemoryAccess& access = pending_.next();
    access.classify(sub_warp);
    if (!check_.passes(access)) {
      return false;
    }
    if (warps_ != nullptr) {
      warps_->accesses(sub_warp.group);
    }
    pending_.begin();
    state_.moved();
    constants_ = &access;
    constant_path_->make(access);
    if (state_.observer != nullptr) {
      state_.observer->accessed(state_, access, state_.now);
    }
  }
  if (!send(*constants_)) {
    return stays(sub_warp, state_.block_cause);
  }
  MemoryAccess& access = *constants_;
  constants_ = nullptr;
  state_.moved();
  if (access.outstanding == 0) {
    complete(access);
    return true;
  }
  latch_.pop_all();
  wait(access);
  return false;
}

// ------------------------------------------------------------------------------------- arrivals behind copies

bool MemoryStage::copies_before(const MemoryAccess& access) const {
  const link::SubWarp& own = *access.sub_warp;
  const Group& group = state_.groups[own.group];
  bool under_way = false;
  pending_.each([&](const MemoryAccess& other) {
    const link::SubWarp& sub_warp = *other.sub_warp;
    const isa::Op op = sub_warp.decoded->instruction.op;
    under_way = under_way || (isa::is_copy(op) && !isa::is_bulk_copy(op) && sub_warp.group == own.group &&
                              group.flights[sub_warp.flight].number < group.flights[own.flight].number);
  });
  return under_way;
}

void MemoryStage::arrive_after_copies() {
  for (std::size_t i = 0; i != arrivals_.size();) {
    MemoryAccess& access = *arrivals_[i];
    if (copies_before(access)) {
      ++i;
      continue;
    }
    arrivals_.erase(arrivals_.begin() + static_cast<std::ptrdiff_t>(i));
    static_cast<void>(scratchpad_path_.serve(access, state_.now));
    --access.outstanding;
    if (!is_present(access)) {
      came(access);
    }
  }
}

// ---------------------------------------------------------------------------------------- copies in bulk

void MemoryStage::copy_in_bulk(MemoryAccess& access) {
  if (state_.launch_bytes != nullptr) {
    for (const unsigned lane : set_bits(access.lanes)) {
      for (unsigned at = 0; at < access.sub_warp->values.result[1][lane]; at += isa::kBulkPiece) {
        state_.launch_bytes->add(LaunchBytes::Access::load, access.sub_warp->address[lane] + at, isa::kBulkPiece);
      }
    }
  }
  BulkCopyPath::make(access);
}

::tlm::tlm_sync_enum MemoryStage::nb_transport_bw(BulkCopy& copy, BulkCopyPhase&, sc_core::sc_time&) {
  MemoryAccess& access = bulk_path_->take(copy);
  if (access.outstanding == 0 && !is_present(access)) {
    came(access);
  }
  return ::tlm::TLM_COMPLETED;
}

// ------------------------------------------------------------------------------------------------ results

// They are late as hits of the L1 are.
void MemoryStage::results_come_later(Results& results, MemoryAccess& access, Cycle at) {
  ++access.outstanding;
  ++access.late;
  results.come(access, at);
}

void MemoryStage::take_results(Results& results, Cycle now) {
  while (results.next() <= now) {
    MemoryAccess& access = results.take();
    --access.outstanding;
    --access.late;
    state_.moved();
    if (access.outstanding == 0 && !access.gathered && !is_present(access)) {
      came(access);
    } else if (access.aside) {
      look_for_divergence(access);
    }
  }
}

}  // namespace heddle::hw
