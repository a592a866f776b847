#include "hw/dram/controller.hpp"

#include <algorithm>

#include "tlm/memory_extension.hpp"

namespace heddle::hw {

using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;

DramController::DramController(const sc_core::sc_module_name& name, const DramParameters& parameters,
                               unsigned line_bytes, link::Clock clock)
    : ClockedModule(name, clock),
      target("target"),
      storage("storage"),
      map_(parameters, line_bytes),
      line_bytes_(line_bytes),
      capacity_(parameters.queue),
      row_conflict_(parameters.row_conflict),
      scheduler_(Registry<DramScheduler>::instance().make(parameters.scheduler, {parameters})),
      row_policy_(Registry<DramRowPolicy>::instance().make(parameters.row_policy, {parameters})),
      banks_(parameters, line_bytes, clock.cycles(1).to_seconds() * 1e9),
      storage_port_(storage, *this, clock, line_bytes) {
  target.bind(*this);
  storage.bind(storage_port_);
}

DramController::~DramController() = default;

bool DramController::quiet() const {
  return arriving_.empty() && pending_ == nullptr && waiting_.empty() && in_service_.empty() && responses_.empty() &&
         storage_port_.idle() && in_response_ == nullptr;
}

// --------------------------------------------------------------------------------------------------- requests

DramRequest& DramController::make_request(Payload& payload, Cycle arrival) {
  DramRequest& request = pool_.acquire();
  request.payload = &payload;
  link::MemoryExtension* extension = nullptr;
  payload.get_extension(extension);
  request.extension = extension;
  request.location = map_.locate(payload.get_address());
  request.write = payload.is_write();
  request.atomic =
      payload.get_command() == ::tlm::TLM_IGNORE_COMMAND && extension != nullptr && extension->atomic != nullptr;
  request.row_hint = extension != nullptr && extension->row_hint;
  request.slots = request.atomic ? 2 : 1;
  request.arrival = arrival;
  return request;
}

tlm_sync_enum DramController::nb_transport_fw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  const Cycle visible = clock().visible_after(delay);
  if (phase == ::tlm::BEGIN_REQ) {
    const std::uint64_t offset = payload.get_address() % line_bytes_;
    if (offset + payload.get_data_length() > line_bytes_ || payload.get_data_length() == 0 ||
        payload.get_streaming_width() < payload.get_data_length()) {
      payload.set_response_status(::tlm::TLM_BURST_ERROR_RESPONSE);
      return ::tlm::TLM_COMPLETED;
    }
    DramRequest& request = make_request(payload, visible);
    const Cycle now = clock().now();
    const bool started_now = started_at_ == now;
    if (arriving_.size() + waiting_.size() + (started_now ? 1 : 0) < capacity_) {
      arriving_.push(&request);
      wake(visible);
      phase = ::tlm::END_REQ;
      return ::tlm::TLM_UPDATED;
    }
    pending_ = &request;
    ++statistics_.queue_full;
    if (started_now) {
      wake(now + 1);
    }
    return ::tlm::TLM_ACCEPTED;
  }
  if (phase == ::tlm::END_RESP && in_response_ == &payload) {
    in_response_ = nullptr;
    next_response_ = visible;
    wake(visible);
    return ::tlm::TLM_COMPLETED;
  }
  SC_REPORT_ERROR("heddle/dram", "unexpected phase from the interconnect");
  return ::tlm::TLM_ACCEPTED;
}

// ---------------------------------------------------------------------------------------------------- one cycle

Cycle DramController::advance(Cycle now) {
  Cycle next = kNever;
  if (!storage_port_.idle()) {
    finished_.clear();
    next = storage_port_.advance(now, finished_);
    for (DramRequest* request : finished_) {
      add_response(*request, now);
    }
  }
  complete(now);
  respond(now);
  admit(now);
  next = std::min(next, start(now));
  if (!arriving_.empty()) {
    next = std::min(next, arriving_.front()->arrival);
  }
  if (!in_service_.empty()) {
    next = std::min(next, in_service_.back()->data);
  }
  if (!responses_.empty() && in_response_ == nullptr) {
    next = std::min(next, std::max({responses_.back().ready, next_response_, now + 1}));
  }
  return next;
}

// Requests whose data is complete: the access itself.
void DramController::complete(Cycle now) {
  while (!in_service_.empty() && in_service_.back()->data <= now) {
    DramRequest& request = *in_service_.back();
    in_service_.pop_back();
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (storage_port_.access(request, delay)) {
      add_response(request, delay == sc_core::SC_ZERO_TIME ? now : clock().visible_after(delay));
    }
  }
}

void DramController::add_response(DramRequest& request, Cycle ready) {
  if (request.payload->is_response_error()) {
    ++statistics_.failures;
  }
  const auto place = std::upper_bound(responses_.begin(), responses_.end(), ready,
                                      [](Cycle at, const Response& other) { return at >= other.ready; });
  responses_.insert(place, {ready, &request});
}

void DramController::respond(Cycle now) {
  if (responses_.empty() || in_response_ != nullptr || next_response_ > now || responses_.back().ready > now) {
    return;
  }
  DramRequest& request = *responses_.back().request;
  responses_.pop_back();
  Payload& payload = *request.payload;
  pool_.release(request);
  in_response_ = &payload;
  next_response_ = now + 1;
  tlm_phase phase = ::tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm_sync_enum result = target->nb_transport_bw(payload, phase, delay);
  if (result == ::tlm::TLM_COMPLETED || (result == ::tlm::TLM_UPDATED && phase == ::tlm::END_RESP)) {
    in_response_ = nullptr;
    next_response_ = clock().visible_after(delay);
  }
}

void DramController::admit(Cycle now) {
  if (pending_ != nullptr && arriving_.size() + waiting_.size() < capacity_) {
    DramRequest& request = *pending_;
    pending_ = nullptr;
    request.arrival = std::max(request.arrival, now);
    arriving_.push(&request);
    tlm_phase phase = ::tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    target->nb_transport_bw(*request.payload, phase, delay);
  }
  while (!arriving_.empty() && arriving_.front()->arrival <= now) {
    waiting_.push_back(*arriving_.front());
    arriving_.pop();
  }
  statistics_.queue_max = std::max<std::uint64_t>(statistics_.queue_max, waiting_.size());
}

Cycle DramController::start(Cycle now) {
  DramChoice choice = scheduler_->choose(now, waiting_, banks_);
  if (choice.start > now) {
    return choice.start;
  }
  start_request(*choice.request, now);
  choice = scheduler_->choose(now, waiting_, banks_);
  const Cycle next = choice.request != nullptr ? std::max(choice.start, now + 1) : kNever;
  return pending_ != nullptr ? now + 1 : next;
}

void DramController::start_request(DramRequest& request, Cycle now) {
  waiting_.erase(request);
  started_at_ = now;
  banks_.start(request, now);
  storage_port_.prefetch(request);  // a hundred cycles ahead of its use
  scheduler_->started(request, now);
  if (row_policy_->close_after(request, waiting_)) {
    banks_.close(request.location.bank);
  }

  ++(request.atomic ? statistics_.atomics : request.write ? statistics_.writes : statistics_.reads);
  if (request.row_hit) {
    ++statistics_.row_hits;
  } else {
    ++statistics_.row_conflicts;
    ++statistics_.activations;
  }
  statistics_.queue_wait_cycles += now - request.arrival;
  bus_fraction_ += banks_.slot() * request.slots;
  statistics_.bus_busy_cycles += bus_fraction_ >> BusSchedule::kFractionBits;
  bus_fraction_ &= (std::uint64_t{1} << BusSchedule::kFractionBits) - 1;

  const auto place = std::upper_bound(in_service_.begin(), in_service_.end(), request.data,
                                      [](Cycle data, const DramRequest* other) { return data >= other->data; });
  in_service_.insert(place, &request);
}

// ------------------------------------------------------------------------------------------------- other paths

void DramController::b_transport(Payload& payload, sc_core::sc_time& delay) {
  delay += clock().cycles(row_conflict_);
  storage->b_transport(payload, delay);
}

bool DramController::get_direct_mem_ptr(Payload& /*payload*/, ::tlm::tlm_dmi& dmi) {
  dmi.allow_none();  // an access around the controller would have no timing
  dmi.set_start_address(0);
  dmi.set_end_address(~sc_dt::uint64{0});
  return false;
}

unsigned DramController::transport_dbg(Payload& payload) {
  return storage->transport_dbg(payload);
}

}  // namespace heddle::hw
