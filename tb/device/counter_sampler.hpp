// Who looks at the counters of a machine's units at regular cycles while it runs, and where launches begin and end. A
// sampler watches no events, so that nothing in the machine has to stop for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "hw/gpu/totals.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::tb {

// Cycles are those of launches one after another (hw::Totals::cycles). Whenever the sampler is called, the counters
// hold what has happened in all cycles up to the one named, and no other host thread is at work.
class CounterSampler {
 public:
  virtual ~CounterSampler() = default;
  // The machine is built; nothing has run. The counters live as long as the device.
  virtual void attached(const hw::Machine& machine, const StatisticsRegistry& counters,
                        std::vector<hw::CountedUnit> units) = 0;
  // `sampled` is due in cycles that this divides, 1 at least. Asked anew after each call.
  [[nodiscard]] virtual std::uint64_t every() const = 0;
  virtual void sampled(std::uint64_t cycles) = 0;
  // Several launches may run at once; `launch` is the number of one.
  virtual void launching(std::uint64_t launch, const std::string& kernel, std::uint64_t cycles) = 0;
  virtual void launched(std::uint64_t launch, std::uint64_t cycles) = 0;
};

}  // namespace heddle::tb
