#include "hw/dram/storage_port.hpp"

#include <algorithm>
#include <cstring>

#include "hw/cache/atomic_lanes.hpp"
#include "hw/cache/byte_enables.hpp"

namespace heddle::hw {

using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;
using Payload = ::tlm::tlm_generic_payload;

namespace {

std::byte* bytes_of(Payload& payload) {
  return reinterpret_cast<std::byte*>(payload.get_data_ptr());
}

}  // namespace

// One access by transport: one transfer, or several when byte enables or an atomic need them.
struct StoragePort::Job {
  enum class State : std::uint8_t { waiting, sent, answered };
  DramRequest* request = nullptr;
  link::LinePayload* payload = nullptr;
  State state = State::waiting;
  Cycle visible = 0;                     // answered: the cycle in which that counts
  bool over = false;                     // answered: nothing left to do
  bool prepared = false;                 // the payload describes the next transfer
  const std::uint8_t* enable = nullptr;  // writes by runs: byte enables...
  unsigned enable_length = 0;            // ... which repeat after this many
  std::byte* data = nullptr;
  unsigned cursor = 0;      // the byte at which the next run is looked for
  bool lanes_done = false;  // atomic: the line was read and stepped
};

StoragePort::StoragePort(::tlm::tlm_initiator_socket<>& socket, link::Waker& owner, link::Clock clock,
                         unsigned line_bytes)
    : socket_(socket),
      owner_(owner),
      clock_(clock),
      line_bytes_(line_bytes),
      question_(pool_.acquire(::tlm::TLM_READ_COMMAND, 0, line_bytes)) {}

StoragePort::~StoragePort() = default;

// ------------------------------------------------------------------------------------------------ direct memory

std::byte* StoragePort::direct_pointer(std::uint64_t address, unsigned length, bool read, bool write,
                                       sc_core::sc_time& latency) {
  std::uint64_t begin = 0;
  const DirectMemory::Range* range = direct_.find(address, begin);
  if (range == nullptr) {
    question_.set_command(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
    question_.set_address(address);
    ::tlm::tlm_dmi dmi;
    const bool granted = socket_->get_direct_mem_ptr(question_, dmi);
    DirectMemory::Range answer;
    begin = dmi.get_start_address();
    answer.end = dmi.get_end_address();
    if (begin > address || answer.end < address) {  // says nothing about this address: refused for this line
      begin = address;
      answer.end = address + length - 1;
    } else if (granted) {
      answer.pointer = reinterpret_cast<std::byte*>(dmi.get_dmi_ptr());
      answer.readable = dmi.is_read_allowed();
      answer.writable = dmi.is_write_allowed();
      answer.read_latency = dmi.get_read_latency();
      answer.write_latency = dmi.get_write_latency();
    }
    direct_.add(begin, answer);
    range = direct_.find(address, begin);
  }
  if (range->pointer == nullptr || (read && !range->readable) || (write && !range->writable) ||
      range->end - address < length - 1) {
    return nullptr;
  }
  if (read) {
    latency += range->read_latency;
  }
  if (write) {
    latency += range->write_latency;
  }
  return range->pointer + (address - begin);
}

void StoragePort::prefetch(const DramRequest& request) {
  std::uint64_t begin = 0;
  const std::uint64_t address = request.payload->get_address();
  const DirectMemory::Range* const range = direct_.find(address, begin);
  if (range == nullptr || range->pointer == nullptr || range->end - address < line_bytes_) {
    return;
  }
  constexpr unsigned kHostLine = 64;
  const std::byte* const memory = range->pointer + (address - begin);
  for (unsigned offset = 0; offset < line_bytes_; offset += kHostLine) {
    __builtin_prefetch(memory + offset);
  }
}

bool StoragePort::access_directly(DramRequest& request, sc_core::sc_time& delay) {
  Payload& payload = *request.payload;
  const unsigned length = payload.get_data_length();
  const bool read = request.atomic || !request.write;
  const bool write = request.atomic || request.write;
  std::byte* const memory = direct_pointer(payload.get_address(), length, read, write, delay);
  if (memory == nullptr) {
    return false;
  }
  if (request.atomic) {
    step_lanes(*request.extension->atomic, memory, nullptr);
  } else if (!request.write) {
    std::memcpy(payload.get_data_ptr(), memory, length);
  } else if (payload.get_byte_enable_ptr() == nullptr) {
    std::memcpy(memory, payload.get_data_ptr(), length);
  } else if (payload.get_byte_enable_length() >= length) {
    merge_bytes(memory, bytes_of(payload), payload.get_byte_enable_ptr(), length);
  } else {
    for (unsigned i = 0; i != length; ++i) {
      if (payload.get_byte_enable_ptr()[i % payload.get_byte_enable_length()] != 0) {
        memory[i] = bytes_of(payload)[i];
      }
    }
  }
  payload.set_response_status(::tlm::TLM_OK_RESPONSE);
  return true;
}

// ---------------------------------------------------------------------------------------------------- transport

bool StoragePort::access(DramRequest& request, sc_core::sc_time& delay) {
  Payload& payload = *request.payload;
  if (!request.atomic && payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return true;
  }
  if (active_.empty() && access_directly(request, delay)) {
    return true;
  }
  Job& job = make_job(request);
  const bool free = in_request_ == nullptr && next_send_ <= clock_.now() && !waits_for_line(job) &&
                    std::none_of(active_.begin(), active_.end(),
                                 [](const Job* other) { return other->state == Job::State::waiting; });
  if (free && run(job, delay)) {
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
    jobs_.push_back(std::make_unique<Job>());
    jobs_.back()->payload = &pool_.acquire(::tlm::TLM_READ_COMMAND, 0, line_bytes_);
    jobs_.back()->payload->tag = static_cast<std::uint32_t>(jobs_.size() - 1);
    free_jobs_.push_back(jobs_.back().get());
  }
  Job& job = *free_jobs_.back();
  free_jobs_.pop_back();
  link::LinePayload* const payload = job.payload;
  job = Job{};
  job.payload = payload;
  job.request = &request;
  payload->extension = request.extension != nullptr ? *request.extension : link::MemoryExtension{};
  payload->extension.atomic = nullptr;
  if (request.write) {
    job.data = bytes_of(*request.payload);
    job.enable = request.payload->get_byte_enable_ptr();
    job.enable_length = request.payload->get_byte_enable_length();
  } else if (request.atomic) {
    payload->enable.fill(0);
    job.data = payload->data.data();
    job.enable = payload->enable.data();
    job.enable_length = request.payload->get_data_length();
  }
  // The first transfer. No byte enabled at all: none.
  job.over = !next_transfer(job);
  if (job.over) {
    request.payload->set_response_status(::tlm::TLM_OK_RESPONSE);
  }
  return job;
}

void StoragePort::free_job(Job& job) {
  free_jobs_.push_back(&job);
}

// Makes the payload describe the next transfer; false: there is none.
bool StoragePort::next_transfer(Job& job) {
  Payload& asked = *job.request->payload;
  link::LinePayload& payload = *job.payload;
  const unsigned length = asked.get_data_length();
  unsigned first = 0;
  unsigned end = length;
  const bool reads = !job.request->write && !job.lanes_done;
  if (reads) {
    if (job.prepared) {  // it has been read
      if (!job.request->atomic) {
        return false;
      }
      step_lanes(*job.request->extension->atomic, payload.data.data(), payload.enable.data());
      job.lanes_done = true;
      return next_transfer(job);
    }
    payload.set_command(::tlm::TLM_READ_COMMAND);
    payload.set_data_ptr(job.request->atomic ? reinterpret_cast<unsigned char*>(payload.data.data())
                                             : asked.get_data_ptr());
  } else {
    const auto enabled = [&job](unsigned i) { return job.enable == nullptr || job.enable[i % job.enable_length] != 0; };
    first = job.cursor;
    while (first != length && !enabled(first)) {
      ++first;
    }
    if (first == length) {
      return false;
    }
    end = first + 1;
    while (end != length && enabled(end)) {
      ++end;
    }
    job.cursor = end;
    payload.set_command(::tlm::TLM_WRITE_COMMAND);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(job.data + first));
  }
  job.prepared = true;
  payload.set_address(asked.get_address() + first);
  payload.set_data_length(end - first);
  payload.set_streaming_width(end - first);
  payload.set_dmi_allowed(false);
  payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
  return true;
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

// Sends transfers as long as the memory answers each within the call. True: the access is finished.
bool StoragePort::run(Job& job, sc_core::sc_time& delay) {
  while (!job.over) {
    tlm_phase phase = ::tlm::BEGIN_REQ;
    in_request_ = &job;
    job.state = Job::State::sent;
    const tlm_sync_enum result = socket_->nb_transport_fw(*job.payload, phase, delay);
    if (result == ::tlm::TLM_ACCEPTED) {
      return false;
    }
    if (result == ::tlm::TLM_UPDATED && phase == ::tlm::END_REQ) {
      in_request_ = nullptr;
      next_send_ = clock_.visible_after(delay);
      return false;
    }
    in_request_ = nullptr;
    if (result == ::tlm::TLM_UPDATED) {  // BEGIN_RESP, which implies END_REQ
      phase = ::tlm::END_RESP;
      sc_core::sc_time end_delay = delay;
      socket_->nb_transport_fw(*job.payload, phase, end_delay);
    }
    const auto status = job.payload->get_response_status();
    job.request->payload->set_response_status(status);
    job.over = status != ::tlm::TLM_OK_RESPONSE || !next_transfer(job);
  }
  return true;
}

tlm_sync_enum StoragePort::nb_transport_bw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  Job& job = *jobs_[static_cast<link::LinePayload&>(payload).tag];
  const Cycle visible = clock_.visible_after(delay);
  if (in_request_ == &job) {
    in_request_ = nullptr;
    next_send_ = visible;
    owner_.wake(visible);
  }
  if (phase == ::tlm::BEGIN_RESP) {
    job.state = Job::State::answered;
    job.visible = visible;
    owner_.wake(visible);
    return ::tlm::TLM_COMPLETED;
  }
  if (phase != ::tlm::END_REQ) {
    SC_REPORT_ERROR("heddle/dram", "unexpected phase from the memory");
  }
  return ::tlm::TLM_ACCEPTED;
}

Cycle StoragePort::advance(Cycle now, std::vector<DramRequest*>& finished) {
  bool any_over = false;
  for (Job* job : active_) {
    if (job->state == Job::State::answered && job->visible <= now) {
      if (!job->over) {
        const auto status = job->payload->get_response_status();
        job->request->payload->set_response_status(status);
        job->over = status != ::tlm::TLM_OK_RESPONSE || !next_transfer(*job);
      }
      job->state = job->over ? Job::State::answered : Job::State::waiting;
    }
    if (job->state == Job::State::waiting && in_request_ == nullptr && next_send_ <= now && !waits_for_line(*job)) {
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (run(*job, delay)) {
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
  for (const Job* job : active_) {
    if (job->state == Job::State::answered) {
      next = std::min(next, job->visible);
    } else if (job->state == Job::State::waiting && in_request_ == nullptr) {
      next = std::min(next, std::max(next_send_, now + 1));
    }
  }
  return next;
}

void StoragePort::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  direct_.invalidate(start, end);
}

}  // namespace heddle::hw
