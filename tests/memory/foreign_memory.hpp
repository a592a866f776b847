// A memory from elsewhere that answers by any variant of the base protocol, and is particular about it: it waits for
// END_RESP whatever the initiator returned, keeps a reference to every payload for a while after the transaction has
// ended, and fails the test when one is used again meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <systemc>
#include <tlm>
#include <vector>

namespace heddle::hw::test {

enum class Answers {
  completed,           // TLM_COMPLETED: one phase
  response_in_return,  // TLM_UPDATED, BEGIN_RESP
  request_in_return,   // TLM_UPDATED, END_REQ; BEGIN_RESP comes by a call: two phases of the target's
  response_alone,      // TLM_ACCEPTED; BEGIN_RESP ends the request too
  all_phases,          // TLM_ACCEPTED; END_REQ and BEGIN_RESP by calls
  never
};

class ForeignMemory : public sc_core::sc_module, private ::tlm::tlm_fw_transport_if<> {
 public:
  using Payload = ::tlm::tlm_generic_payload;

  ForeignMemory(const sc_core::sc_module_name& name, Answers answers)
      : sc_core::sc_module(name), socket("socket"), bytes(65536), answers_(answers) {
    socket.bind(*this);
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.set_sensitivity(&event_);
    options.dont_initialize();
    sc_core::sc_spawn([this] { step(); }, "step", &options);
  }

  ::tlm::tlm_target_socket<> socket;
  std::vector<unsigned char> bytes;
  // Takes every transfer for one of a power of two at a multiple of its length, as hardware that cuts off address bits.
  bool cuts_addresses = false;
  bool takes_byte_enables = false;
  // Direct memory is granted from now on, and responses say so.
  bool grants = false;
  unsigned latency_ns = 20;
  unsigned transports = 0, masked = 0, asked_for_direct_memory = 0, most_under_way = 0;

  [[nodiscard]] std::uint32_t word(std::uint64_t address) const {
    std::uint32_t value = 0;
    std::memcpy(&value, &bytes[address], 4);
    return value;
  }
  // Answers what it has never answered.
  void wake_up() {
    answers_ = Answers::all_phases;
    event_.notify(sc_core::SC_ZERO_TIME);
  }

 private:
  struct Pending {
    Payload* payload;
    sc_core::sc_time at;
  };

  void perform(Payload& payload) {
    ++transports;
    std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    if (cuts_addresses) {
      address &= ~std::uint64_t{std::bit_ceil(length) - 1};
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    const unsigned char* const enable = payload.get_byte_enable_ptr();
    if (enable != nullptr && !takes_byte_enables) {
      payload.set_response_status(::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
      return;
    }
    masked += enable != nullptr ? 1 : 0;
    for (unsigned i = 0; i != length; ++i) {
      if (enable != nullptr && enable[i % payload.get_byte_enable_length()] == 0) {
        continue;
      }
      unsigned char& byte = bytes.at(address + i);
      unsigned char& data = payload.get_data_ptr()[i];
      (payload.is_write() ? byte : data) = payload.is_write() ? data : byte;
    }
    payload.set_dmi_allowed(grants);
  }

  ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (phase == ::tlm::END_RESP) {
      EXPECT_EQ(responding_, &payload) << "END_RESP of another transaction";
      ended(payload);
      return ::tlm::TLM_COMPLETED;
    }
    EXPECT_EQ(std::count(held_.begin(), held_.end(), &payload), 0)
        << "a payload is used again that is still referenced";
    const sc_core::sc_time latency(latency_ns, sc_core::SC_NS);
    if (answers_ == Answers::completed) {
      perform(payload);
      delay += latency;
      return ::tlm::TLM_COMPLETED;
    }
    payload.acquire();
    if (answers_ == Answers::response_in_return) {
      perform(payload);
      delay += latency;
      responding_ = &payload;
      phase = ::tlm::BEGIN_RESP;
      return ::tlm::TLM_UPDATED;
    }
    const sc_core::sc_time now = sc_core::sc_time_stamp() + delay;
    // Lines in turn take longer, so that answers overtake each other.
    const bool slow = payload.get_address() / 128 % 2 == 0 && answers_ != Answers::response_alone;
    pending_.push_back({&payload, now + (slow ? 2 * latency : latency)});
    most_under_way = std::max(most_under_way, static_cast<unsigned>(pending_.size()));
    event_.notify(sc_core::sc_time(1, sc_core::SC_NS));
    if (answers_ == Answers::request_in_return) {
      phase = ::tlm::END_REQ;
      return ::tlm::TLM_UPDATED;
    }
    if (answers_ == Answers::all_phases) {
      in_request_ = &payload;
      request_ends_ = now + sc_core::sc_time(2, sc_core::SC_NS);
    }
    return ::tlm::TLM_ACCEPTED;
  }

  void step() {
    if (answers_ == Answers::never) {
      return;
    }
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (in_request_ != nullptr && now >= request_ends_) {
      Payload& payload = *in_request_;
      in_request_ = nullptr;
      ::tlm::tlm_phase phase = ::tlm::END_REQ;
      EXPECT_EQ(socket->nb_transport_bw(payload, phase, delay), ::tlm::TLM_ACCEPTED);
    }
    const auto due = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& pending) {
      return pending.at <= now && pending.payload != in_request_;
    });
    if (responding_ == nullptr && due != pending_.end()) {
      Payload& payload = *due->payload;
      pending_.erase(due);
      perform(payload);
      responding_ = &payload;
      ::tlm::tlm_phase phase = ::tlm::BEGIN_RESP;
      socket->nb_transport_bw(payload, phase, delay);  // whatever it returns: END_RESP is to come
    }
    if (!pending_.empty() || in_request_ != nullptr) {
      event_.notify(sc_core::sc_time(1, sc_core::SC_NS));
    }
  }

  void ended(Payload& payload) {
    responding_ = nullptr;
    held_.push_back(&payload);
    if (held_.size() > 3) {
      held_.front()->release();
      held_.pop_front();
    }
  }

  void b_transport(Payload& payload, sc_core::sc_time& delay) override {
    ++calls_;
    most_under_way = std::max(most_under_way, calls_);
    sc_core::wait(sc_core::sc_time(latency_ns, sc_core::SC_NS));
    perform(payload);
    delay += sc_core::sc_time(3, sc_core::SC_NS);
    --calls_;
  }
  bool get_direct_mem_ptr(Payload& /*payload*/, ::tlm::tlm_dmi& dmi) override {
    ++asked_for_direct_memory;
    dmi.set_start_address(0);
    dmi.set_end_address(bytes.size() - 1);
    if (!grants) {
      dmi.allow_none();
      return false;
    }
    dmi.set_dmi_ptr(bytes.data());
    dmi.allow_read_write();
    return true;
  }
  unsigned transport_dbg(Payload& /*payload*/) override { return 0; }

  Answers answers_;
  std::vector<Pending> pending_;
  std::deque<Payload*> held_;  // ended, and still referenced
  Payload* in_request_ = nullptr;
  sc_core::sc_time request_ends_;
  Payload* responding_ = nullptr;
  unsigned calls_ = 0;
  sc_core::sc_event event_;
};

}  // namespace heddle::hw::test
