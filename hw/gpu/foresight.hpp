// How far the cores of a GPU may run on (link::Foresight): what can come to a core, and when at the earliest. From the
// interconnect's latencies, from the cycles in which the modules behind it have their next turns, and from what the
// core waits for (hw/gpu/basic_foresight.hpp). Plain look-ups, no process.
#pragma once

#include <memory>
#include <vector>

#include "hw/cache/l2_slice.hpp"
#include "hw/core/core.hpp"
#include "hw/dram/controller.hpp"
#include "hw/gpu/basic_foresight.hpp"
#include "hw/gpu/dispatcher.hpp"
#include "hw/noc/interconnect.hpp"

namespace heddle::hw {

// The GPU's modules that have turns; `probes` null: there are none. They outlive the foresight.
struct CoreModules {
  const std::vector<std::unique_ptr<Core>>& cores;
  const Dispatcher& dispatcher;
  const Interconnect& noc;
  const Interconnect* probes;
  const std::vector<std::unique_ptr<L2Slice>>& l2;
  const std::vector<std::unique_ptr<DramController>>& dram;
  const std::vector<std::unique_ptr<Interconnect>>& ways;
};

extern template class BasicForesight<CoreModules>;

class CoreForesight final : public BasicForesight<CoreModules> {
 public:
  using Modules = CoreModules;
  using BasicForesight::BasicForesight;
};

}  // namespace heddle::hw
