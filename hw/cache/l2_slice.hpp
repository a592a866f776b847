// L2 cache: one slice per memory channel, between the interconnect and the channel's DRAM controller. All cores share
// it: data and instruction caches alike. A slice per channel needs no second crossbar, and a line and the requests to
// it have one place, so that all that reaches a slice is ordered there and seen by every core alike.
//
//   L2Slice(name, machine, channel, clock)
//   target    tlm_target_socket<32>        requests from the interconnect
//   memory    tlm_initiator_socket<32>     the channel's DRAM controller
//   copies[i] InvalidationInitiatorSocket  core i's caches; with l2.inclusive and a protocol without homes only
//   home()->probes                         messages to the L1s; with a protocol with homes only (hw/cache/home.hpp)
//   flushes   target, FlushProtocol        the grid dispatcher, at the end of launches; may stay unbound
//
// Base protocol on both sides; a request must lie within one line (else TLM_BURST_ERROR_RESPONSE) and may be shorter.
// The store is a hw::L2Store: lines, MSHRs with merging, write buffer, write policies. What a slice sends on carries
// the MemoryExtension of the request that caused it (core, warp, PC, lanes, row-buffer hint); a write-back has none to
// carry. A request that the slice answers never reaches the controller, and so holds no row.
//
// Timing: a request that arrives in cycle t is looked at from cycle t + 1 on by the bank of its line, which takes its
// requests in order of arrival and starts one every bank_interval cycles. A hit, a store and an atomic on a line that
// is there are answered hit_latency - 1 cycles later; a miss goes on to memory in the cycle of the access, and is
// answered in the cycle in which the line has come. One answer leaves per cycle. Back-pressure: `queue` requests wait
// at the banks, further ones find END_REQ delayed (tlm/input_queue.hpp); a bank waits while the store
// has no MSHR, target or write buffer entry for its request, and while `queue` answers wait for the interconnect.
//
// Stores are answered when the slice has them: from then on every core's next access to the slice sees them. Atomics: a
// write-back slice executes them on its line, in the order in which its bank takes them; a write-through slice gives up
// its copy and hands them to the DRAM controller, in order with the line's other requests.
//
// Inclusive: the slice keeps which cores may have copies of a line, and tells them when it replaces it; that takes
// effect noc.response_latency cycles later (copies need no answer: tlm/invalidation_protocol.hpp). Under a protocol
// with homes a line of an L1's that the slice wants to replace is recalled by the home first, and a fill that needs its
// frame waits for that; instruction caches, whose lines are never changed, keep theirs.
//
// Debug and blocking transports see this slice's lines over the memory's; what is on its way between the two they miss.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/instrument.hpp"
#include "hw/cache/flush_protocol.hpp"
#include "hw/cache/home.hpp"
#include "hw/cache/l2_store.hpp"
#include "hw/cache/observer.hpp"
#include "hw/cache/statistics.hpp"
#include "hw/map/slice_map.hpp"
#include "hw/parameters/machine.hpp"
#include "tlm/base_protocol.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/credit_port.hpp"
#include "tlm/invalidation_protocol.hpp"
#include "tlm/memory_extension.hpp"
#include "tlm/ring.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

class L2Slice final : public link::ClockedModule,
                      private ::tlm::tlm_fw_transport_if<>,
                      private ::tlm::tlm_bw_transport_if<link::LineProtocol>,
                      private link::NonBlockingTarget<FlushProtocol>,
                      private HomeSlice {
 public:
  // number: of all channels' slices.
  L2Slice(const sc_core::sc_module_name& name, const Machine& machine, unsigned number, link::Clock clock);
  ~L2Slice() override;

  ::tlm::tlm_target_socket<> target;
  sc_core::sc_vector<link::InvalidationInitiatorSocket> copies;
  // The store's socket towards memory, for binding.
  [[nodiscard]] ::tlm::tlm_initiator_socket<>& memory() { return store_.memory; }

  FlushTargetSocket flushes;
  // Called once when memory refuses a write that the slice has answered already.
  std::function<void(const Cache::FailedWrite&)> write_failed;
  void forget_failed_write();
  // Nothing waits or is outstanding.
  [[nodiscard]] bool quiet() const;

  [[nodiscard]] L2Statistics& statistics() { return statistics_; }
  [[nodiscard]] Cache& store() { return store_; }
  // Null: the protocol has none.
  [[nodiscard]] Home* home() { return home_.get(); }
  // Shows what the slice's queues do from now on to `observer`, which outlives it; null: to none.
  void observe(L2Observer* observer);
  [[nodiscard]] bool holds(std::uint64_t address) {
    return map_.owns(address) && store_.has(map_.local(line_of(address)));
  }

 private:
  using Cycle = link::Cycle;
  using Payload = ::tlm::tlm_generic_payload;
  using LineRequest = link::LineRequest;
  using Request = SliceRequest;
  struct Acknowledgement {
    Cycle ready = 0;
    Request* request = nullptr;
  };

  Cycle advance(Cycle now) override;
  ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  using link::NonBlockingTarget<FlushProtocol>::b_transport;
  using link::NonBlockingTarget<FlushProtocol>::get_direct_mem_ptr;
  using link::NonBlockingTarget<FlushProtocol>::transport_dbg;
  ::tlm::tlm_sync_enum nb_transport_fw(FlushCommand& command, FlushPhase& phase, sc_core::sc_time& delay) override;
  void answer_flush();
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(Payload& payload) override;
  ::tlm::tlm_sync_enum nb_transport_bw(LineRequest& request, link::LinePhase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  [[nodiscard]] Request& make_request(Payload& payload, Cycle arrival);
  void describe_store(Request& request);
  [[nodiscard]] unsigned bank_of(std::uint64_t line) const {
    return static_cast<unsigned>((line / line_bytes_) & (input_.queue.lanes() - 1));
  }
  // The first cycle with an edge of the slice's clock in which a bank can start what is there from `there` on.
  [[nodiscard]] Cycle start_of(unsigned bank, Cycle there) const {
    return edges_.from(std::max(there, next_start_[bank]));
  }
  // A bank starts an access. Two edges in one cycle are one start.
  void started(unsigned bank, Cycle now) { next_start_[bank] = std::max(edges_.from(now, bank_interval_), now + 1); }
  void arrived(Payload& payload, Cycle visible, bool has_credit);
  void admit(Cycle now);
  Cycle access(Cycle now);
  [[nodiscard]] bool offer(Request& request, Cycle now);
  Cycle resume(Cycle now);
  // For the home.
  [[nodiscard]] Read read(Request& request) override;
  void answer_put(Request& request) override;
  void take_bytes(std::uint64_t line, const std::byte* data, const std::uint8_t* enable) override {
    store_.change_bytes(line, data, enable);
  }
  void leave_queue() override { input_.queue.release(clock().now()); }
  void run_at(Cycle at) override { wake(at); }
  void acknowledge(Cycle now);
  void finish(Request& request);
  Cycle respond(Cycle now);
  void give_up(std::uint64_t address, unsigned core);
  void overlay(Payload& payload, unsigned done);
  void show_queues();
  [[nodiscard]] std::uint64_t line_of(std::uint64_t address) const { return address & ~std::uint64_t{line_bytes_ - 1}; }

  const unsigned number_;
  const SliceMap map_;
  const link::ClockEdges edges_;  // of the slice's clock
  const unsigned line_bytes_;
  const unsigned hit_latency_;  // in the GPU's cycles
  const unsigned bank_interval_;
  const bool timed_write_back_;  // l2.write_back_at_end
  const bool kept_;              // l2.kept
  const unsigned capacity_;
  const sc_core::sc_time invalidation_delay_;
  link::ForwardOnlyInitiator<link::InvalidationProtocol> no_answers_;
  link::LineInitiatorSocket socket_;
  L2Store store_;
  std::unique_ptr<Home> home_;                    // null: there is none
  link::CreditPort<Request*> input_;              // a lane per bank; beside it the answers
  std::vector<Cycle> next_start_;                 // per bank
  link::Ring<Acknowledgement> acknowledgements_;  // stores done, hit_latency not over
  link::Ring<Request*> responses_;                // answers that can leave
  std::size_t inside_ = 0;                        // requests that have arrived and are not answered
  bool flush_wanted_ = false;
  bool flushing_ = false;
  bool failure_told_ = false;
  const link::MemoryExtension no_extension_;
  std::array<std::uint8_t, link::kMaxLineBytes> all_bytes_;
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Request*> free_requests_;
  L2Statistics statistics_;
  Instrument<L2Observer> observer_;  // null: none
};

}  // namespace heddle::hw
