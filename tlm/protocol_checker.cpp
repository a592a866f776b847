#include "tlm/protocol_checker.hpp"

#include <algorithm>
#include <sstream>

namespace heddle::link {

using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;

namespace {

std::string text(const tlm_phase& phase) {
  std::ostringstream out;
  out << phase;
  return out.str();
}

}  // namespace

ProtocolChecker::ProtocolChecker(const sc_core::sc_module_name& name)
    : Tap(name), target("target"), initiator("initiator") {
  target.bind(*this);
  initiator.bind(*this);
}

void ProtocolChecker::violation(const Payload& payload, const std::string& rule) {
  ++violations_;
  std::ostringstream out;
  out << name() << ": " << rule << " (address 0x" << std::hex << payload.get_address() << ")";
  SC_REPORT_ERROR("heddle/protocol", out.str().c_str());
}

// ------------------------------------------------------------------------------------------------- attributes

void ProtocolChecker::well_formed(const Payload& payload) {
  if (payload.get_data_length() == 0 || payload.get_data_ptr() == nullptr) {
    violation(payload, "well formed: data pointer and a length above zero must be set");
  }
  if (payload.get_streaming_width() == 0) {
    violation(payload, "well formed: the streaming width must be above zero");
  }
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0) {
    violation(payload, "well formed: byte enables need a length");
  }
  if (payload.get_response_status() != ::tlm::TLM_INCOMPLETE_RESPONSE) {
    violation(payload, "well formed: the response status must be incomplete at the request");
  }
  if (payload.is_dmi_allowed()) {
    violation(payload, "well formed: the direct-memory hint must be clear at the request");
  }
}

ProtocolChecker::Record ProtocolChecker::record_of(const Payload& payload) {
  Record record;
  record.command = payload.get_command();
  record.address = payload.get_address();
  record.data = payload.get_data_ptr();
  record.length = payload.get_data_length();
  record.enable = payload.get_byte_enable_ptr();
  record.enable_length = payload.get_byte_enable_length();
  record.streaming_width = payload.get_streaming_width();
  if (payload.is_write() && record.data != nullptr) {
    record.written.assign(record.data, record.data + record.length);
  }
  return record;
}

void ProtocolChecker::unchanged(const Payload& payload, const Record& record, bool with_address) {
  if (payload.get_command() != record.command || payload.get_data_ptr() != record.data ||
      payload.get_data_length() != record.length || payload.get_byte_enable_ptr() != record.enable ||
      payload.get_byte_enable_length() != record.enable_length ||
      payload.get_streaming_width() != record.streaming_width) {
    violation(payload, "attributes: only the initiator sets them, before the request");
    return;
  }
  if (with_address && payload.get_address() != record.address) {
    violation(payload, "attributes: the address must be the initiator's at the response");
  }
  if (!record.written.empty() && !std::equal(record.written.begin(), record.written.end(), record.data)) {
    violation(payload, "attributes: the data of a write must not change");
  }
}

// ------------------------------------------------------------------------------------------------------ phases

void ProtocolChecker::request_begins(Payload& payload) {
  if (records_.count(&payload) != 0) {
    violation(payload, "phase order: BEGIN_REQ of a transaction that has not ended");
    return;
  }
  if (in_request_ != nullptr) {
    violation(payload, "request: BEGIN_REQ before the previous request phase has ended");
  }
  if (!payload.has_mm()) {
    violation(payload, "memory manager: the non-blocking path needs one");
  } else if (payload.get_ref_count() < 1) {
    violation(payload, "memory manager: the payload must be referenced when it is sent");
  }
  well_formed(payload);
  records_.emplace(&payload, record_of(payload));
  in_request_ = &payload;
}

void ProtocolChecker::request_ends(Payload& payload) {
  const auto found = records_.find(&payload);
  if (found == records_.end() || found->second.state != State::request) {
    violation(payload, "phase order: END_REQ outside a request phase");
    return;
  }
  unchanged(payload, found->second, false);
  found->second.state = State::between;
  if (in_request_ == &payload) {
    in_request_ = nullptr;
  }
}

void ProtocolChecker::response_begins(Payload& payload) {
  const auto found = records_.find(&payload);
  if (found == records_.end()) {
    violation(payload, "phase order: a response to no request");
    return;
  }
  Record& record = found->second;
  if (record.state == State::response) {
    violation(payload, "phase order: a second BEGIN_RESP");
    return;
  }
  if (in_request_ == &payload) {
    in_request_ = nullptr;  // END_REQ is implied
  }
  if (in_response_ != nullptr) {
    violation(payload, "response: BEGIN_RESP before the previous response phase has ended");
  }
  if (payload.has_mm() && payload.get_ref_count() < 1) {
    violation(payload, "memory manager: the payload must be referenced until it has ended");
  }
  if (payload.get_response_status() == ::tlm::TLM_INCOMPLETE_RESPONSE) {
    violation(payload, "response status: the target must set it");
  }
  unchanged(payload, record, true);
  record.state = State::response;
  record.status = payload.get_response_status();
  in_response_ = &payload;
}

void ProtocolChecker::response_ends(Payload& payload) {
  const auto found = records_.find(&payload);
  if (found == records_.end() || found->second.state != State::response) {
    violation(payload, "phase order: END_RESP outside a response phase");
    return;
  }
  if (in_response_ == &payload) {
    in_response_ = nullptr;
  }
  records_.erase(found);
  ++transactions_;
}

void ProtocolChecker::forward_phase(Payload& payload, const tlm_phase& phase) {
  if (phase == ::tlm::BEGIN_REQ) {
    request_begins(payload);
  } else if (phase == ::tlm::END_RESP) {
    const auto found = records_.find(&payload);
    if (found != records_.end() && found->second.state == State::response) {
      unchanged(payload, found->second, false);
      if (payload.get_response_status() != found->second.status) {
        violation(payload, "response status: the initiator must not change it");
      }
    }
    response_ends(payload);
  } else {
    violation(payload, "phase order: " + text(phase) + " on the forward path");
  }
}

void ProtocolChecker::backward_phase(Payload& payload, const tlm_phase& phase) {
  if (phase == ::tlm::END_REQ) {
    request_ends(payload);
  } else if (phase == ::tlm::BEGIN_RESP) {
    response_begins(payload);
  } else {
    violation(payload, "phase order: " + text(phase) + " on the backward path");
  }
}

void ProtocolChecker::returned(Payload& payload, const tlm_phase& before, const tlm_phase& after,
                               tlm_sync_enum result) {
  switch (result) {
    case ::tlm::TLM_ACCEPTED:
      if (after != before) {
        violation(payload, "return values: TLM_ACCEPTED leaves the phase as it was");
      }
      break;
    case ::tlm::TLM_UPDATED:
      if (before == ::tlm::BEGIN_REQ && after == ::tlm::END_REQ) {
        request_ends(payload);
      } else if (before == ::tlm::BEGIN_REQ && after == ::tlm::BEGIN_RESP) {
        response_begins(payload);
      } else if (before == ::tlm::BEGIN_RESP && after == ::tlm::END_RESP) {
        response_ends(payload);
      } else {
        violation(payload, "return values: TLM_UPDATED from " + text(before) + " to " + text(after));
      }
      break;
    case ::tlm::TLM_COMPLETED:
      if (before == ::tlm::BEGIN_REQ) {  // early completion: no response phase is begun
        const Payload* const other = in_response_;
        in_response_ = nullptr;
        response_begins(payload);
        response_ends(payload);
        in_response_ = other;
      } else if (before == ::tlm::BEGIN_RESP) {
        response_ends(payload);
      } else if (before == ::tlm::END_REQ) {
        violation(payload, "return values: TLM_COMPLETED to END_REQ");
      }
      break;
  }
}

void ProtocolChecker::delay_not_shorter(const Payload& payload, const sc_core::sc_time& before,
                                        const sc_core::sc_time& after) {
  if (after < before) {
    violation(payload, "delay: a callee must not make it shorter");
  }
}

// --------------------------------------------------------------------------------------------------- interfaces

tlm_sync_enum ProtocolChecker::nb_transport_fw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  const tlm_phase before = phase;
  const sc_core::sc_time delay_before = delay;
  forward_phase(payload, phase);
  const tlm_sync_enum result = initiator->nb_transport_fw(payload, phase, delay);
  returned(payload, before, phase, result);
  delay_not_shorter(payload, delay_before, delay);
  return result;
}

tlm_sync_enum ProtocolChecker::nb_transport_bw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  const tlm_phase before = phase;
  const sc_core::sc_time delay_before = delay;
  backward_phase(payload, phase);
  const tlm_sync_enum result = target->nb_transport_bw(payload, phase, delay);
  returned(payload, before, phase, result);
  delay_not_shorter(payload, delay_before, delay);
  return result;
}

void ProtocolChecker::b_transport(Payload& payload, sc_core::sc_time& delay) {
  well_formed(payload);
  const Record record = record_of(payload);
  initiator->b_transport(payload, delay);
  if (payload.get_response_status() == ::tlm::TLM_INCOMPLETE_RESPONSE) {
    violation(payload, "response status: the target must set it");
  }
  unchanged(payload, record, true);
  ++transactions_;
}

bool ProtocolChecker::get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) {
  const std::uint64_t address = payload.get_address();
  const bool granted = initiator->get_direct_mem_ptr(payload, dmi);
  if (granted && (address < dmi.get_start_address() || address > dmi.get_end_address())) {
    violation(payload, "direct memory: the granted range does not hold the address");
  }
  return granted;
}

unsigned ProtocolChecker::transport_dbg(Payload& payload) {
  return initiator->transport_dbg(payload);
}

void ProtocolChecker::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  if (start > end) {
    violation(Payload(), "direct memory: the range taken back is empty");
  }
  target->invalidate_direct_mem_ptr(start, end);
}

}  // namespace heddle::link
