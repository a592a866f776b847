// The unit of a core that copies in bulk from global memory to the scratchpad, by itself (PTX ISA, "cp.async.bulk": the
// part without tensors of what NVIDIA's H100 white paper calls the Tensor Memory Accelerator). A core has one where
// bulk_copy.queue is not 0; without it the thread that asks copies.
//
//   in[i]       target, BulkCopyProtocol       from the memory stage of sub-core i
//   lines       initiator, LineProtocol        to the L1, which does not keep them: each takes one port cycle
//   scratchpad  initiator, ScratchpadProtocol  what has come, a line at a time; nobody waits for the banks but others
// Copies are begun in the order in which they come, bulk_copy.latency cycles later at the earliest, and the lines of
// one asked for before those of the next, one a cycle. Lines come in any order. With a copy's last one the barrier
// object has counted its bytes (isa/barrier_object.hpp).
//
// It is advanced by its core, before the sub-cores have their turns.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "hw/core/share/bulk_copy_observer.hpp"
#include "hw/core/share/bulk_copy_protocol.hpp"
#include "hw/parameters/on_chip.hpp"
#include "hw/scratchpad/scratchpad.hpp"
#include "tlm/clock.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/on_chip_memory.hpp"

namespace heddle::hw {

class BulkCopies final : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<link::LineProtocol> {
 public:
  // `line_bytes`: of the L1.
  BulkCopies(const sc_core::sc_module_name& name, const BulkCopyParameters& parameters, unsigned line_bytes,
             unsigned ports, link::Clock clock);

  sc_core::sc_vector<BulkCopyTargetSocket> in;
  link::LineInitiatorSocket lines;
  ScratchpadInitiatorSocket scratchpad;
  std::function<void(unsigned port)> answered;  // before a response is handed on

  // Its turn in a cycle. Returns next().
  link::Cycle advance(link::Cycle now);
  // The cycle after this one in which it has something to do by itself; kNever: none, until a copy or a line comes.
  [[nodiscard]] link::Cycle next(link::Cycle now) const {
    return waiting_.empty() ? link::kNever : std::max(now + 1, waiting_.front()->begins);
  }
  // No copy is here.
  [[nodiscard]] bool idle() const { return under_way_ == 0; }
  [[nodiscard]] BulkCopyStatistics& statistics() { return statistics_; }
  // Null: nobody watches.
  void observe(BulkCopyObserver* observer) {
    observer_ = observer;
    if (observer != nullptr) {
      observer->attached(statistics_);
    }
  }

 private:
  struct Port final : link::NonBlockingTarget<BulkCopyProtocol> {
    Port(BulkCopies& of_unit, std::uint8_t of_number) : unit(of_unit), number(of_number) {}
    ::tlm::tlm_sync_enum nb_transport_fw(BulkCopy& copy, BulkCopyPhase& phase, sc_core::sc_time& delay) override;
    BulkCopies& unit;
    const std::uint8_t number;
  };
  // A line of a copy: what of it is wanted lies from `from` on.
  struct Line : link::LineRequest {
    BulkCopy* copy = nullptr;
    std::uint64_t from = 0;
    std::uint32_t bytes = 0;
  };
  ::tlm::tlm_sync_enum nb_transport_bw(link::LineRequest& request, link::LinePhase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  void tell_observer() const {
    if (observer_ != nullptr) {
      observer_->changed(statistics_, waiting_.size(), under_way_);
    }
  }
  // False: there was no room.
  [[nodiscard]] bool ask_for_line(BulkCopy& copy);
  // Answers when all of it has come.
  void look(BulkCopy& copy);
  void write(const Line& line);
  void count(const BulkCopy& copy);

  const BulkCopyParameters parameters_;
  const unsigned line_bytes_;
  const link::Clock clock_;
  std::vector<std::unique_ptr<Port>> ports_;
  link::OnChipPort<Scratchpad, ScratchpadProtocol> port_;
  std::deque<BulkCopy*> waiting_;  // lines of the first one are being asked for
  std::size_t under_way_ = 0;      // copies that have not been answered
  std::vector<std::unique_ptr<Line>> all_;
  std::vector<Line*> free_;
  ScratchpadAccess access_;
  BulkCopyStatistics statistics_;
  BulkCopyObserver* observer_ = nullptr;
};

}  // namespace heddle::hw
