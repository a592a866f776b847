// A core's L1 data cache (thesis 5.1 table 5.1, LWM report table 1): a Cache with the table of the role `l1`.
//
//   L1Cache(name, parameters, clock, core, core_waker)
//
// In the protocol none (hw/coherence/none.cpp):
//   store         write-back: a hit marks the written bytes dirty, a miss fetches the line and merges into it, unless
//                 the store covers the whole line. Write-through: updates the line when it is there, never allocates,
//                 and goes to memory with byte enables.
//   bypass load   a dirty copy is written back, the line is dropped and fetched anew; the new copy is kept.
//   atomic        goes on to memory; a dirty copy is written back first, and none is kept.
//   enabled=false every load is a read of its own, every store a write of its own; MSHRs and write buffer bound them.
#pragma once

#include "hw/cache/cache.hpp"

namespace heddle::hw {

class L1Cache final : public Cache {
 public:
  L1Cache(const sc_core::sc_module_name& name, const DataCacheParameters& parameters, link::Clock clock, unsigned core,
          link::Waker& core_waker, const std::string& protocol = GpuParameters{}.coherence)
      : Cache(name, parameters, coherence_table(protocol, CacheRole::l1, parameters), clock, core_waker,
              parameters.banks),
        core_(core) {}

 private:
  void describe(const LineRequest& request, link::MemoryExtension& extension) const override {
    describe_core(request, core_, false, extension);
  }
  const unsigned core_;
};

}  // namespace heddle::hw
