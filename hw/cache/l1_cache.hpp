// A core's L1 data cache (thesis 5.1 table 5.1, LWM report table 1): a Cache with the table of the role `l1`.
//
//   L1Cache(name, parameters, clock, core, core_waker)
//   probes   tlm_target_socket<32>   what the lines' homes want of this cache; used under a protocol with homes only
//
// In the protocol none (hw/coherence/none.cpp):
//   store         write-back: a hit marks the written bytes dirty, a miss fetches the line and merges into it, unless
//                 the store covers the whole line. Write-through: updates the line when it is there, never allocates,
//                 and goes to memory with byte enables.
//   bypass load   a dirty copy is written back, the line is dropped and fetched anew; the new copy is kept.
//   atomic        goes on to memory; a dirty copy is written back first, and none is kept.
//   enabled=false every load is a read of its own, every store a write of its own; MSHRs and write buffer bound them.
//
// In the protocol mesi (hw/coherence/mesi.cpp) stores and atomics are performed here, on a line that this cache owns; a
// bypass load is answered as any other. A message at `probes` is a read of a line with a MemoryExtension that says
// which (CoherenceMessage). It is taken at once, looked at in the cycle in which it is visible, after the lines that
// have come, and answered in that cycle, or as soon as the line under way has come and who waits for it has been
// served; one answer leaves per cycle. The answer has the whole line when the extension's has_data says so.
#pragma once

#include "hw/cache/cache.hpp"

namespace heddle::hw {

class L1Cache final : public Cache {
 public:
  L1Cache(const sc_core::sc_module_name& name, const DataCacheParameters& parameters, link::Clock clock, unsigned core,
          link::Waker& core_waker, const std::string& protocol = GpuParameters{}.coherence);

  using ProbeSocket = ::tlm::tlm_target_socket<32, ::tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  ProbeSocket probes;

  [[nodiscard]] CoherenceStatistics& coherence_statistics();
  [[nodiscard]] bool quiet() const {
    return Cache::quiet() && messages_.empty() && stalled_.empty() && answers_.empty() && !answer_.under_way();
  }

 private:
  using Probe = ::tlm::tlm_generic_payload;
  struct Message {
    link::Cycle visible = 0;
    Probe* payload = nullptr;
  };

  void describe(const LineRequest& request, link::MemoryExtension& extension) const override {
    describe_core(request, core_, false, extension);
  }
  link::Cycle hear_home(link::Cycle now) override;
  // False: it waits for the line under way.
  [[nodiscard]] bool obey(Probe& payload);

  ::tlm::tlm_sync_enum heard(Probe& payload, ::tlm::tlm_phase& phase, const sc_core::sc_time& delay);

  // The target of what homes send.
  class ProbeTarget final : public ::tlm::tlm_fw_transport_if<> {
   public:
    explicit ProbeTarget(L1Cache& cache) : cache_(cache) {}
    ::tlm::tlm_sync_enum nb_transport_fw(Probe& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
      return cache_.heard(payload, phase, delay);
    }
    void b_transport(Probe& payload, sc_core::sc_time& /*delay*/) override {
      payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);  // what it asks for can take any time
    }
    bool get_direct_mem_ptr(Probe& /*payload*/, ::tlm::tlm_dmi& dmi) override { return link::deny_direct_memory(dmi); }
    unsigned transport_dbg(Probe& /*payload*/) override { return 0; }

   private:
    L1Cache& cache_;
  };

  ProbeTarget probe_target_{*this};
  const unsigned core_;
  link::Ring<Message> messages_;
  std::vector<Probe*> stalled_;
  link::Ring<Probe*> answers_;
  link::ExclusivePhase answer_;
  CoherenceStatistics coherence_;
};

}  // namespace heddle::hw
