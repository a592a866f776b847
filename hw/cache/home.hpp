// The home of a slice's lines under a directory protocol: it keeps which cores' L1s have copies of each, and takes the
// slice's requests as the protocol's table says (hw/coherence/home_table.hpp).
//
//   Home(name, table, clock, slice, map, line_bytes)
//   probes   tlm_initiator_socket<32>   messages to L1s (CoherenceMessage), one payload each: a read of the line whose
//                                       MemoryExtension says what and to which core
//
// A home has no process of its own: its slice calls. One request of a line at a time; others of the line wait in order
// of arrival, and hold their places in the slice's queue. When the home is no longer busy with a line, the first of
// them is looked at in the next cycle in which the line's bank can start an access, before what is at the bank.
//
// Timing: messages leave one per cycle, from the cycle behind the one on in which the request is looked at. An answer
// is looked at in the cycle in which it is visible; the bytes that it brings go into the slice's line with the access
// that follows.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/instrument.hpp"
#include "hw/cache/observer.hpp"
#include "hw/cache/slice_request.hpp"
#include "hw/cache/statistics.hpp"
#include "hw/coherence/home_table.hpp"
#include "hw/map/slice_map.hpp"
#include "tlm/base_protocol.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/payload_pool.hpp"
#include "tlm/ring.hpp"

namespace heddle::hw {

// What a home does with its slice.
class HomeSlice {
 public:
  enum class Read : std::uint8_t { busy, done, waits };
  // Reads the line of a request: busy: no room, nothing happened; done: it was there; waits: filled() follows.
  [[nodiscard]] virtual Read read(SliceRequest& request) = 0;
  // The answer to a put.
  virtual void answer_put(SliceRequest& request) = 0;
  virtual void take_bytes(std::uint64_t line, const std::byte* data, const std::uint8_t* enable) = 0;
  // The request has left the queue.
  virtual void leave_queue() = 0;
  // Runs the slice in a cycle.
  virtual void run_at(link::Cycle at) = 0;

 protected:
  ~HomeSlice() = default;
};

class Home final : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<> {
 public:
  Home(const sc_core::sc_module_name& name, HomeTable table, link::Clock clock, HomeSlice& slice, const SliceMap& map,
       unsigned line_bytes);

  ::tlm::tlm_initiator_socket<> probes;

  // The first part of the slice's cycle: answers of L1s, and the next message. Returns the next cycle it wants.
  link::Cycle advance(link::Cycle now);
  // A request at the head of its bank. False: the slice's store has no room for it.
  [[nodiscard]] bool take(SliceRequest& request);
  // After the slice's cycle: tells who looks.
  void show() {
    if (observer_ != nullptr) {
      observer_->changed(busy_, lines_.size(), messages_.size());
    }
  }
  // The line of a request that waited for it has been read.
  void filled(SliceRequest& request);
  // Lines whose next request can be looked at, in the order in which the home was done with the one before.
  [[nodiscard]] const std::vector<std::uint64_t>& resumable() const { return resumable_; }
  // Looks at the next request of resumable()[index], which leaves the list. False: no room; nothing happened.
  [[nodiscard]] bool resume(std::size_t index);
  // Whether the slice may replace a line. If not, the home sees to it that it soon may.
  [[nodiscard]] bool may_leave(std::uint64_t line);
  // No cache has any line.
  void forget();
  [[nodiscard]] bool quiet() const;

  [[nodiscard]] HomeStatistics& statistics() { return statistics_; }
  // Shows what the home does from now on to `observer`, which outlives it; null: to none.
  void observe(HomeObserver* observer);
  // For tests: the state of a line, and whether a core may have it.
  [[nodiscard]] std::string_view state_of(std::uint64_t line) const;

 private:
  struct Line {
    HomeState state = kNoCopies;
    std::uint16_t owner = 0;
    std::uint16_t awaited = 0;        // acknowledgements
    std::uint64_t sharers = 0;        // a bit per core
    SliceRequest* present = nullptr;  // that the home is busy with
    SliceRequest* first = nullptr;    // of the requests that wait
    SliceRequest* last = nullptr;
  };
  using Payload = link::LinePayload;
  struct Answer {
    link::Cycle visible = 0;
    Payload* payload = nullptr;
  };

  [[nodiscard]] HomeEvent event_of(const SliceRequest& request, const Line& line) const;
  // False: no room.
  [[nodiscard]] bool look(std::uint64_t address, Line& line, SliceRequest& request);
  void change(std::uint64_t address, Line& line, HomeEvent event, SliceRequest* request, const Payload* answer);
  void settle(std::uint64_t address);
  void wait_behind(Line& line, SliceRequest& request);
  void send(std::uint64_t address, Line& line, unsigned core, link::CoherenceMessage message);
  void hear(Payload& payload);

  ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  const HomeTable table_;
  const link::Clock clock_;
  HomeSlice& slice_;
  const SliceMap& map_;
  const unsigned line_bytes_;
  boost::unordered_flat_map<std::uint64_t, Line> lines_;  // all but those in kNoCopies without a request that waits
  std::vector<std::uint64_t> resumable_;
  link::PayloadPool pool_;
  link::Ring<Payload*> messages_;
  link::ExclusivePhase message_;
  link::Ring<Answer> answers_;
  unsigned busy_ = 0;  // lines
  std::vector<std::uint8_t> all_bytes_;
  HomeStatistics statistics_;
  Instrument<HomeObserver> observer_;  // null: none
};

}  // namespace heddle::hw
