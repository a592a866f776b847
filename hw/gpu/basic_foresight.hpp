// What CoreForesight (hw/gpu/foresight.hpp) says, of whatever modules: its rules without the modules' headers, so that
// a test can put others in their place.
//
// Nothing comes to a core
//   from the dispatcher  but a block after one that it has finished, which it has told, or commands to all when no core
//                        has threads; a fault's stop takes longer than a core can be ahead (Dispatcher)
//   from memory          but answers, of which there are none while it has asked for nothing; and what an inclusive L2
//                        or a home of its lines wants of it
//   from other cores     where threads stay in their cores
#pragma once

#include <algorithm>
#include <vector>

#include "hw/divergence/divergence.hpp"
#include "hw/parameters/machine.hpp"
#include "tlm/calendar/calendar.hpp"

namespace heddle::hw {

// `Modules`: cores, dispatcher, noc, probes (null: there are none), l2, dram, and ways from slices to a channel, as
// CoreModules has them.
template <class Modules>
class BasicForesight : public link::Foresight {
 public:
  BasicForesight(const Machine& machine, const Modules& modules)
      : modules_(modules),
        request_latency_(least_latency(machine, machine.noc.request_latency)),
        response_latency_(least_latency(machine, machine.noc.response_latency)),
        copies_(machine.l2.enabled && machine.l2.inclusive) {}

  // Whether it knows all that can come to a core: else none may run on.
  [[nodiscard]] static bool knows(const Machine& machine) {
    const Divergence::Traits& mechanism = about<Divergence>(machine.core.divergence).traits;
    return machine.gpu.cores > 1 && !machine.gpu.perfect_memory && !machine.icache.ideal && !mechanism.changes_cores &&
           mechanism.global_pool == nullptr;
  }

  // What a module does in cycle t another one sees in cycle t + 1 at the earliest, and what goes through the
  // interconnect as much later as its latency says.
  void look(link::Cycle now, link::Cycle told) override {
    now_ = now;
    const link::Cycle l2 = earliest_of(modules_.l2);
    const link::Cycle beyond =
        std::min({modules_.noc.due(), earliest_of(modules_.dram), earliest_of(modules_.ways), told});
    // A core may ask for something in this cycle; it is at the interconnect in the next.
    const link::Cycle asked = now + 1;
    modules_.noc.next_responses(responses_);
    answers_ =
        std::min(later(std::min(beyond, l2), response_latency_ + 1), asked + request_latency_ + response_latency_);
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

  [[nodiscard]] link::Cycle undisturbed_until(unsigned index) const override {
    const auto& core = *modules_.cores[index];
    using Expects = decltype(core.expects());
    switch (core.expects()) {
      case Expects::anything:
        return 0;
      case Expects::nothing:
        return others_;
      case Expects::answers:
        // Whether the interconnect has room for what the core asks for next must not depend on what it does meanwhile.
        return modules_.noc.has_room(index, now_) ? std::min({later(responses_[index], 1), answers_, others_}) : 0;
    }
    return 0;
  }

 private:
  // In the GPU's cycles at least: the interconnect's clock may be slower or faster.
  [[nodiscard]] static unsigned least_latency(const Machine& machine, unsigned latency) {
    return std::min(latency, static_cast<unsigned>(1 + noc_edges(machine).least_cycles(latency - 1)));
  }
  [[nodiscard]] static link::Cycle later(link::Cycle cycle, link::Cycle by) {
    return cycle == link::kNever ? link::kNever : cycle + by;
  }
  template <class Several>
  [[nodiscard]] static link::Cycle earliest_of(const Several& modules) {
    link::Cycle earliest = link::kNever;
    for (const auto& module : modules) {
      earliest = std::min(earliest, module->due());
    }
    return earliest;
  }

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
