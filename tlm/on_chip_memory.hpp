// What a core's on-chip memories with banks have in common, scratchpad and private memory: a blocking socket that says
// for how long an access occupies the banks, and storage that is read and written directly.
//
//   OnChipMemory<Protocol>        the module. Its target socket, access: b_transport carries the timing, delay = cycles
//                                 the access occupies the banks, as whole GPU cycles, and never waits;
//                                 get_direct_mem_ptr hands out the storage
//   OnChipPort<Memory, Protocol>  what a module does with its initiator socket
#pragma once

#include <cstddef>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/error.hpp"
#include "tlm/behind_socket.hpp"
#include "tlm/clock.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::link {

template <class Protocol>
class OnChipMemory : public sc_core::sc_module, public ::tlm::tlm_fw_transport_if<Protocol> {
 public:
  using Access = typename Protocol::tlm_payload_type;
  ::tlm::tlm_target_socket<32, Protocol> access;
  // What a b_transport does: counts the access and returns the cycles that it occupies the banks.
  [[nodiscard]] virtual unsigned occupy(Access& access) = 0;
  [[nodiscard]] std::byte* data() { return storage_.data(); }

 protected:
  OnChipMemory(const sc_core::sc_module_name& name, std::size_t bytes, Clock clock)
      : sc_core::sc_module(name), access("access"), clock_(clock), storage_(bytes) {
    access.bind(*this);
  }
  std::vector<std::byte>& storage() { return storage_; }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(Access&, typename Protocol::tlm_phase_type&, sc_core::sc_time&) override {
    throw InternalError("the socket of an on-chip memory is blocking");
  }
  void b_transport(Access& access, sc_core::sc_time& delay) override { delay += clock_.cycles(occupy(access)); }
  bool get_direct_mem_ptr(Access&, ::tlm::tlm_dmi& dmi) override {
    dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(storage_.data()));
    dmi.set_start_address(0);
    dmi.set_end_address(storage_.size() - 1);
    dmi.allow_read_write();
    return true;
  }
  unsigned transport_dbg(Access&) override { return 0; }

  Clock clock_;
  std::vector<std::byte> storage_;
};

template <class Memory, class Protocol>
class OnChipPort : private ForwardOnlyInitiator<Protocol> {
 public:
  using Access = typename Protocol::tlm_payload_type;
  OnChipPort(::tlm::tlm_initiator_socket<32, Protocol>& socket, Clock clock) : socket_(socket), clock_(clock) {
    socket_.bind(*this);
  }
  // For which the access occupies the banks.
  [[nodiscard]] Cycle cycles(Access& access) {
    if (Memory* const direct = behind_.of(socket_)) {
      data_ = direct->data();
      return direct->occupy(access);
    }
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket_->b_transport(access, delay);
    if (data_ == nullptr) {
      ::tlm::tlm_dmi dmi;
      if (!socket_->get_direct_mem_ptr(access, dmi)) {
        throw InternalError("an on-chip memory grants no direct memory access");
      }
      data_ = reinterpret_cast<std::byte*>(dmi.get_dmi_ptr());
    }
    return clock_.cycles_of(delay);
  }
  // The storage, once cycles() has been asked.
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override { data_ = nullptr; }

  ::tlm::tlm_initiator_socket<32, Protocol>& socket_;
  const Clock clock_;
  BehindSocket<Memory> behind_;
  std::byte* data_ = nullptr;
};

}  // namespace heddle::link
