// What the dispatcher tells the L2: what the host has written before a launch, and to flush at the end of launches.
#include "hw/gpu/dispatcher.hpp"

namespace heddle::hw {

using link::Cycle;

// True once the L2 is empty; starts that. What was told in one cycle counts in the next.
bool Dispatcher::l2_done(Cycle now) {
  if (l2.size() == 0) {
    return true;
  }
  if (!l2_flushing_) {
    l2_flushing_ = true;
    for (std::size_t slice = 0; slice < l2.size(); ++slice) {
      FlushCommand command{static_cast<unsigned>(slice)};
      FlushPhase phase = FlushPhase::flush;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      l2[slice]->nb_transport_fw(command, phase, delay);
    }
  }
  return l2_flushed_at_ < now;
}

// The host may have written to memory since a launch ended.
void Dispatcher::tell_changed() {
  for (std::size_t slice = 0; machine_.l2.kept && slice < l2.size(); ++slice) {
    FlushCommand command{static_cast<unsigned>(slice)};
    FlushPhase phase = FlushPhase::changed;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    l2[slice]->nb_transport_fw(command, phase, delay);
  }
}

::tlm::tlm_sync_enum Dispatcher::nb_transport_bw(FlushCommand&, FlushPhase&, sc_core::sc_time&) {
  clock().tell([this] {
    if (++l2_flushed_ == l2.size()) {
      l2_flushed_at_ = clock().now();
      wake(l2_flushed_at_ + 1);
    }
  });
  return ::tlm::TLM_COMPLETED;
}

}  // namespace heddle::hw
