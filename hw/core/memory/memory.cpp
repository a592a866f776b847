// Long: one class; requests, answers, faults and textures already have files of their own (memory_*.cpp).
#include "hw/core/memory/memory.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/set_bits.hpp"

namespace heddle::hw {

MemoryStage::MemoryStage(const sc_core::sc_module_name& name, CoreState& state, link::Clock clock,
                         std::unique_ptr<Coalescer> coalescer)
    : ReceivingStage(name, state, 1, CoreStage::memory),
      l1d("l1d"),
      texture("texture"),
      scratchpad("scratchpad"),
      out("out"),
      returns("returns"),
      clock_(clock),
      coalescer_(std::move(coalescer)),
      gathers_(about<Coalescer>(state.core.coalescer).traits.gathers),
      mimd_lanes_(about<Divergence>(state.core.divergence).traits.mimd_lanes) {
  l1d.bind(*this);
  texture.bind(*this);
  scratchpad.bind(*this);
}

void MemoryStage::tick(Cycle now) {
  if (!fences_.empty() && stores_visible()) {
    drop_old_copies();
    for (link::SubWarp* const fence : fences_) {
      clear_waiting(*fence);
      comes_back(*fence, false);
    }
    fences_.clear();
  }
  arriving_.clear();
  while (!returned_.empty() && hand_back(*returned_.front().sub_warp)) {
    const Returned& returned = returned_.front();
    if (returned.late) {
      arriving_.push_back(&state_.groups[returned.sub_warp->group].flights[returned.sub_warp->flight]);
    }
    handed_back_ = true;
    returned_.erase(returned_.begin());
  }
  handed_back_ = false;
  work(now);
  for (InFlight* const flight : arriving_) {
    --flight->late;  // from the next cycle on write-back counts it
  }
}

// One sub-warp per cycle, and where lanes execute each an instruction of its own, sub-warps of other lanes beside it.
bool MemoryStage::hand_back(link::SubWarp& sub_warp) {
  return !handed_back_ ? returns.offer(sub_warp) : mimd_lanes_ && returns.offer_beside(sub_warp);
}

// Of sub-warps beside each other, which other lanes execute, as many as have room: in their order.
void MemoryStage::work(Cycle now) {
  refused_ = Refused::no;
  handed_on_ = sent_now_ = false;
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
    arrived_ = false;
    if (beside == nullptr) {
      together_.lanes = 0;
    }
    sub_warp = beside;
  }
}

// The usual case of work_on: an instruction that does not access memory, alone, goes on as it came. False: nothing has
// happened.
bool MemoryStage::passes(link::SubWarp& sub_warp) {
  if (sub_warp.beside != nullptr || gathers_ || state_.observer != nullptr || !out.offer(sub_warp)) {
    return false;
  }
  latch_.pop_all();
  together_.lanes = 0;
  return true;
}

// True: it leaves the stage's head, to write-back or to wait for lines.
bool MemoryStage::work_on(link::SubWarp& sub_warp, Cycle now) {
  if (state_.observer != nullptr) {
    state_.observer->in_memory(state_, sub_warp);
  }
  if (!finished_ && present_ == nullptr) {
    switch (begin(sub_warp, now)) {
      case Begin::stays:
        return false;
      case Begin::waits:
        return true;
      case Begin::goes_on:
        break;
    }
  }
  if (present_ != nullptr) {
    if (now < busy_until_) {
      state_.block_cause = IdleCause::scratchpad;
      held(sub_warp, IdleCause::scratchpad);
      return false;
    }
    MemoryAccess& access = *present_;
    if (access.gathered && gathering_.accesses.empty()) {  // waits for the instruction's other sub-warps
      present_ = nullptr;
      wait_for_hits(access);
      tell_gathered(sub_warp);
      return true;
    }
    if (!gathering_.accesses.empty() && !send_gathered()) {
      held(sub_warp, state_.block_cause);
      return false;
    }
    send(access);
    if (access.sent < access.own) {
      held(sub_warp, state_.block_cause);
      return false;
    }
    present_ = nullptr;
    if (access.outstanding != 0) {
      if (access.outstanding == access.late) {
        wait_for_hits(access);
        if (access.own != access.count) {
          tell_gathered(sub_warp);
        }
      } else {
        wait_for_lines(access);
      }
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
  state_.block_cause = IdleCause::memory_port;
  held(sub_warp, IdleCause::memory_port);
  return false;
}

void MemoryStage::tell_gathered(const link::SubWarp& sub_warp) const {
  if (state_.observer != nullptr) {
    state_.observer->gathered(state_, sub_warp);
  }
}

// goes_on: the access can in this cycle (present_ set, or nothing to do and finished_ set).
MemoryStage::Begin MemoryStage::begin(link::SubWarp& sub_warp, Cycle now) {
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  const bool accesses =
      sub_warp.decoded->unit == isa::Unit::memory && sub_warp.executing != 0 && instruction.op != isa::Op::MEMBAR;
  if (gathers_) {
    arrive(sub_warp);
    if (!accesses && !gathering_.accesses.empty() && !send_gathered()) {
      held(sub_warp, state_.block_cause);
      return Begin::stays;
    }
  }
  if (sub_warp.decoded->unit != isa::Unit::memory || sub_warp.executing == 0) {
    finished_ = true;
    return Begin::goes_on;
  }
  if (instruction.op == isa::Op::MEMBAR) {
    // Within a core all accesses meet in one L1; only other cores can see stores late.
    if (state_.machine.gpu.cores == 1) {
      finished_ = true;
      return Begin::goes_on;
    }
    Group& group = state_.groups[sub_warp.group];
    group.reads_memory = group.reads_memory || (state_.moved_read_memory && state_.global_warps);
    set_waiting(sub_warp);
    fences_.push_back(&sub_warp);
    return Begin::waits;
  }
  // Made when they are first wanted: a machine may have thousands of places that no program fills.
  if (accesses_.size() - free_.size() - late_ >= state_.machine.core.pending_accesses) {
    refused_ = Refused::here;
    state_.block_cause = IdleCause::pending_full;
    held(sub_warp, IdleCause::pending_full);
    return Begin::stays;
  }
  if (free_.empty()) {
    accesses_.push_back(std::make_unique<MemoryAccess>());
    free_.push_back(accesses_.back().get());
  }
  MemoryAccess& access = *free_.back();
  access.classify(sub_warp);
  const bool in_memory = (access.global | access.local) != 0;
  const bool fetches = access.kind == MemoryAccess::Kind::texture;
  if (!(fetches ? find_texels(state_, access) : check_access(state_, access))) {
    return Begin::stays;
  }
  if (in_memory) {
    ++state_.statistics.memory_instructions;
    state_.groups.accessed(state_.groups[sub_warp.group]);
    if (warps_ != nullptr) {
      warps_->accesses(sub_warp.group);
    }
  }
  free_.pop_back();
  state_.moved();
  present_ = &access;
  busy_until_ = now;
  if ((access.constant | access.parameter) != 0) {
    read_bank(access, access.constant, state_.launch->constants);
    read_bank(access, access.parameter, state_.launch->parameters);
  }
  if (access.shared != 0) {
    access_scratchpad(access, now);
  }
  if ((access.global | access.local) != 0) {
    if (fetches) {
      address_texels(access);
    } else {
      translate_local(access);
    }
    make_lines(access);
    if (access.kind == MemoryAccess::Kind::store) {
      follow_local(access);
    }
    if (gathers_) {
      gather(access);
    }
  }
  if (state_.observer != nullptr) {
    state_.observer->accessed(state_, access, busy_until_);
  }
  return Begin::goes_on;
}

void MemoryStage::read_bank(MemoryAccess& access, LaneMask lanes, const std::vector<std::uint8_t>& bank) {
  for (const unsigned lane : set_bits(lanes)) {
    copy_lane(access.loaded[lane].data(), bank.data() + access.sub_warp->address[lane], access.lane_bytes);
  }
}

namespace {

std::uint64_t operand(const std::array<isa::LaneWord, 2>& words, unsigned lane, unsigned bytes) {
  return words[0][lane] | (bytes == 8 ? std::uint64_t{words[1][lane]} << 32U : 0);
}

}  // namespace

std::uint64_t MemoryStage::stored_value(const MemoryAccess& access, unsigned lane, unsigned element) const {
  const isa::LaneValues& values = access.sub_warp->values;
  if (isa::is_accumulate(access.sub_warp->decoded->instruction.op)) {
    return operand(values.b, lane, access.lane_bytes);
  }
  if (access.element_bytes == 8) {
    return values.result[2 * element][lane] | (std::uint64_t{values.result[2 * element + 1][lane]} << 32U);
  }
  return values.result[element][lane];
}

std::uint32_t MemoryStage::scratchpad_of(const BlockHome& block) const {
  if (block.scratchpad_core != state_.index) {
    throw InternalError("a thread accesses the scratchpad of its block from another core, or when the block has none");
  }
  return block.scratchpad_base;
}

// For `scratchpad_access_`: returns the cycles that it takes.
Cycle MemoryStage::occupy_banks() {
  if (Scratchpad* const direct = pad_.of(scratchpad)) {
    scratchpad_data_ = direct->data();
    return direct->occupy(scratchpad_access_);
  }
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  scratchpad->b_transport(scratchpad_access_, delay);
  if (scratchpad_data_ == nullptr) {
    ::tlm::tlm_dmi dmi;
    if (!scratchpad->get_direct_mem_ptr(scratchpad_access_, dmi)) {
      throw InternalError("the scratchpad grants no direct memory access");
    }
    scratchpad_data_ = reinterpret_cast<std::byte*>(dmi.get_dmi_ptr());
  }
  return delay.value() / clock_.cycles(1).value();
}

void MemoryStage::access_scratchpad(MemoryAccess& access, Cycle now) {
  link::SubWarp& sub_warp = *access.sub_warp;
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  // Lanes of the accesses beside this one that have been served: they share its cycles of the banks.
  const LaneMask together = mimd_lanes_ ? together_.lanes & ~access.shared : 0;
  if (together == 0) {
    together_.since = now;
    scratchpad_access_.bytes = 0;
    scratchpad_access_.atomic = false;
    scratchpad_access_.conflicts = 0;
  }
  scratchpad_access_.lanes = access.shared | together;
  scratchpad_access_.joins = together != 0;
  scratchpad_access_.bytes = std::max(scratchpad_access_.bytes, access.lane_bytes);
  scratchpad_access_.atomic = scratchpad_access_.atomic || access.kind == MemoryAccess::Kind::atomic;
  const ThreadHome* const whole = sub_warp.uniform ? state_.rows[sub_warp.first_row].whole() : nullptr;
  const std::uint32_t base = whole != nullptr ? scratchpad_of(*whole->block) : 0;
  if (whole != nullptr && together == 0) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      scratchpad_access_.address[lane] = base + static_cast<std::uint32_t>(sub_warp.address[lane]);
    }
  } else {
    for (const unsigned lane : set_bits(access.shared)) {
      scratchpad_access_.address[lane] =
          (whole != nullptr ? base : scratchpad_of(*state_.thread_at(sub_warp, lane).home->block)) +
          static_cast<std::uint32_t>(sub_warp.address[lane]);
    }
  }
  const Cycle cycles = occupy_banks();
  together_.lanes = scratchpad_access_.lanes;
  busy_until_ = std::max<Cycle>(now, together_.since + cycles - 1);
  const unsigned bytes = access.element_bytes;
  if (access.kind == MemoryAccess::Kind::load) {
    for (const unsigned lane : set_bits(access.shared)) {
      copy_lane(access.loaded[lane].data(), scratchpad_data_ + scratchpad_access_.address[lane], access.lane_bytes);
    }
    return;
  }
  for (const unsigned lane : set_bits(access.shared)) {
    std::byte* const place = scratchpad_data_ + scratchpad_access_.address[lane];
    switch (access.kind) {
      case MemoryAccess::Kind::load:
      case MemoryAccess::Kind::texture:
        break;  // done
      case MemoryAccess::Kind::store:
        for (unsigned element = 0; element < access.elements; ++element) {
          const std::uint64_t value = stored_value(access, lane, element);
          copy_lane(place + element * bytes, &value, bytes);
        }
        break;
      case MemoryAccess::Kind::atomic: {
        std::uint64_t old = 0;
        std::memcpy(&old, place, bytes);
        const std::uint64_t next =
            isa::atomic_step(instruction.atomic_op(), instruction.atomic_type(), old,
                             operand(sub_warp.values.b, lane, bytes), operand(sub_warp.values.c, lane, bytes));
        std::memcpy(place, &next, bytes);
        sub_warp.values.result[0][lane] = static_cast<std::uint32_t>(old);
        sub_warp.values.result[1][lane] = static_cast<std::uint32_t>(old >> 32U);
        break;
      }
    }
  }
}

// Local memory lies in device memory. Which is a thread's own is a matter of its home, wherever it is executed.
void MemoryStage::translate_local(MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  LaneAddresses& addresses = access.addresses;
  addresses.lanes = access.global | access.local;
  addresses.pieces = 1;
  addresses.piece_bytes = access.lane_bytes;
  addresses.address[0] = sub_warp.address;
  if (access.local == 0) {
    return;
  }
  const std::uint64_t memories = state_.local_memories;
  const unsigned pieces = std::max(access.lane_bytes / 4, 1U);
  addresses.pieces = pieces;
  addresses.piece_bytes = std::min(access.lane_bytes, 4U);
  for (const unsigned lane : set_bits(addresses.lanes)) {
    const std::uint64_t offset = sub_warp.address[lane];
    const bool is_local = ((access.local >> lane) & 1U) != 0;
    const std::uint64_t number = is_local ? state_.thread_at(sub_warp, lane).local() : 0;
    for (unsigned piece = 0; piece < pieces; ++piece) {
      const std::uint64_t at = offset + piece * 4;
      addresses.address[piece][lane] = is_local ? local_address(state_.launch->local_base, memories, number, at) : at;
    }
  }
}

void MemoryStage::follow_local(MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  for (const unsigned lane : set_bits(access.local)) {
    const HomeThread thread = state_.thread_at(sub_warp, lane);
    LocalWritten& written = thread.home->written;
    if (access.kind == MemoryAccess::Kind::store) {
      written.write(thread.lane, sub_warp.address[lane], access.lane_bytes);
    } else {
      written.blank(thread.lane, sub_warp.address[lane], std::span(access.loaded[lane]).first(access.lane_bytes));
    }
  }
}

void MemoryStage::make_lines(MemoryAccess& access) {
  const isa::Instruction& instruction = access.sub_warp->decoded->instruction;
  coalescer_->coalesce(access.addresses, access.coalesced);
  access.count = access.own = static_cast<unsigned>(access.coalesced.size());
  state_.statistics.line_requests += access.count;
  const bool reads_memory = state_.groups[access.sub_warp->group].reads_memory;
  if (access.lines.size() < access.count) {
    access.lines.resize(access.count);  // nothing of this access is outstanding yet: addresses may change
  }
  if (access.kind == MemoryAccess::Kind::store && access.stores.size() < access.count) {
    access.stores.resize(access.count);
  }
  if (access.kind == MemoryAccess::Kind::atomic && access.atomics.size() < access.count) {
    access.atomics.resize(access.count);
  }
  for (unsigned i = 0; i < access.count; ++i) {
    AccessLine& line = access.lines[i];
    access.order[i] = static_cast<std::uint8_t>(i);
    line.access = &access;
    line.under_way = false;
    line.with = nullptr;
    line.address = access.coalesced[i].line;
    line.lanes = access.coalesced[i].lanes;
    line.core = static_cast<std::uint16_t>(state_.index);
    line.group = access.sub_warp->group;
    line.pc = access.sub_warp->pc;
    line.bypass = isa::is_volatile(instruction.op) || (isa::is_load(instruction.op) && reads_memory);
    line.row_hint = isa::is_load(instruction.op) && instruction.row_hint();
    line.shares_port = mimd_lanes_ && (isa::is_load(instruction.op) || isa::is_texture(instruction.op)) && !line.bypass;
    line.failed = false;
    line.atomic = nullptr;
    line.store_data = nullptr;
    line.byte_enable = nullptr;
    switch (access.kind) {
      case MemoryAccess::Kind::texture:
      case MemoryAccess::Kind::load:
        line.kind = link::LineRequest::Kind::load;
        break;
      case MemoryAccess::Kind::store:
        line.kind = link::LineRequest::Kind::store;
        line.stored = &access.stores[i];
        fill_store(access, line);
        break;
      case MemoryAccess::Kind::atomic:
        line.kind = link::LineRequest::Kind::atomic;
        line.atomic = &access.atomics[i];
        fill_atomic(access, line);
        break;
    }
  }
}

void MemoryStage::fill_store(MemoryAccess& access, AccessLine& line) {
  const std::uint64_t line_bytes = state_.machine.l1d.line_bytes;
  const unsigned element_bytes = access.element_bytes;
  std::byte* const data = line.stored->data.data();
  std::uint8_t* const enable = line.stored->enable.data();
  line.stored->enable.fill(0);
  line.store_data = data;
  line.byte_enable = enable;
  if (element_bytes == 4 && access.elements == 1 && access.addresses.pieces == 1 &&
      !isa::is_accumulate(access.sub_warp->decoded->instruction.op)) {  // usual: a word of each lane
    const LaneAddresses::Piece& address = access.addresses.address[0];
    const isa::LaneWord& value = access.sub_warp->values.result[0];
    for (const unsigned lane : set_bits(line.lanes)) {
      const std::uint64_t offset = address[lane] & (line_bytes - 1);
      std::memcpy(data + offset, &value[lane], 4);
      std::memset(enable + offset, 0xff, 4);
    }
    return;
  }
  for (const unsigned lane : set_bits(line.lanes)) {
    std::array<std::byte, 16> bytes;
    for (unsigned element = 0; element < access.elements; ++element) {
      const std::uint64_t value = stored_value(access, lane, element);
      std::memcpy(bytes.data() + element * element_bytes, &value, element_bytes);
    }
    for (unsigned piece = 0; piece < access.addresses.pieces; ++piece) {
      const std::uint64_t address = access.addresses.address[piece][lane];
      if ((address & ~(line_bytes - 1)) != line.address) {
        continue;
      }
      const std::uint64_t offset = address & (line_bytes - 1);
      std::memcpy(data + offset, bytes.data() + piece * 4, access.addresses.piece_bytes);
      std::memset(enable + offset, 0xff, access.addresses.piece_bytes);
    }
  }
}

void MemoryStage::fill_atomic(MemoryAccess& access, AccessLine& line) {
  const isa::Instruction& instruction = access.sub_warp->decoded->instruction;
  const std::uint64_t line_bytes = state_.machine.l1d.line_bytes;
  link::AtomicLanes& atomic = *line.atomic;
  atomic.op = instruction.atomic_op();
  atomic.type = instruction.atomic_type();
  atomic.count = 0;
  for (const unsigned lane : set_bits(line.lanes)) {
    const unsigned entry = atomic.count++;
    atomic.lane[entry] = static_cast<std::uint8_t>(lane);
    atomic.offset[entry] = static_cast<std::uint32_t>(access.sub_warp->address[lane] & (line_bytes - 1));
    atomic.b[entry] = operand(access.sub_warp->values.b, lane, access.lane_bytes);
    atomic.c[entry] = operand(access.sub_warp->values.c, lane, access.lane_bytes);
  }
}

void MemoryStage::reset() {
  drop_all();
  free_.clear();
  for (const auto& access : accesses_) {
    access->sub_warp = nullptr;
    free_.push_back(access.get());
  }
  present_ = nullptr;
  refuses_ = nullptr;
  finished_ = false;
  together_ = {};
  put_aside_ = 0;
  late_ = 0;
  returned_.clear();
  fences_.clear();
  gathers_of_.clear();
  gathering_ = {};
  arrived_ = false;
}

}  // namespace heddle::hw
