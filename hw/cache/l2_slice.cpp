#include "hw/cache/l2_slice.hpp"

#include <algorithm>
#include <cstring>

#include "hw/cache/line_parts.hpp"

namespace heddle::hw {

using link::kNever;
using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;

namespace {

constexpr link::PortReports kL2Reports{"heddle/l2", "unexpected phase from the interconnect"};

// The hit latency, which counts in cycles of the slice's clock, in the GPU's.
unsigned hit_cycles(const Machine& machine) {
  return std::max(1U, static_cast<unsigned>(l2_edges(machine).cycle_of(machine.l2.hit_latency)));
}

CacheParameters store_parameters(const Machine& machine) {
  const L2Parameters& l2 = machine.l2;
  CacheParameters store;
  store.bytes = l2.bytes / memory_slices(machine);
  store.ways = l2.ways;
  store.line_bytes = l2.line_bytes;
  store.hit_latency = hit_cycles(machine);
  store.ports = l2.banks;  // each bank starts at most one access per cycle
  store.mshrs = l2.mshrs;
  store.mshr_targets = l2.mshr_targets;
  store.write_policy = l2.write_policy;
  store.write_buffer = l2.write_buffer;
  store.index = l2.index;
  store.sector_bytes = l2.sector_bytes;
  return store;
}

}  // namespace

L2Slice::L2Slice(const sc_core::sc_module_name& name, const Machine& machine, unsigned number, link::Clock clock)
    : ClockedModule(name, clock),
      target("target"),
      copies("copies", machine.l2.inclusive && !home_table_of(machine.gpu.coherence) ? machine.gpu.cores : 0),
      flushes("flushes"),
      number_(number),
      map_(machine.dram, machine.l2.line_bytes, number / machine.l2.slices, number % machine.l2.slices,
           machine.l2.slices, machine.l2.slice_hash),
      edges_(l2_edges(machine)),
      line_bytes_(machine.l2.line_bytes),
      hit_latency_(hit_cycles(machine)),
      bank_interval_(machine.l2.bank_interval),
      timed_write_back_(machine.l2.write_back_at_end),
      kept_(machine.l2.kept),
      capacity_(machine.l2.queue),
      invalidation_delay_(clock.cycles(noc_edges(machine).cycle_of(machine.noc.response_latency))),
      socket_("socket"),
      store_("store", store_parameters(machine), clock, map_, static_cast<unsigned>(copies.size()), *this,
             machine.gpu.coherence),
      input_(machine.l2.queue, machine.l2.banks),
      next_start_(machine.l2.banks, 0) {
  target.bind(*this);
  flushes.bind(*this);
  socket_.bind(*this);
  socket_.bind(store_.cpu);
  all_bytes_.fill(0xff);
  // By number: iterators of sc_vector compare ambiguously in C++20.
  for (std::size_t i = 0; i < copies.size(); ++i) {
    link::InvalidationInitiatorSocket& socket = copies[i];
    socket.bind(no_answers_);
  }
  if (std::optional<HomeTable> table = home_table_of(machine.gpu.coherence)) {
    HomeSlice& slice = *this;
    home_ = std::make_unique<Home>("home", *std::move(table), clock, slice, map_, line_bytes_);
    store_.ask_home(*home_);
  }
  if (copies.size() != 0) {
    store_.line_given_up = [this](std::uint64_t address, unsigned core) { give_up(address, core); };
  }
}

L2Slice::~L2Slice() = default;

bool L2Slice::quiet() const {
  return inside_ == 0 && !input_.output.under_way() && !flush_wanted_ && !flushing_ && store_.quiet() &&
         (home_ == nullptr || home_->quiet());
}

// --------------------------------------------------------------------------------------------------- requests

L2Slice::Request& L2Slice::make_request(Payload& payload, Cycle arrival) {
  if (free_requests_.empty()) {
    requests_.push_back(std::make_unique<Request>());
    free_requests_.push_back(requests_.back().get());
  }
  Request& request = *free_requests_.back();
  free_requests_.pop_back();
  link::MemoryExtension* extension = nullptr;
  payload.get_extension(extension);
  static_cast<LineRequest&>(request) = LineRequest{};
  request.payload = &payload;
  request.arrival = arrival;
  request.exclusive = request.reading = false;
  request.message = extension != nullptr ? extension->message : link::CoherenceMessage::none;
  const std::uint64_t line = line_of(payload.get_address());
  request.offset = static_cast<std::uint32_t>(payload.get_address() - line);
  request.address = map_.local(line);
  request.origin = extension != nullptr ? extension : &no_extension_;
  request.core = request.origin->core;
  request.group = request.origin->group;
  request.pc = request.origin->pc;
  request.lanes = request.origin->lanes;
  request.row_hint = request.origin->row_hint;
  request.parts = store_.has_sectors() ? parts_of(payload, request.offset) : std::uint8_t{0xff};
  if (payload.is_write()) {
    request.kind = LineRequest::Kind::store;
    describe_store(request);
  } else if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND && request.origin->atomic != nullptr) {
    request.kind = LineRequest::Kind::atomic;
    request.atomic = request.origin->atomic;
    request.atomic_offset = request.offset;
    request.parts = parts_of(*request.atomic, request.offset);
  }
  return request;
}

// The store takes whole lines with byte enables. A payload of that form is taken as it is.
void L2Slice::describe_store(Request& request) {
  const Payload& payload = *request.payload;
  const unsigned length = payload.get_data_length();
  const std::uint8_t* const enable = payload.get_byte_enable_ptr();
  const unsigned enable_length = payload.get_byte_enable_length();
  if (length == line_bytes_ && (enable == nullptr || enable_length >= length)) {
    request.store_data = reinterpret_cast<const std::byte*>(payload.get_data_ptr());
    request.byte_enable = enable != nullptr ? enable : all_bytes_.data();
    return;
  }
  StoreBuffer& buffer = request.buffer;
  buffer.enable.fill(0);
  std::memcpy(buffer.data.data() + request.offset, payload.get_data_ptr(), length);
  for (unsigned i = 0; i != length; ++i) {
    buffer.enable[request.offset + i] = enable == nullptr ? 0xff : enable[i % enable_length];
  }
  request.store_data = buffer.data.data();
  request.byte_enable = buffer.enable.data();
}

// In the turn of whoever sends: its credits decide.
tlm_sync_enum L2Slice::nb_transport_fw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  const Cycle visible = clock().visible_after(delay);
  if (phase == ::tlm::BEGIN_REQ && !link::within_line(payload, line_bytes_)) {
    return ::tlm::TLM_COMPLETED;
  }
  return input_.forward(
      clock(), payload, phase, visible, kL2Reports,
      [this, &payload, visible](bool has_credit) { arrived(payload, visible, has_credit); },
      [this, visible] {
        if (!responses_.empty()) {
          wake(visible);
        }
      });
}

void L2Slice::arrived(Payload& payload, Cycle visible, bool has_credit) {
  Request& request = make_request(payload, visible);
  ++statistics_.requests;
  ++inside_;
  const unsigned bank = bank_of(request.address);
  if (has_credit) {
    const bool first = input_.queue.empty(bank);
    input_.queue.enter(&request, bank);
    statistics_.queue_max = std::max(statistics_.queue_max, input_.queue.occupied(clock().now()));
    // No run of the slice before the bank can look at it: that would try other banks' requests again. Behind others it
    // waits for them.
    if (first) {
      wake(std::max(request.arrival, next_start_[bank]));
    }
  } else {
    ++statistics_.queue_full;
    input_.queue.keep(&request, bank);
    if (const Cycle admitted = input_.queue.admits_at(clock().now()); admitted != kNever) {
      wake(admitted);
    }
  }
  if (observer_ != nullptr) {
    show_queues();
  }
}

void L2Slice::admit(Cycle now) {
  if (!input_.queue.can_admit(now)) {
    return;
  }
  Request& request = *input_.queue.admit();
  request.arrival = std::max(request.arrival, now);
  statistics_.queue_max = std::max(statistics_.queue_max, input_.queue.occupied(now));
  link::end_request(target, *request.payload);
}

// ---------------------------------------------------------------------------------------------------- one cycle

L2Slice::Cycle L2Slice::advance(Cycle now) {
  Cycle next = home_ != nullptr ? home_->advance(now) : kNever;
  next = std::min(next, store_.advance(now));
  acknowledge(now);
  admit(now);
  next = std::min(next, access(now));
  next = std::min(next, respond(now));
  if (flush_wanted_ && inside_ == 0 && store_.quiet() && (home_ == nullptr || home_->quiet())) {
    flush_wanted_ = false;
    if (timed_write_back_) {
      flushing_ = true;
      store_.flush();
      next = std::min(next, now + 1);
    } else {
      if (kept_) {
        store_.write_back_untimed_and_keep();
        store_.forget_sharers();
      } else {
        store_.write_back_untimed();
      }
      answer_flush();
    }
    if (home_ != nullptr) {
      home_->forget();  // the L1s have been emptied before
    }
  } else if (flushing_ && store_.quiet()) {
    flushing_ = false;
    answer_flush();
  }
  if (store_.failed_write() && !failure_told_) {
    failure_told_ = true;
    if (write_failed) {
      write_failed(*store_.failed_write());
    }
  }
  if (observer_ != nullptr) {
    show_queues();
  }
  if (home_ != nullptr) {
    home_->show();
  }
  return next;
}

// What keeps an access from starting, other than time, ends with an arrival from memory or with an answer that leaves:
// both run this again.
L2Slice::Cycle L2Slice::access(Cycle now) {
  if (input_.queue.held() == 0) {
    return kNever;
  }
  Cycle next = home_ != nullptr ? resume(now) : kNever;
  for (unsigned bank = 0; bank != input_.queue.lanes(); ++bank) {
    if (input_.queue.empty(bank)) {
      continue;
    }
    Cycle possible = start_of(bank, input_.queue.front(bank)->arrival);
    if (possible <= now) {
      Request& request = *input_.queue.front(bank);
      if (responses_.size() >= capacity_) {
        continue;
      }
      if (request.message != link::CoherenceMessage::none && home_ != nullptr) {
        if (!home_->take(request)) {
          continue;
        }
        input_.queue.take(bank);  // the home says when it leaves the queue
      } else {
        if (!offer(request, now)) {
          continue;
        }
        input_.queue.pop(now, bank);
      }
      statistics_.queue_wait_cycles += now - request.arrival;
      started(bank, now);
      if (input_.queue.empty(bank)) {
        continue;
      }
      possible = start_of(bank, input_.queue.front(bank)->arrival);
    }
    next = std::min(next, possible);
  }
  input_.give_credits_back(clock());
  return std::min(next, input_.queue.admits_at(now));
}

// Requests that have waited for their lines go on, before the requests at the banks.
L2Slice::Cycle L2Slice::resume(Cycle now) {
  Cycle next = kNever;
  std::size_t index = 0;
  for (std::size_t left = home_->resumable().size(); left != 0; --left) {
    const unsigned bank = bank_of(home_->resumable()[index]);
    if (const Cycle start = start_of(bank, now); start > now) {
      next = std::min(next, start);
      ++index;
    } else if (responses_.size() < capacity_ && home_->resume(index)) {
      started(bank, now);
    } else {
      ++index;
    }
  }
  return next;
}

HomeSlice::Read L2Slice::read(Request& request) {
  if (!offer(request, clock().now())) {
    return Read::busy;
  }
  request.reading = request.answer == LineRequest::Answer::miss || request.answer == LineRequest::Answer::merged;
  return request.reading ? Read::waits : Read::done;
}

void L2Slice::answer_put(Request& request) {
  if (hit_latency_ != 1) {
    acknowledgements_.push({clock().now() + hit_latency_ - 1, &request});
  } else {
    finish(request);
  }
}

bool L2Slice::offer(Request& request, Cycle now) {
  clock().touch(request.payload, "a payload");
  link::LinePhase phase = link::LinePhase::request;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  switch (socket_->nb_transport_fw(request, phase, delay)) {
    case ::tlm::TLM_UPDATED:
      request.again = true;
      return false;
    case ::tlm::TLM_COMPLETED:
      if (request.kind == LineRequest::Kind::store && hit_latency_ != 1) {
        acknowledgements_.push({now + hit_latency_ - 1, &request});
      } else {
        finish(request);
      }
      return true;
    case ::tlm::TLM_ACCEPTED:
      break;
  }
  return true;
}

tlm_sync_enum L2Slice::nb_transport_bw(LineRequest& request, link::LinePhase& /*phase*/, sc_core::sc_time& /*delay*/) {
  auto& answered = static_cast<Request&>(request);
  finish(answered);
  if (answered.reading) {
    home_->filled(answered);
  }
  return ::tlm::TLM_COMPLETED;
}

void L2Slice::acknowledge(Cycle now) {
  while (!acknowledgements_.empty() && acknowledgements_.front().ready <= now) {
    finish(*acknowledgements_.front().request);
    acknowledgements_.pop();
  }
}

// The line that the store gives is valid within its call only, so the bytes are moved now.
void L2Slice::finish(Request& request) {
  Payload& payload = *request.payload;
  clock().touch(&payload, "a payload");
  if (request.failed) {
    payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
  } else {
    if (payload.is_read()) {
      copy_read(payload, request.line + request.offset);
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
  }
  if (request.exclusive) {
    link::MemoryExtension* extension = nullptr;
    payload.get_extension(extension);
    extension->exclusive = true;
  }
  responses_.push(&request);
}

L2Slice::Cycle L2Slice::respond(Cycle now) {
  Cycle next = acknowledgements_.empty() ? kNever : acknowledgements_.front().ready;
  if (!responses_.empty() && input_.output.can_begin(now)) {
    if (responses_.size() == capacity_ && input_.queue.held() != 0) {
      next = now + 1;  // room for an access
    }
    Request& request = *responses_.front();
    responses_.pop();
    Payload& payload = *request.payload;
    clock().touch(&payload, "a payload");
    free_requests_.push_back(&request);
    --inside_;
    link::begin_response(target, payload, input_.output, clock());
  }
  if (!responses_.empty() && !input_.output.under_way()) {
    next = std::min(next, std::max(input_.output.next(), now + 1));
  }
  return next;
}

void L2Slice::observe(L2Observer* observer) {
  observer_ = observer;
  if (observer != nullptr) {
    show_queues();
  }
}

void L2Slice::show_queues() {
  observer_->changed(input_.queue.held(), responses_.size(), input_.queue.keeps());
}

// ------------------------------------------------------------------------------------------------------ control

::tlm::tlm_sync_enum L2Slice::nb_transport_fw(FlushCommand&, FlushPhase& phase, sc_core::sc_time&) {
  if (phase == FlushPhase::changed) {
    store_.memory_changed();
    return ::tlm::TLM_COMPLETED;
  }
  clock().tell([this] {
    flush_wanted_ = true;
    wake(clock().now() + 1);
  });
  return ::tlm::TLM_ACCEPTED;
}

void L2Slice::answer_flush() {
  FlushCommand command{number_};
  FlushPhase phase = FlushPhase::flushed;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  flushes->nb_transport_bw(command, phase, delay);
}

void L2Slice::forget_failed_write() {
  store_.forget_failed_write();
  failure_told_ = false;
}

void L2Slice::give_up(std::uint64_t address, unsigned core) {
  link::Invalidation line{address, line_bytes_};
  ++statistics_.back_invalidations;
  link::InvalidationPhase phase = link::InvalidationPhase::invalidate;
  sc_core::sc_time delay = invalidation_delay_;
  copies[core]->nb_transport_fw(line, phase, delay);
}

// ------------------------------------------------------------------------------------------------- other paths

// After the memory has done its part of an access: reads get what the slice knows better, and the slice's own lines get
// what was written.
void L2Slice::overlay(Payload& payload, unsigned done) {
  const bool read = payload.is_read();
  if (!read && !payload.is_write()) {
    return;
  }
  const std::uint8_t* const enable = payload.get_byte_enable_ptr();
  for (unsigned i = 0; i != done; ++i) {
    const std::uint64_t address = payload.get_address() + i;
    std::byte* const line = map_.owns(address) ? store_.peek(map_.local(line_of(address))) : nullptr;
    if (line == nullptr ||
        (read && !store_.knows(map_.local(line_of(address)), static_cast<unsigned>(address - line_of(address)))) ||
        (enable != nullptr && enable[i % payload.get_byte_enable_length()] == 0)) {
      continue;
    }
    auto* const byte = reinterpret_cast<std::byte*>(payload.get_data_ptr()) + i;
    std::byte& own = line[address - line_of(address)];
    if (read) {
      *byte = own;
    } else {
      own = *byte;
    }
  }
}

void L2Slice::b_transport(Payload& payload, sc_core::sc_time& delay) {
  delay += clock().cycles(hit_latency_);
  store_.memory->b_transport(payload, delay);
  if (payload.is_response_ok()) {
    overlay(payload, payload.get_data_length());
  }
}

bool L2Slice::get_direct_mem_ptr(Payload& /*payload*/, ::tlm::tlm_dmi& dmi) {
  return link::deny_direct_memory(dmi);
}

unsigned L2Slice::transport_dbg(Payload& payload) {
  const unsigned done = store_.memory->transport_dbg(payload);
  overlay(payload, done);
  return done;
}

}  // namespace heddle::hw
