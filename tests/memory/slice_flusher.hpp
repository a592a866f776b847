// What tells an L2 slice to flush, and what has changed, as the grid dispatcher does between launches.
#pragma once

#include <gtest/gtest.h>

#include <systemc>

#include "hw/cache/flush_protocol.hpp"

namespace heddle::hw {

class SliceFlusher final : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<FlushProtocol> {
 public:
  explicit SliceFlusher(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  FlushInitiatorSocket socket;
  unsigned flushed = 0;  // answers
  void flush() {
    FlushCommand command;
    FlushPhase phase = FlushPhase::flush;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(command, phase, delay);
  }
  void changed() {
    FlushCommand command;
    FlushPhase phase = FlushPhase::changed;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    EXPECT_EQ(socket->nb_transport_fw(command, phase, delay), ::tlm::TLM_COMPLETED);
  }

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(FlushCommand&, FlushPhase&, sc_core::sc_time&) override {
    ++flushed;
    return ::tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

}  // namespace heddle::hw
