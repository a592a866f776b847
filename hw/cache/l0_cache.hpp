// A sub-core's own instruction cache, the L0, with the stream buffer that fills it ahead ("Dissecting and Modeling the
// Architecture of Modern GPU Cores", MICRO 2025, section 5 and table 5). Read only.
//
//   cpu     target, LineProtocol     from fetch
//   beyond  initiator, LineProtocol  to the core's instruction cache, the L1, through its ports
//
// Parameters   L0Parameters (hw/parameters/machine.hpp); lines as long as the instruction cache's
// Timing       a hit is answered within the call. A miss asks the L1 in the same cycle and is answered when the line
//              comes: icache.hit_latency cycles later, if the L1 has it
// Prefetch     a miss that the stream buffer has not foreseen empties the buffer and asks for the `prefetch` lines
//              behind the missing one. A line that fetch wants out of the buffer goes into the cache, and the next line
//              behind the last one is asked for. As many requests start in a cycle as the L1 takes; one that it
//              refuses is asked for in every cycle until it is taken. While the L1 grants that it would refuse
//              (link::LineRoom), these cycles can be slept through and are counted afterwards
// Errors       a line that comes with an error is an error for who waits for it; prefetched, it is dropped
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <systemc>
#include <vector>

#include "hw/cache/statistics.hpp"
#include "hw/parameters/machine.hpp"
#include "tlm/behind_socket.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

class L0Cache final : public sc_core::sc_module,
                      public link::NonBlockingTarget<link::LineProtocol>,
                      private ::tlm::tlm_bw_transport_if<link::LineProtocol> {
 public:
  L0Cache(const sc_core::sc_module_name& name, const L0Parameters& parameters, unsigned line_bytes);

  link::LineTargetSocket cpu;
  link::LineInitiatorSocket beyond;

  // A fetch whose line is here: its bytes, until the cache does something else. Null: nothing has happened.
  [[nodiscard]] const std::byte* load_at_once(std::uint64_t line, bool repeats_miss);
  // Prefetches that have not been asked for, or that the L1 has refused, are asked for, after fetch has had its turn.
  void ask_again();
  // There are such prefetches.
  [[nodiscard]] bool has_to_ask() const { return !to_ask_.empty(); }
  // There are, and the L1 may take one: it does not grant that it would refuse.
  [[nodiscard]] bool may_be_taken() const { return !to_ask_.empty() && (full_ == nullptr || !full_->refuses_still()); }
  // So many cycles were slept through in which the prefetches would have been refused.
  void waited(std::uint64_t cycles);
  // After a fault: it asks for nothing more.
  void stop() { to_ask_.clear(); }
  // Before a launch: the stream buffer is empty, and the cache unless its lines are kept. Nothing is under way.
  void begin_launch(bool keeps_lines);
  // Nothing is under way.
  [[nodiscard]] bool quiet() const { return fills_.empty(); }
  [[nodiscard]] L0Statistics& statistics() { return statistics_; }

 private:
  struct Line {
    std::uint64_t address = 0;
    bool valid = false;
    std::uint64_t used = 0;  // order of the latest uses
    std::vector<std::byte> bytes;
  };
  // A line on its way.
  struct Fill {
    link::LineRequest request;
    bool prefetch = false;                    // for the stream buffer; else for the cache
    bool dropped = false;                     // the stream buffer wants it no more
    std::vector<link::LineRequest*> waiting;  // fetches
  };
  ::tlm::tlm_sync_enum nb_transport_fw(link::LineRequest& request, link::LinePhase& phase,
                                       sc_core::sc_time& delay) override;
  ::tlm::tlm_sync_enum nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  [[nodiscard]] std::uint64_t number_of(std::uint64_t address) const {
    return address >> std::countr_zero(line_bytes_);
  }
  [[nodiscard]] Line* find(std::uint64_t address);
  Line& install(std::uint64_t address, const std::byte* bytes);
  // Out of the stream buffer into the cache; null: it is not there.
  [[nodiscard]] Line* take_foreseen(std::uint64_t address);
  [[nodiscard]] Fill* under_way(std::uint64_t address);
  // COMPLETED: request.line is there.
  [[nodiscard]] ::tlm::tlm_sync_enum ask(link::LineRequest& request);
  [[nodiscard]] ::tlm::tlm_sync_enum miss(link::LineRequest& request);
  void foresee_from(const link::LineRequest& missing);
  void foresee_next();

  const unsigned line_bytes_;  // a power of two
  const unsigned ways_;
  const unsigned prefetch_;
  std::vector<Line> lines_;  // by set
  std::size_t sets_;
  std::uint64_t uses_ = 0;
  std::list<Fill> fills_;
  std::deque<Line> foreseen_;         // the stream buffer: lines that have come
  std::deque<std::uint64_t> to_ask_;  // for it, in order
  std::uint64_t last_foreseen_ = 0;   // the last line that it has asked for or will ask for
  link::LineRequest like_;            // whose prefetches these are
  link::BehindSocket<link::LineRoom> beyond_room_;
  link::LineRoom* full_ = nullptr;  // has refused the latest prefetch; null: it took it, or does not grant to say more
  L0Statistics statistics_;
  // Where lines were found last, by their numbers: programs that are much shorter than the cache search for none.
  std::array<Line*, 64> found_{};
};

}  // namespace heddle::hw
