// An example of docs/extending.md: the energy table of the page.
#include <gtest/gtest.h>

#include "tb/measure/energy/energy.hpp"

namespace heddle::tb {
namespace {

TEST(RowBuffers, AddUpByHand) {
  hw::Machine machine;
  machine.gpu.clock_ghz = 2;
  machine.dram.channels = 4;
  hw::Totals totals;
  totals.cycles = 1000;  // 500 ns
  totals.dram.activations = 7;
  totals.dram.bus_busy_cycles = 10;
  totals.dram.reads = 99;  // costs nothing
  const Energy energy = energy_of(read_energy_table("row_buffers"), totals, machine);
  EXPECT_DOUBLE_EQ(energy.pj, 7 * 2000 + 10 * 150.5 + 4 * 12 * 500);
  EXPECT_DOUBLE_EQ(energy.average_mw, energy.pj / 500);
}

}  // namespace
}  // namespace heddle::tb
