#include "hw/check/policies.hpp"

#include "hw/coalesce/coalescer.hpp"
#include "hw/coherence/protocol.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/dram/policy.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "hw/schedule/load_limiter.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/subwarp/former.hpp"

namespace heddle::hw {

namespace {

template <class Interface>
ChosenPolicy choice_of(std::string_view key, const std::string& name) {
  const typename Interface::About& policy = about<Interface>(name);
  return {key, name, policy.check, policy.in_vain, policy.cost};
}

}  // namespace

std::vector<ChosenPolicy> policies_of(const Machine& machine) {
  return {choice_of<Divergence>("core.divergence", machine.core.divergence),
          choice_of<WarpScheduler>("core.scheduler", machine.core.scheduler),
          choice_of<SubWarpFormer>("core.former", machine.core.former),
          choice_of<IssueDiscipline>("core.issue", machine.core.issue),
          choice_of<Coalescer>("core.coalescer", machine.core.coalescer),
          choice_of<LoadLimiter>("core.load_limiter", machine.core.load_limiter),
          choice_of<Scalarisation>("core.scalar", machine.core.scalar),
          choice_of<CoherenceProtocol>("gpu.coherence", machine.gpu.coherence),
          choice_of<DramScheduler>("dram.scheduler", machine.dram.scheduler),
          choice_of<DramRowPolicy>("dram.row_policy", machine.dram.row_policy)};
}

}  // namespace heddle::hw
