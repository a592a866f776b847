// Transport to the memory. Direct memory is in direct_memory.cpp.
#include "hw/dram/storage_port.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "hw/dram/storage_job.hpp"
#include "tlm/atomic_lanes.hpp"

namespace heddle::hw {

using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;
using Payload = ::tlm::tlm_generic_payload;

StoragePort::StoragePort(::tlm::tlm_initiator_socket<>& socket, link::Waker& owner, link::Clock clock,
                         const DramParameters& parameters, unsigned line_bytes)
    : socket_(socket),
      owner_(owner),
      clock_(clock),
      line_bytes_(line_bytes),
      pieces_(write_pieces_of(parameters.write_pieces)),
      question_(pool_.acquire(::tlm::TLM_READ_COMMAND, 0, line_bytes)) {
  for (unsigned i = 0; i != parameters.blocking_calls; ++i) {
    callers_.push_back(std::make_unique<Caller>());
    Caller& caller = *callers_.back();
    sc_core::sc_spawn([this, &caller] { call(caller); }, ("memory_call" + std::to_string(i)).c_str());
  }
  for (auto caller = callers_.rbegin(); caller != callers_.rend(); ++caller) {
    free_callers_.push_back(caller->get());
  }
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.set_sensitivity(&watch_event_);
  options.dont_initialize();
  sc_core::sc_spawn([this] { look_for_overdue(); }, "memory_watch", &options);
}

StoragePort::~StoragePort() = default;

// ------------------------------------------------------------------------------------------------------- requests

bool StoragePort::access(DramRequest& request, sc_core::sc_time& delay) {
  Payload& payload = *request.payload;
  clock_.touch(&payload, "a payload");
  if (request.atomic) {
    clock_.touch(request.extension->atomic, "the lanes of an atomic");
  }
  if (!request.atomic && payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return true;
  }
  if (active_.empty() && access_directly(request, delay)) {
    return true;
  }
  Job& job = make_job(request);
  const bool free = can_send(clock_.now()) && !waits_for_line(job) &&
                    std::none_of(active_.begin(), active_.end(),
                                 [](const Job* other) { return other->state == Job::State::waiting; });
  if (free && send(job, delay)) {
    free_job(job);
    return true;
  }
  active_.push_back(&job);
  if (!free) {
    owner_.wake(std::max(next_send_, clock_.now() + 1));
  }
  return false;
}

StoragePort::Job& StoragePort::make_job(DramRequest& request) {
  if (free_jobs_.empty()) {
    jobs_.push_back(std::make_unique<Job>(static_cast<std::uint32_t>(jobs_.size())));
    free_jobs_.push_back(jobs_.back().get());
  }
  Job& job = *free_jobs_.back();
  free_jobs_.pop_back();
  job.begin(request);
  // No byte enabled at all: there is nothing to do.
  job.over = !next_transfer(job, pieces_);
  if (job.over) {
    request.payload->set_response_status(::tlm::TLM_OK_RESPONSE);
  }
  return job;
}

void StoragePort::free_job(Job& job) {
  free_jobs_.push_back(&job);
}

// From the first byte that a read asks for to the last.
WritePiece StoragePort::read_span(const Payload& asked) {
  const unsigned length = asked.get_data_length();
  const std::uint8_t* const enable = asked.get_byte_enable_ptr();
  if (enable == nullptr || asked.get_byte_enable_length() < length) {
    return {0, length, false};
  }
  const auto wanted = [](std::uint8_t byte) { return byte != 0; };
  const std::uint8_t* const first = std::find_if(enable, enable + length, wanted);
  const auto last =
      std::find_if(std::make_reverse_iterator(enable + length), std::make_reverse_iterator(first), wanted);
  return {static_cast<unsigned>(first - enable), static_cast<unsigned>(last.base() - enable), false};
}

// Decides on the job's next transfer; false: there is none.
bool StoragePort::next_transfer(Job& job, WritePieces pieces) {
  Payload& asked = *job.request->payload;
  const unsigned length = asked.get_data_length();
  if (!job.request->write && !job.stepped) {
    if (!job.read) {
      job.read = true;
      job.transfer = {::tlm::TLM_READ_COMMAND, job.request->atomic ? WritePiece{0, length, false} : read_span(asked),
                      job.request->atomic ? job.line.data() : bytes_of(asked)};
      return true;
    }
    if (!job.request->atomic) {
      return false;
    }
    link::step_lanes(*job.request->extension->atomic, job.line.data(), job.touched.data());
    job.stepped = true;
  }
  const MaskedWrite write{asked.get_address(), length, job.enable, job.enable_length};
  const WritePiece piece = next_piece(pieces, write, job.cursor);
  job.cursor = piece.end;
  job.transfer = {::tlm::TLM_WRITE_COMMAND, piece, job.data};
  return !piece.empty();
}

bool StoragePort::waits_for_line(const Job& job) const {
  const std::uint64_t line = job.request->payload->get_address() / line_bytes_;
  for (const Job* other : active_) {
    if (other == &job) {
      return false;
    }
    if (other->request->payload->get_address() / line_bytes_ == line) {
      return true;
    }
  }
  return false;
}

// ------------------------------------------------------------------------------------------------------ transfers

bool StoragePort::free_to_send() const {
  return callers_.empty() ? in_request_ == nullptr : !free_callers_.empty();
}

bool StoragePort::can_send(Cycle now) const {
  return free_to_send() && next_send_ <= now;
}

void StoragePort::make_payload(Job& job) {
  const Job::Transfer& transfer = job.transfer;
  link::LinePayload& payload =
      pool_.acquire(transfer.command, job.request->payload->get_address() + transfer.bytes.first,
                    transfer.bytes.end - transfer.bytes.first);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(transfer.line + transfer.bytes.first));
  if (transfer.bytes.masked) {
    payload.set_byte_enable_ptr(job.enable);
    payload.set_byte_enable_length(job.enable_length);
  }
  payload.extension = job.request->extension != nullptr ? *job.request->extension : link::MemoryExtension{};
  payload.extension.atomic = nullptr;
  payload.tag = job.index;
  job.payload = &payload;
  job.since = clock_.now();
  job.state = Job::State::sent;
  ++unanswered_;
}

// The memory counts delays from the kernel's time.
tlm_sync_enum StoragePort::forward(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  const sc_core::sc_time ahead = clock_.ahead();
  delay += ahead;
  const tlm_sync_enum result = socket_->nb_transport_fw(payload, phase, delay);
  delay -= std::min(delay, ahead);
  return result;
}

// Transfers go out as long as the memory answers each within the call.
bool StoragePort::send(Job& job, sc_core::sc_time& delay) {
  while (!job.over) {
    make_payload(job);
    if (!callers_.empty()) {
      job.caller = free_callers_.back();
      free_callers_.pop_back();
      job.caller->job = &job;
      job.caller->called.notify(clock_.ahead());
      watch_for_answer();
      return false;
    }
    tlm_phase phase = ::tlm::BEGIN_REQ;
    in_request_ = &job;
    const tlm_sync_enum result = forward(*job.payload, phase, delay);
    if (result == ::tlm::TLM_ACCEPTED || job.state == Job::State::answered) {  // it may have been from within the call
      watch_for_answer();
      return false;
    }
    in_request_ = nullptr;
    if (result == ::tlm::TLM_UPDATED && phase == ::tlm::END_REQ) {
      next_send_ = clock_.visible_after(delay);
      watch_for_answer();
      return false;
    }
    job.owes_end = result == ::tlm::TLM_UPDATED;  // BEGIN_RESP, which implies END_REQ
    one_answered();
    take_answer(job, delay);
  }
  return true;
}

void StoragePort::answered(Job& job, Cycle visible) {
  job.state = Job::State::answered;
  job.visible = visible;
  one_answered();
  owner_.wake(visible);
}

// `delay`: until the response phase, if there is one, ends.
void StoragePort::take_answer(Job& job, sc_core::sc_time delay) {
  link::LinePayload& payload = *job.payload;
  const auto status = payload.get_response_status();
  if (payload.is_dmi_allowed()) {
    direct_.hinted(job.request->payload->get_address() + job.transfer.bytes.first, payload.is_write());
  }
  if (job.owes_end) {
    job.owes_end = false;
    tlm_phase phase = ::tlm::END_RESP;
    forward(payload, phase, delay);
  }
  payload.release();
  job.payload = nullptr;
  if (job.caller != nullptr) {
    free_callers_.push_back(job.caller);
    job.caller = nullptr;
  }
  job.request->payload->set_response_status(status);
  job.over = status != ::tlm::TLM_OK_RESPONSE || !next_transfer(job, pieces_);
}

// The job that a payload is under way for; none: it is none of ours, or an old one.
StoragePort::Job* StoragePort::job_of(Payload& payload) {
  const auto* const line = dynamic_cast<link::LinePayload*>(&payload);
  if (line == nullptr || line->tag >= jobs_.size()) {
    return nullptr;
  }
  Job& job = *jobs_[line->tag];
  return job.payload == line && job.state == Job::State::sent ? &job : nullptr;
}

tlm_sync_enum StoragePort::nb_transport_bw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != ::tlm::END_REQ && phase != ::tlm::BEGIN_RESP) {
    if (phase == ::tlm::BEGIN_REQ || phase == ::tlm::END_RESP) {
      SC_REPORT_ERROR("heddle/dram", "the memory sent a phase that only an initiator may send");
    }
    return ::tlm::TLM_ACCEPTED;  // a phase beyond the base protocol is to be ignored
  }
  Job* const job = job_of(payload);
  if (job == nullptr || job->caller != nullptr || (phase == ::tlm::END_REQ && in_request_ != job)) {
    SC_REPORT_ERROR("heddle/dram", phase == ::tlm::END_REQ ? "the memory ended a request that is not under way"
                                                           : "the memory answered a request that is not under way");
    return ::tlm::TLM_ACCEPTED;
  }
  const Cycle visible = clock_.visible_after(delay);
  if (in_request_ == job) {
    in_request_ = nullptr;
    next_send_ = visible;
    owner_.wake(visible);
  }
  if (phase == ::tlm::BEGIN_RESP) {
    job->owes_end = true;
    answered(*job, visible);
  }
  return ::tlm::TLM_ACCEPTED;
}

void StoragePort::call(Caller& caller) {
  while (true) {
    while (caller.job == nullptr) {
      sc_core::wait(caller.called);
    }
    Job& job = *caller.job;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket_->b_transport(*job.payload, delay);
    if (delay != sc_core::SC_ZERO_TIME) {
      sc_core::wait(delay);
    }
    caller.job = nullptr;
    answered(job, clock_.visible_after(sc_core::SC_ZERO_TIME));
  }
}

// ------------------------------------------------------------------------------------------------------ one cycle

Cycle StoragePort::advance(Cycle now, std::vector<DramRequest*>& finished) {
  bool any_over = false;
  for (Job* job : active_) {
    if (job->state == Job::State::answered && job->visible <= now) {
      if (!job->over) {
        take_answer(*job, sc_core::SC_ZERO_TIME);
      }
      job->state = job->over ? Job::State::answered : Job::State::waiting;
    }
    if (job->state == Job::State::waiting && can_send(now) && !waits_for_line(*job)) {
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (send(*job, delay)) {
        job->state = Job::State::answered;
        job->visible = delay == sc_core::SC_ZERO_TIME ? now : clock_.visible_after(delay);
      }
    }
    any_over = any_over || (job->over && job->visible <= now);
  }
  if (any_over) {
    const auto over = [now](const Job* job) {
      return job->over && job->state == Job::State::answered && job->visible <= now;
    };
    for (Job* job : active_) {
      if (over(job)) {
        finished.push_back(job->request);
        free_job(*job);
      }
    }
    std::erase_if(active_, over);
  }
  Cycle next = kNever;
  bool sendable = false;
  for (const Job* job : active_) {
    if (job->state == Job::State::answered) {
      next = std::min(next, job->visible);
    } else if (job->state == Job::State::waiting && !sendable && free_to_send() && !waits_for_line(*job)) {
      sendable = true;
      next = std::min(next, std::max(next_send_, now + 1));
    }
  }
  return next;
}

// ------------------------------------------------------------------------------------------------------- watchdog

void StoragePort::watch(Cycle limit, std::function<void(const Unanswered&)> overdue) {
  limit_ = limit;
  overdue_ = std::move(overdue);
}

void StoragePort::one_answered() {
  --unanswered_;
  told_ = false;
}

void StoragePort::rest() {
  if (watching_ && unanswered_ == 0) {
    watching_ = false;
    watch_event_.cancel();
  }
}

// The event stays notified while transfers come and go, and looks for one that is too old when it is its time.
void StoragePort::watch_for_answer() {
  if (!watching_ && !told_ && unanswered_ != 0 && overdue_) {
    watch_from(clock_.now());
  }
}

void StoragePort::watch_from(Cycle since) {
  const std::uint64_t period = clock_.cycles(1).value();
  if (limit_ < kNever / 2 / period) {  // beyond half of all time nothing can be overdue
    watching_ = true;
    watch_event_.notify(clock_.ahead() + clock_.until(since + limit_) + sc_core::sc_time::from_value(period / 2));
  }
}

void StoragePort::look_for_overdue() {
  watching_ = false;
  const Job* oldest = nullptr;
  for (const Job* const job : active_) {
    if (job->state == Job::State::sent && (oldest == nullptr || job->since < oldest->since)) {
      oldest = job;
    }
  }
  if (oldest == nullptr) {
    return;
  }
  if (clock_.now() < oldest->since + limit_) {
    watch_from(oldest->since);
    return;
  }
  told_ = true;
  const Job::Transfer& transfer = oldest->transfer;
  overdue_({transfer.command == ::tlm::TLM_WRITE_COMMAND,
            oldest->request->payload->get_address() + transfer.bytes.first, transfer.bytes.end - transfer.bytes.first,
            oldest->since});
}

}  // namespace heddle::hw
