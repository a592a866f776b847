#include "tlm/payload_pool.hpp"

namespace heddle::link {

LinePayload::LinePayload(::tlm::tlm_mm_interface* pool) : ::tlm::tlm_generic_payload(pool) {
  set_extension(&extension);
}

// The payload's own destructor would delete every extension that it still holds; this extension is a member.
LinePayload::~LinePayload() {
  clear_extension(&extension);
}

LinePayload& PayloadPool::acquire(::tlm::tlm_command command, std::uint64_t address, unsigned length) {
  if (free_.empty()) {
    payloads_.push_back(std::make_unique<LinePayload>(this));
    free_.reserve(payloads_.size());
    free_.push_back(payloads_.back().get());
  }
  LinePayload& payload = *free_.back();
  free_.pop_back();
  payload.acquire();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(payload.data.data()));
  payload.set_data_length(length);
  payload.set_streaming_width(length);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_byte_enable_length(0);
  payload.set_dmi_allowed(false);
  payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
  return payload;
}

void PayloadPool::free(::tlm::tlm_generic_payload* payload) {
  payload->reset();  // extensions that a module on the way attached for this one transaction
  free_.push_back(static_cast<LinePayload*>(payload));
}

}  // namespace heddle::link
