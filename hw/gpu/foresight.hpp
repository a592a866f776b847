// How far the cores of a GPU may run on (link::Foresight): what can come to a core, and when at the earliest. From the
// interconnect's latencies, from the cycles in which the modules behind it have their next turns, and from what the
// core waits for. Plain look-ups, no process.
//
// Nothing comes to a core
//   from the dispatcher  but a block after one that it has finished, which it has told, or commands to all when no core
//                        has threads; a fault's stop takes longer than a core can be ahead (Dispatcher)
//   from memory          but answers, of which there are none while it has asked for nothing; and what an inclusive L2
//                        or a home of its lines wants of it
//   from other cores     where threads stay in their cores
#pragma once

#include <memory>
#include <vector>

#include "hw/cache/l2_slice.hpp"
#include "hw/core/core.hpp"
#include "hw/dram/controller.hpp"
#include "hw/gpu/dispatcher.hpp"
#include "hw/noc/interconnect.hpp"
#include "tlm/calendar/calendar.hpp"

namespace heddle::hw {

class CoreForesight final : public link::Foresight {
 public:
  // The GPU's modules that have turns; `probes` null: there are none. They outlive it.
  struct Modules {
    const std::vector<std::unique_ptr<Core>>& cores;
    const Dispatcher& dispatcher;
    const Interconnect& noc;
    const Interconnect* probes;
    const std::vector<std::unique_ptr<L2Slice>>& l2;
    const std::vector<std::unique_ptr<DramController>>& dram;
  };
  CoreForesight(const Machine& machine, const Modules& modules);

  // Whether it knows all that can come to a core: else none may run on.
  [[nodiscard]] static bool knows(const Machine& machine);

  void look(link::Cycle now, link::Cycle told) override;
  [[nodiscard]] link::Cycle undisturbed_until(unsigned core) const override;

 private:
  const Modules modules_;
  const unsigned request_latency_;
  const unsigned response_latency_;
  const bool copies_;  // the L2 takes copies of its lines back
  link::Cycle now_ = 0;
  std::vector<link::Cycle> responses_;  // by core: the first one that is on its way to it
  link::Cycle answers_ = 0;             // others may come from this cycle on
  link::Cycle others_ = 0;              // what comes without having been asked for, likewise
};

}  // namespace heddle::hw
