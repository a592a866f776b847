// A core's instruction cache (LWM report table 1): a Cache with the table of the role `instruction`. Loads only; a
// store or an atomic is an InternalError.
//
//   InstructionCache(name, parameters, clock, core, core_waker)
//
// enabled=false: every fetch is a read of its own. ideal=true: every one is a hit, by as many ports as there can be
// lanes, when answer_from() has said from what.
#pragma once

#include "hw/cache/cache.hpp"
#include "isa/instruction.hpp"

namespace heddle::hw {

class InstructionCache final : public Cache {
 public:
  InstructionCache(const sc_core::sc_module_name& name, const InstructionCacheParameters& parameters, link::Clock clock,
                   unsigned core, link::Waker& core_waker, const std::string& protocol = GpuParameters{}.coherence)
      : Cache(name, as_cache(parameters), coherence_table(protocol, CacheRole::instruction, parameters), clock,
              core_waker),
        core_(core) {}

  // What it is as a Cache: the ports of an ideal one.
  static CacheParameters as_cache(const InstructionCacheParameters& parameters) {
    CacheParameters with = parameters;
    with.ports = parameters.ideal ? isa::kLanes : with.ports;
    return with;
  }

 private:
  void describe(const LineRequest& request, link::MemoryExtension& extension) const override {
    describe_core(request, core_, true, extension);
  }
  const unsigned core_;
};

}  // namespace heddle::hw
