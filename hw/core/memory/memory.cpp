#include "hw/core/memory/memory.hpp"

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"
#include "hw/parameters/bulk_copies.hpp"

namespace heddle::hw {

MemoryStage::MemoryStage(const sc_core::sc_module_name& name, CoreState& state, link::Clock clock,
                         std::unique_ptr<Coalescer> coalescer)
    : ReceivingStage(name, state, 1, CoreStage::memory),
      l1d("l1d"),
      texture("texture"),
      scratchpad("scratchpad"),
      out("out"),
      returns("returns"),
      gathers_(about<Coalescer>(state.core.coalescer).traits.gathers),
      mimd_lanes_(about<Divergence>(state.core.divergence).traits.mimd_lanes),
      check_(state),
      requests_(state, std::move(coalescer), mimd_lanes_),
      load_store_(state, requests_, l1d, texture),
      scratchpad_path_(state, scratchpad, clock, mimd_lanes_),
      private_path_(state.machine.private_memory.bytes == 0 ? nullptr
                                                            : std::make_unique<PrivatePath>(state, clock, mimd_lanes_)),
      constant_path_(state.machine.constant_cache.bytes == 0 ? nullptr
                                                             : std::make_unique<ConstantPath>(state, mimd_lanes_)),
      bulk_path_(copies_in_bulk(state.machine) ? std::make_unique<BulkCopyPath>(state) : nullptr),
      local_path_(state),
      texture_path_(state),
      pending_(state),
      gathering_(state, mimd_lanes_),
      queue_(state.machine.lsu),
      back_(state, returns, mimd_lanes_) {
  l1d.bind(*this);
  texture.bind(*this);
  if (constant_path_) {
    constant_path_->socket.bind(*this);
  }
  if (bulk_path_) {
    bulk_path_->socket.bind(*this);
  }
}

void MemoryStage::tick(Cycle now) {
  if (!fences_.empty() && stores_visible()) {
    drop_old_copies();
    for (link::SubWarp* const fence : fences_) {
      pending_.clear_waiting(*fence);
      comes_back(*fence, false);
    }
    fences_.clear();
  }
  if (results_come(now)) {
    take_results(results_, now);
    take_results(constant_results_, now);
  }
  back_.begin_cycle(now);
  if (queue_.exists()) {
    work_on_access(now);
    pass_head(now);
  } else {
    work_on_head(now);
  }
  back_.end_cycle();
  refusal_ = state_.block_cause;
}

// ---------------------------------------------------------------------------------------------- the head

// Of sub-warps beside each other, which other lanes execute, as many as have room: in their order.
void MemoryStage::work_on_head(Cycle now) {
  refused_ = Refused::no;
  handed_on_ = false;
  load_store_.begin_cycle();
  link::SubWarp* sub_warp = latch_.front(now);
  if (sub_warp != nullptr && !finished_ && sub_warp->decoded->unit != isa::Unit::memory && passes(*sub_warp)) {
    return;
  }
  while (sub_warp != nullptr) {
    link::SubWarp* const beside = sub_warp->beside;
    if (!work_on(*sub_warp, now)) {
      return;
    }
    latch_.pop();
    gathering_.head_leaves();
    if (beside == nullptr) {
      row_leaves();
    }
    sub_warp = beside;
  }
}

// The usual case of work_on: an instruction that does not access memory, alone, goes on as it came. False: nothing has
// happened.
bool MemoryStage::passes(link::SubWarp& sub_warp) {
  if (sub_warp.beside != nullptr || gathers_) {
    return false;
  }
  if (state_.observer != nullptr) {
    if (StageInput* const next = out.direct(); next == nullptr || next->full()) {
      return false;
    }
    state_.observer->in_memory(state_, sub_warp);
  }
  if (!out.offer(sub_warp)) {
    return false;
  }
  latch_.pop_all();
  row_leaves();
  return true;
}

bool MemoryStage::stays(const link::SubWarp& sub_warp, IdleCause cause) const {
  state_.block_cause = cause;
  held(sub_warp, cause);
  return false;
}

// True: it leaves the stage's head, to write-back or to wait for lines.
bool MemoryStage::work_on(link::SubWarp& sub_warp, Cycle now) {
  if (state_.observer != nullptr) {
    state_.observer->in_memory(state_, sub_warp);
  }
  if (!finished_ && present_ == nullptr) {
    const Begin begun = begin(sub_warp, now);
    if (begun != Begin::goes_on) {
      return begun == Begin::waits;
    }
  }
  if (present_ != nullptr) {
    MemoryAccess& access = *present_;
    if (now < busy_until_) {
      return stays(sub_warp, IdleCause::scratchpad);
    }
    if (access.gathered && !gathering_.complete()) {  // waits for the instruction's other sub-warps
      present_ = nullptr;
      pending_.wait_for_hits(access);
      tell_gathered(sub_warp);
      return true;
    }
    if ((gathering_.complete() && !send_gathered()) || !send(access)) {
      return stays(sub_warp, state_.block_cause);
    }
    present_ = nullptr;
    if (access.outstanding != 0) {
      wait(access);
      return true;
    }
    complete(access);
    finished_ = true;
  }
  if (handed_on_ ? out.offer_beside(sub_warp) : out.offer_alone(sub_warp)) {
    handed_on_ = true;
    finished_ = false;
    return true;
  }
  return stays(sub_warp, IdleCause::memory_port);
}

// goes_on: it can in this cycle, with an access (present_), or with nothing to do (finished_).
MemoryStage::Begin MemoryStage::begin(link::SubWarp& sub_warp, Cycle now) {
  const bool in_memory = sub_warp.decoded->unit == isa::Unit::memory && sub_warp.executing != 0;
  const bool fence = in_memory && sub_warp.decoded->instruction.op == isa::Op::MEMBAR;
  if (gathers_) {
    gathering_.arrive(sub_warp);
    if ((!in_memory || fence) && gathering_.complete() && !send_gathered()) {
      stays(sub_warp, state_.block_cause);
      return Begin::stays;
    }
  }
  // Within a core all accesses meet in one L1; only other cores can see stores late.
  if (!in_memory || (fence && state_.machine.gpu.cores == 1)) {
    finished_ = true;
    return Begin::goes_on;
  }
  if (fence) {
    Group& group = state_.groups[sub_warp.group];
    group.reads_memory = group.reads_memory || (state_.moved_read_memory && state_.global_warps);
    pending_.set_waiting(sub_warp);
    fences_.push_back(&sub_warp);
    return Begin::waits;
  }
  if (pending_.full()) {
    refused_ = Refused::here;
    stays(sub_warp, IdleCause::pending_full);
    return Begin::stays;
  }
  return begin_access(sub_warp, now);
}

void MemoryStage::read_banks(MemoryAccess& access) const {
  const auto read = [&access](LaneMask lanes, const std::vector<std::uint8_t>& bank) {
    for (const unsigned lane : set_bits(lanes)) {
      copy_lane(access.loaded[lane].data(), bank.data() + access.sub_warp->address[lane], access.lane_bytes);
    }
  };
  read(access.constant, state_.launch->constants);
  read(access.parameter, state_.launch->parameters);
}

MemoryStage::Begin MemoryStage::begin_access(link::SubWarp& sub_warp, Cycle now) {
  const bool bulk = isa::is_bulk_copy(sub_warp.decoded->instruction.op);
  if (bulk && !bulk_path_) {
    state_.raise(isa::Fault::Kind::invalid_instruction, sub_warp,
                 static_cast<unsigned>(std::countr_zero(sub_warp.executing)), 0, 0,
                 "the core has no unit for copies in bulk (bulk_copy.queue)");
    return Begin::stays;
  }
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  const bool after_copies = isa::is_atomic(instruction.op) && instruction.atomic_op() == isa::AtomicOp::after_copies;
  MemoryAccess& access = pending_.next();
  access.classify(sub_warp);
  const LaneMask held = access.local != 0 && private_path_ ? private_path_->holds(access) : 0;
  const bool by_constants = constant_path_ && ConstantPath::takes(sub_warp.decoded->instruction.op);
  const LaneMask beyond = access.global | (access.local & ~held) | (constant_path_ ? access.constant : 0);
  const bool to_memory = !by_constants && beyond != 0;
  if (!(access.kind == MemoryAccess::Kind::texture ? texture_path_.find(access) : check_.passes(access))) {
    return Begin::stays;
  }
  if (to_memory) {
    ++state_.statistics.memory_instructions;
    state_.groups.accessed(state_.groups[sub_warp.group]);
  }
  if ((to_memory || by_constants) && warps_ != nullptr) {
    warps_->accesses(sub_warp.group);
  }
  pending_.begin();
  state_.moved();
  present_ = &access;
  busy_until_ = now;
  if (by_constants) {
    constant_path_->make(access);
  } else if (constant_path_) {
    constant_path_->globalise(access);
  } else if ((access.constant | access.parameter) != 0) {
    read_banks(access);
  }
  if (access.for_copies = after_copies && copies_before(access); access.for_copies) {
    ++access.outstanding;
    arrivals_.push_back(&access);
  } else if (access.shared != 0) {
    busy_until_ = scratchpad_path_.serve(access, now);
    if (state_.machine.scratchpad.latency > 1 && access.kind != MemoryAccess::Kind::store) {
      results_come_later(results_, access, busy_until_ + state_.machine.scratchpad.latency - 1);
    }
  }
  if (held != 0) {
    access.on_chip = access.local & held;
    access.local &= ~held;
    busy_until_ = std::max(busy_until_, private_path_->serve(access, now));
  }
  if (bulk) {
    copy_in_bulk(access);
  } else if ((access.global | access.local) != 0) {  // not those that stray
    make_lines(access);
  }
  if (state_.observer != nullptr) {
    state_.observer->accessed(state_, access, busy_until_);
  }
  return Begin::goes_on;
}

namespace {

// What other cores must not access beside it. Local memory is its thread's alone.
void note_bytes(LaunchBytes& bytes, const MemoryAccess& access) {
  const LaunchBytes::Access how = access.kind == MemoryAccess::Kind::load    ? LaunchBytes::Access::load
                                  : access.kind == MemoryAccess::Kind::store ? LaunchBytes::Access::store
                                                                             : LaunchBytes::Access::update;
  for (const unsigned lane : set_bits(access.global)) {
    bytes.add(how, access.sub_warp->address[lane], access.lane_bytes);
  }
}

}  // namespace

void MemoryStage::make_lines(MemoryAccess& access) {
  if (access.kind == MemoryAccess::Kind::texture) {
    TexturePath::address(access);
  } else {
    if (state_.launch_bytes != nullptr) {
      note_bytes(*state_.launch_bytes, access);
    }
    local_path_.translate(access);
  }
  requests_.make(access);
  if (access.kind == MemoryAccess::Kind::store) {
    local_path_.follow(access);
  }
  if (gathers_) {
    gathering_.add(access);
  }
}

bool MemoryStage::send(MemoryAccess& access) {
  if (access.by_constants) {
    if (!constant_path_->send(access)) {
      return false;
    }
    if (const unsigned latency = constant_path_->latency(access); latency > 1) {
      results_come_later(constant_results_, access, state_.now + latency - 1);
    }
    return true;
  }
  if (access.in_bulk) {
    return bulk_path_->send(access);
  }
  const LoadStoreUnit::Sent sent = load_store_.send(access);
  if (sent == LoadStoreUnit::Sent::no_room) {
    refused_ = access.kind == MemoryAccess::Kind::texture ? Refused::by_texture : Refused::by_l1d;
  }
  return sent == LoadStoreUnit::Sent::all;
}

// The lines of all sub-warps of the instruction whose last one is at the head.
bool MemoryStage::send_gathered() {
  const std::vector<MemoryAccess*>& accesses = gathering_.accesses();
  if (!gathering_.joined()) {
    const std::size_t others = pending_.places_taken() - (present_ != nullptr ? 1 : 0);
    if (others != 0 && others + accesses.size() > state_.machine.core.pending_accesses) {
      refused_ = Refused::here;
      state_.block_cause = IdleCause::pending_full;
      return false;
    }
    gathering_.join();
  }
  for (MemoryAccess* const access : accesses) {
    if (!send(*access)) {
      return false;
    }
  }
  for (MemoryAccess* const access : accesses) {
    access->gathered = false;
    if (access != present_) {
      goes_on(*access);
    }
  }
  gathering_.all_sent();
  return true;
}

bool MemoryStage::rests_on() {
  if (constants_ != nullptr) {
    return false;
  }
  if (refused() == Refused::no || refused() == Refused::here) {
    return refused() == Refused::here;  // an access that gives up its place comes back
  }
  return load_store_.full() != nullptr && load_store_.full()->refuses_still();
}

void MemoryStage::rests(bool stopped) {
  const Refused by = stopped ? Refused::no : refused();
  refuses_ = by == Refused::by_l1d || by == Refused::by_texture ? load_store_.full() : nullptr;
  if (by != Refused::no) {
    state_.block_cause = refusal_;
  }
}

bool MemoryStage::foresees_stuck() {
  if (present_ == nullptr || constants_ != nullptr || present_->by_constants || gathers_ ||
      !load_store_.lacks_room(*present_)) {
    return false;
  }
  refused_ = present_->kind == MemoryAccess::Kind::texture ? Refused::by_texture : Refused::by_l1d;
  refusal_ = state_.block_cause;
  return true;
}

// ------------------------------------------------------------------------------------------ away from it

void MemoryStage::wait(MemoryAccess& access) {
  if (access.outstanding != access.late) {
    put_aside_now(access);
    return;
  }
  pending_.wait_for_hits(access);
  if (access.own != access.count) {
    tell_gathered(*access.sub_warp);
  }
}

void MemoryStage::goes_on(MemoryAccess& access) {
  if (access.outstanding == 0) {
    came(access);
  } else if (access.outstanding != access.late) {
    pending_.wait_no_longer_for_hits(access);
    put_aside_now(access);
  }
}

void MemoryStage::put_aside_now(MemoryAccess& access) {
  pending_.wait_for_lines(access);
  if (warps_ != nullptr) {
    warps_->misses(access.sub_warp->group);
    look_for_divergence(access);
  }
}

void MemoryStage::tell_gathered(const link::SubWarp& sub_warp) const {
  if (state_.observer != nullptr) {
    state_.observer->gathered(state_, sub_warp);
  }
}

void MemoryStage::look_for_divergence(const MemoryAccess& access) {
  if (warps_ == nullptr || access.late != 0 || state_.fault) {
    return;
  }
  const Group& group = state_.groups[access.sub_warp->group];
  if (answered(group) != 0) {
    warps_->memory_diverged(group.id);
  }
}

void MemoryStage::leave(const Group& group, LaneMask lanes, const Group& to) {
  MemoryAccess& access = *pending_.aside_of(group);
  write_results(access);  // of the threads that wait: anything, until their lines have come
  comes_back(pending_.part(access, lanes, to), false);
  state_.moved();
}

::tlm::tlm_sync_enum MemoryStage::nb_transport_bw(link::LineRequest& request, link::LinePhase&, sc_core::sc_time&) {
  AccessLine* line = &static_cast<AccessLine&>(request);
  if (state_.observer != nullptr) {
    state_.observer->line_came(state_, *line->access, request.address);
  }
  while (line != nullptr) {
    MemoryAccess& access = *line->access;
    const bool late = line->answer == link::LineRequest::Answer::late_hit;
    if (access.by_constants) {
      constant_path_->came(*line);
      line = nullptr;
    } else {
      line = load_store_.came(*line);  // before the access becomes another one's
    }
    if (access.outstanding == 0 && !access.gathered && !is_present(access)) {
      came(access);
    } else if (late && access.aside) {
      look_for_divergence(access);
    }
  }
  return ::tlm::TLM_COMPLETED;
}

void MemoryStage::came(MemoryAccess& access) {
  pending_.came(access);
  comes_back(*access.sub_warp, !access.aside);
  complete(access);
}

void MemoryStage::complete(MemoryAccess& access) {
  write_results(access);
  load_store_.count(access);
  const bool copied = isa::is_copy(access.sub_warp->decoded->instruction.op);
  pending_.end(access);
  if (copied && !arrivals_.empty()) {
    arrive_after_copies();
  }
}

void MemoryStage::write_results(MemoryAccess& access) {
  if (access.in_bulk) {
    return;  // the unit has written what came
  }
  if (access.kind == MemoryAccess::Kind::load) {
    local_path_.follow(access);
    if (isa::is_copy(access.sub_warp->decoded->instruction.op)) {
      scratchpad_path_.take(access);
    } else {
      access.finish_load();
    }
  } else if (access.kind == MemoryAccess::Kind::texture) {
    TexturePath::finish(access);
  }
}

void MemoryStage::reset() {
  drop_all();
  pending_.reset();
  gathering_.reset();
  queue_.reset();
  results_.reset();
  constant_results_.reset();
  back_.reset();
  fences_.clear();
  arrivals_.clear();
  row_leaves();
  present_ = constants_ = nullptr;
  refuses_ = nullptr;
  finished_ = false;
}

}  // namespace heddle::hw
