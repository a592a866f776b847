// DRAM controller of one memory channel: queue, scheduler, row policy, row holds for hints (hw/dram/row_holds.hpp),
// write drain (hw/dram/write_drain.hpp) and a timing model (hw/dram/timing.hpp).
//
//   DramController(name, parameters, line_bytes, clock)
//   target   tlm_target_socket<32>     requests from the interconnect
//   storage  tlm_initiator_socket<32>  the memory itself: the GPU's outward channel socket
//
// Base protocol on both sides; a request must lie within one line (else TLM_BURST_ERROR_RESPONSE). A request is in the
// queue from the cycle after it arrived; the queue holds `queue` waiting requests and delays END_REQ when it is full
// (tlm/input_queue.hpp: room that becomes free in a cycle counts from the next on). When the data of a request is
// complete, its access is performed on `storage` (hw/dram/storage_port.hpp) and BEGIN_RESP goes out in the same cycle,
// later by DramParameters::latency and by whatever delay the memory adds (an answer that comes by a call of its own,
// not in the return of ours, is visible in the next cycle). With dram.timing = "none" a request's access is performed
// as soon as the request is there, in order of arrival, and the queue holds requests that have not been answered.
// TLM_IGNORE_COMMAND payloads with MemoryExtension::atomic are executed here; ones without it take the time of a read
// and move no data. A debug or blocking transport passes through to `storage` (the latter with the time of a row
// conflict on top).
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/instrument.hpp"
#include "hw/dram/policy.hpp"
#include "hw/dram/request_queue.hpp"
#include "hw/dram/row_holds.hpp"
#include "hw/dram/statistics.hpp"
#include "hw/dram/storage_port.hpp"
#include "hw/dram/timing.hpp"
#include "hw/dram/write_drain.hpp"
#include "hw/map/address_map.hpp"
#include "hw/parameters/machine.hpp"
#include "tlm/base_protocol.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/credit_port.hpp"

namespace heddle::hw {

class DramController final : public link::ClockedModule, private ::tlm::tlm_fw_transport_if<> {
 public:
  // sector_bytes: whole sectors of a line move; 0: whole lines.
  DramController(const sc_core::sc_module_name& name, const DramParameters& parameters, unsigned line_bytes,
                 link::Clock clock, unsigned sector_bytes = 0);
  ~DramController() override;

  ::tlm::tlm_target_socket<> target;
  ::tlm::tlm_initiator_socket<> storage;

  [[nodiscard]] DramStatistics& statistics();
  // Shows everything that starts to `observer` from now on; none: to none.
  void observe(DramObserver* observer);
  [[nodiscard]] const DramTiming& timing() const { return *timing_; }
  // Nothing waits or is being served.
  [[nodiscard]] bool quiet() const;
  // The way to the memory, for a watchdog.
  [[nodiscard]] StoragePort& storage_port() { return storage_port_; }

 private:
  using Payload = ::tlm::tlm_generic_payload;
  struct Response {
    Cycle ready = 0;
    DramRequest* request = nullptr;
  };

  Cycle advance(Cycle now) override;
  ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(Payload& payload) override;

  void arrived(Payload& payload, Cycle visible, bool has_credit);
  void hand_on(DramRequest& request, Cycle now);
  void admit(Cycle now);
  void admit_ahead(Cycle now);
  void take_arrived(Cycle until);
  void complete(Cycle now);
  Cycle start(Cycle now);
  [[nodiscard]] DramChoice choose();
  void take_step(DramRequest& request, Cycle now);
  void count(const DramRequest& request, const DramStep& step, Cycle now);
  void respond(Cycle now);
  void add_response(DramRequest& request, Cycle ready);
  [[nodiscard]] DramRequest& make_request(Payload& payload, Cycle arrival);
  [[nodiscard]] unsigned bytes_of(const Payload& payload) const;

  const AddressMap map_;
  const unsigned line_bytes_;
  const unsigned granule_;  // what a line moves in parts of; 0: in whole
  const Cycle latency_;
  DramStatistics statistics_;
  std::unique_ptr<DramScheduler> scheduler_;
  std::unique_ptr<DramRowPolicy> row_policy_;
  std::unique_ptr<DramTiming> timing_;
  RowHolds holds_;
  WriteDrain drain_;
  StoragePort storage_port_;
  RequestPool pool_;
  link::CreditPort<DramRequest*> input_;  // its entries: visible in a later cycle; beside it the answers
  RequestQueue waiting_;                  // taken from it, with their places
  DramView view_;
  std::vector<DramRequest*> in_service_;  // started; by time of data, latest first
  std::vector<Response> responses_;       // data there; by time, latest first
  // What arrives needs no turn of its own: it can be taken in the next one that there is.
  bool arrivals_wait_ = false;
  std::size_t handed_on_ = 0;       // without timing: requests that the memory has
  std::vector<Cycle> bank_busy_;    // per bank: busy until
  std::uint64_t bus_fraction_ = 0;  // of a cycle, not in bus_busy_cycles yet
  std::vector<DramRequest*> finished_;
  Instrument<DramObserver> observer_;
};

}  // namespace heddle::hw
