#include "hw/dram/policy.hpp"

namespace heddle::hw {

Limits dram_schedulers() {
  return Limits::policy<Registry<DramScheduler>>();
}

Limits dram_row_policies() {
  return Limits::policy<Registry<DramRowPolicy>>();
}

}  // namespace heddle::hw
