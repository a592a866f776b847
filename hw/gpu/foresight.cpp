#include "hw/gpu/foresight.hpp"

#include <algorithm>

#include "hw/coherence/protocol.hpp"
#include "hw/divergence/divergence.hpp"

namespace heddle::hw {

using link::Cycle;
using link::kNever;

namespace {

Cycle later(Cycle cycle, Cycle by) {
  return cycle == kNever ? kNever : cycle + by;
}

template <class Modules>
Cycle earliest_of(const Modules& modules) {
  Cycle earliest = kNever;
  for (const auto& module : modules) {
    earliest = std::min(earliest, module->due());
  }
  return earliest;
}

}  // namespace

CoreForesight::CoreForesight(const Machine& machine, const Modules& modules)
    : modules_(modules),
      request_latency_(machine.noc.request_latency),
      response_latency_(machine.noc.response_latency),
      copies_(machine.l2.enabled && machine.l2.inclusive) {}

bool CoreForesight::knows(const Machine& machine) {
  const Divergence::Traits& mechanism = about<Divergence>(machine.core.divergence).traits;
  return machine.gpu.cores > 1 && !machine.gpu.perfect_memory && !machine.icache.ideal && !mechanism.changes_cores &&
         mechanism.global_pool == nullptr;
}

// What a module does in cycle t another one sees in cycle t + 1 at the earliest, and what goes through the interconnect
// as much later as its latency says. Its clock may be slower than the GPU's, never faster.
void CoreForesight::look(Cycle now, Cycle told) {
  now_ = now;
  const Cycle l2 = earliest_of(modules_.l2);
  const Cycle beyond = std::min({modules_.noc.due(), earliest_of(modules_.dram), told});
  // A core may ask for something in this cycle; it is at the interconnect in the next.
  const Cycle asked = now + 1;
  modules_.noc.next_responses(responses_);
  answers_ = std::min(later(std::min(beyond, l2), response_latency_ + 1), asked + request_latency_ + response_latency_);
  others_ = later(modules_.dispatcher.due(), 1);
  if (copies_) {
    // An L2 slice that has its turn takes a copy back in the next cycle.
    others_ = std::min({others_, later(l2, 1), later(beyond, 2), asked + request_latency_ + 1});
  }
  if (modules_.probes != nullptr) {
    others_ = std::min({others_, later(modules_.probes->due(), 1), later(l2, request_latency_ + 1),
                        later(beyond, request_latency_ + 2), asked + 2 * request_latency_ + 1});
  }
}

Cycle CoreForesight::undisturbed_until(unsigned index) const {
  const Core& core = *modules_.cores[index];
  switch (core.expects()) {
    case Core::Expects::anything:
      return 0;
    case Core::Expects::nothing:
      return others_;
    case Core::Expects::answers:
      // Whether the interconnect has room for what the core asks for next must not depend on what it does meanwhile.
      return modules_.noc.has_room(index, now_) ? std::min({later(responses_[index], 1), answers_, others_}) : 0;
  }
  return 0;
}

}  // namespace heddle::hw
