// What passes the ports of a core's register banks. No SystemC.
#pragma once

#include "hw/registers/lane_tally.hpp"

namespace heddle::hw {

// Rows read and written per lane.
struct BankCounters {
  LaneTally reads;
  LaneTally writes;
};

}  // namespace heddle::hw
