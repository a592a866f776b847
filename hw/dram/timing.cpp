#include "hw/dram/timing.hpp"

#include "hw/dram/bank_timing.hpp"
#include "hw/dram/jedec_timing.hpp"

namespace heddle::hw {

std::unique_ptr<DramTiming> make_dram_timing(const DramParameters& parameters, unsigned line_bytes,
                                             double clock_period_ns) {
  if (parameters.timing == "jedec") {
    return std::make_unique<JedecTiming>(parameters, line_bytes, clock_period_ns);
  }
  return std::make_unique<HitConflictTiming>(parameters, line_bytes, clock_period_ns);
}

}  // namespace heddle::hw
