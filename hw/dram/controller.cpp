#include "hw/dram/controller.hpp"

#include <algorithm>

#include "hw/dram/jedec.hpp"
#include "tlm/memory_extension.hpp"

namespace heddle::hw {

using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;

namespace {

constexpr link::PortReports kDramReports{"heddle/dram", "unexpected phase from the interconnect"};

// What a line moves in parts of: sectors, of several to a burst bursts. 0: it moves in whole.
unsigned granule_of(const DramParameters& parameters, unsigned line_bytes, unsigned sector_bytes) {
  const unsigned burst = parameters.timing == "jedec" ? resolve_jedec(parameters).burst_bytes : 0;
  const unsigned granule = sector_bytes == 0 ? line_bytes : std::max(sector_bytes, burst);
  return granule < line_bytes ? granule : 0;
}

}  // namespace

DramController::DramController(const sc_core::sc_module_name& name, const DramParameters& parameters,
                               unsigned line_bytes, link::Clock clock, unsigned sector_bytes)
    : ClockedModule(name, clock),
      target("target"),
      storage("storage"),
      map_(parameters, line_bytes),
      line_bytes_(line_bytes),
      granule_(granule_of(parameters, line_bytes, sector_bytes)),
      latency_(parameters.latency),
      scheduler_(Registry<DramScheduler>::instance().make(parameters.scheduler, {parameters})),
      row_policy_(Registry<DramRowPolicy>::instance().make(parameters.row_policy, {parameters})),
      timing_(make_dram_timing(parameters, line_bytes, clock.cycles(1).to_seconds() * 1e9)),
      holds_(parameters.banks, parameters.hints,
             parameters.hint_threshold != 0 ? parameters.hint_threshold : timing_->conflict_penalty(),
             parameters.starvation_bound, statistics_.hints),
      drain_(parameters),
      storage_port_(storage, *this, clock, parameters, line_bytes),
      input_(parameters.queue),
      view_(waiting_, *timing_, holds_, drain_, parameters.starvation_bound),
      bank_busy_(parameters.banks) {
  target.bind(*this);
  storage.bind(storage_port_);
}

DramController::~DramController() = default;

void DramController::observe(DramObserver* observer) {
  observer_ = observer;
  timing_->set_observer(observer);
  holds_.set_observer(observer);
}

bool DramController::quiet() const {
  return input_.queue.empty() && !input_.queue.keeps() && waiting_.empty() && in_service_.empty() &&
         responses_.empty() && storage_port_.idle() && !input_.output.under_way();
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
  request.bytes = granule_ == 0 || request.atomic ? 0 : bytes_of(payload);
  request.arrival = arrival;
  return request;
}

// Whole granules with a byte that is asked for or written; one at least.
unsigned DramController::bytes_of(const Payload& payload) const {
  const auto offset = static_cast<unsigned>(payload.get_address() % line_bytes_);
  const unsigned length = payload.get_data_length();
  const std::uint8_t* const enable = payload.get_byte_enable_ptr();
  const unsigned enable_length = enable != nullptr ? payload.get_byte_enable_length() : 0;
  unsigned granules = 0;
  unsigned latest = ~0U;
  for (unsigned at = 0; at != length; ++at) {
    if ((enable_length == 0 || enable[at % enable_length] != 0) && (offset + at) / granule_ != latest) {
      latest = (offset + at) / granule_;
      ++granules;
    }
  }
  return std::max(granules, 1U) * granule_;
}

// In the turn of whoever sends: its credits decide.
tlm_sync_enum DramController::nb_transport_fw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  const Cycle visible = clock().visible_after(delay);
  if (phase == ::tlm::BEGIN_REQ && !link::within_line(payload, line_bytes_)) {
    return ::tlm::TLM_COMPLETED;
  }
  return input_.forward(
      clock(), payload, phase, visible, kDramReports,
      [this, &payload, visible](bool has_credit) { arrived(payload, visible, has_credit); },
      [this, visible] { wake(visible); });
}

void DramController::arrived(Payload& payload, Cycle visible, bool has_credit) {
  DramRequest& request = make_request(payload, visible);
  if (has_credit) {
    input_.queue.enter(&request);
    if (!arrivals_wait_) {
      wake(visible);
    }
    return;
  }
  ++statistics_.queue_full;
  input_.queue.keep(&request);
  if (const Cycle admitted = input_.queue.admits_at(clock().now()); admitted != kNever) {
    wake(admitted);
  }
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
  if (timing_->timed()) {
    next = std::min(next, start(now));
  } else {
    respond(now);  // what the memory answered at once
    next = std::min(next, input_.queue.admits_at(now));
  }
  input_.give_credits_back(clock());
  if (!input_.queue.empty() && !arrivals_wait_) {
    next = std::min(next, input_.queue.front()->arrival);
  }
  if (!in_service_.empty()) {
    next = std::min(next, in_service_.back()->data);
  }
  if (!responses_.empty() && !input_.output.under_way()) {
    next = std::min(next, std::max({responses_.back().ready, input_.output.next(), now + 1}));
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

// Without timing: the memory is asked at once.
void DramController::hand_on(DramRequest& request, Cycle now) {
  ++(request.atomic ? statistics_.atomics : request.write ? statistics_.writes : statistics_.reads);
  request.begin = request.data = now;
  ++handed_on_;
  statistics_.queue_max = std::max<std::uint64_t>(statistics_.queue_max, handed_on_);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (storage_port_.access(request, delay)) {
    add_response(request, delay == sc_core::SC_ZERO_TIME ? now : clock().visible_after(delay));
  }
}

void DramController::add_response(DramRequest& request, Cycle ready) {
  ready += latency_;
  if (request.payload->is_response_error()) {
    ++statistics_.failures;
  }
  const auto place = std::upper_bound(responses_.begin(), responses_.end(), ready,
                                      [](Cycle at, const Response& other) { return at >= other.ready; });
  responses_.insert(place, {ready, &request});
}

void DramController::respond(Cycle now) {
  if (responses_.empty() || !input_.output.can_begin(now) || responses_.back().ready > now) {
    return;
  }
  DramRequest& request = *responses_.back().request;
  responses_.pop_back();
  Payload& payload = *request.payload;
  clock().touch(&payload, "a payload");
  if (!timing_->timed()) {
    --handed_on_;
    input_.queue.release(now);
    statistics_.queue_wait_cycles += now - request.arrival;
    statistics_.series.add(statistics_.series.queue, request.arrival, now);
  }
  pool_.release(request);
  link::begin_response(target, payload, input_.output, clock());
}

void DramController::admit(Cycle now) {
  if (input_.queue.can_admit(now)) {
    DramRequest& request = *input_.queue.admit();
    request.arrival = std::max(request.arrival, now);
    link::end_request(target, *request.payload);
  }
  take_arrived(now);
  if (observer_ != nullptr) {
    observer_->waiting(waiting_.size() + handed_on_);
  }
}

// What is kept aside gets the place that has become free in this cycle in the next one, whatever happens: its sender
// has no other request until then. So there need be no turn for it.
void DramController::admit_ahead(Cycle now) {
  DramRequest& request = *input_.queue.admit();
  request.arrival = std::max(request.arrival, now + 1);
  link::end_request(target, *request.payload, clock().cycles(2));  // as if it were sent in the next cycle
}

void DramController::take_arrived(Cycle until) {
  while (!input_.queue.empty() && input_.queue.front()->arrival <= until) {
    DramRequest& request = *input_.queue.take();
    if (!timing_->timed()) {
      hand_on(request, until);
      continue;
    }
    drain_.admitted(request, waiting_);
    waiting_.push_back(request);
    scheduler_->admitted(request);
    holds_.admitted(request, until);
  }
  statistics_.queue_max = std::max<std::uint64_t>(statistics_.queue_max, waiting_.size());
}

DramStatistics& DramController::statistics() {
  if (arrivals_wait_ && clock().now() != 0) {
    take_arrived(clock().now() - 1);
  }
  return statistics_;
}

// Which request takes a step next. When nothing of the direction whose turn it is can start, it is the other's turn.
DramChoice DramController::choose() {
  DramChoice choice = scheduler_->choose(view_);
  if (choice.request == nullptr && drain_.enabled() && !waiting_.empty()) {
    drain_.turn();
    choice = scheduler_->choose(view_);
    if (choice.request == nullptr) {
      drain_.turn();
    }
  }
  return choice;
}

Cycle DramController::start(Cycle now) {
  arrivals_wait_ = false;
  holds_.expire(now);
  if (waiting_.empty()) {
    return kNever;
  }
  timing_->settle(now);
  if (const std::uint64_t refreshes = timing_->refreshes(); refreshes != statistics_.refreshes) {
    statistics_.refreshes = refreshes;
    scheduler_->rows_closed();
  }
  while (true) {
    view_.at(now);
    const DramChoice choice = choose();
    if (choice.start > now) {
      // Who watches, and holds, are told of arrivals in their cycle.
      arrivals_wait_ = scheduler_->stands() && !holds_.any() && observer_ == nullptr;
      if (arrivals_wait_ && input_.queue.will_admit(now)) {
        admit_ahead(now);
      }
      const Cycle next = std::min(choice.start, view_.asked_again());
      return std::min(std::max(next, now + 1), input_.queue.admits_at(now));
    }
    take_step(*choice.request, now);
  }
}

void DramController::take_step(DramRequest& request, Cycle now) {
  const bool last = timing_->last_step(request);
  bool close = false;
  if (last) {
    waiting_.erase(request);
    drain_.left(request);
    input_.queue.release(now);
    close = !(request.row_hint && holds_.enabled()) && row_policy_->close_after(request, waiting_);
  }
  holds_.starts(request, now);
  if (request.first_step) {
    request.first_step = false;
    request.row_hit = timing_->row_hit(request);
    request.row_empty = !timing_->row_open(request.location.bank);
    request.begin = now;
  }
  const DramStep step = timing_->start(request, now, close);
  scheduler_->stepped(request);
  count(request, step, now);
  if (!last) {
    if (step.activations != 0 || step.bus != 0) {
      drain_.commit(request);
    }
    return;
  }
  storage_port_.prefetch(request);  // a hundred cycles ahead of its use
  scheduler_->started(request, now);
  holds_.served(request, now, waiting_);
  if (observer_ != nullptr) {
    observer_->access(request, now);
    observer_->waiting(waiting_.size());
  }
  const auto place = std::upper_bound(in_service_.begin(), in_service_.end(), request.data,
                                      [](Cycle data, const DramRequest* other) { return data >= other->data; });
  in_service_.insert(place, &request);
}

void DramController::count(const DramRequest& request, const DramStep& step, Cycle now) {
  statistics_.activations += step.activations;
  if (step.bus != 0) {
    bus_fraction_ += step.bus;
    const std::uint64_t cycles = bus_fraction_ >> DramStep::kFractionBits;
    bus_fraction_ &= (std::uint64_t{1} << DramStep::kFractionBits) - 1;
    statistics_.bus_busy_cycles += cycles;
    const Cycle bus_begin = step.bus_end - std::min(cycles, step.bus_end);
    statistics_.series.add(statistics_.series.bus, bus_begin, step.bus_end);
    if (observer_ != nullptr) {
      observer_->transfer(bus_begin, step.bus_end);
    }
  }
  if (!step.served) {
    return;
  }
  ++(request.atomic ? statistics_.atomics : request.write ? statistics_.writes : statistics_.reads);
  ++(request.row_hit ? statistics_.row_hits : statistics_.row_conflicts);
  statistics_.row_empty += request.row_empty ? 1 : 0;
  UtilisationSeries& series = statistics_.series;
  series.add(request.row_hit ? series.row_hits : series.row_conflicts, now, now + 1);
  statistics_.queue_wait_cycles += now - request.arrival;
  statistics_.series.add(statistics_.series.queue, request.arrival, now);
  // A bank's accesses overlap: what an earlier one covers is not counted twice.
  Cycle& busy = bank_busy_[request.location.bank];
  const Cycle begin = std::max(busy, request.begin);
  if (step.bus_end > begin) {
    statistics_.bank_busy_cycles += step.bus_end - begin;
    statistics_.series.add(statistics_.series.banks, begin, step.bus_end);
    busy = step.bus_end;
  }
}

// ------------------------------------------------------------------------------------------------- other paths

void DramController::b_transport(Payload& payload, sc_core::sc_time& delay) {
  delay += clock().cycles(timing_->conflict_latency());
  storage->b_transport(payload, delay);
}

bool DramController::get_direct_mem_ptr(Payload& /*payload*/, ::tlm::tlm_dmi& dmi) {
  return link::deny_direct_memory(dmi);
}

unsigned DramController::transport_dbg(Payload& payload) {
  return storage->transport_dbg(payload);
}

}  // namespace heddle::hw
