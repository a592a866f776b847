// A machine on which no instruction retires, and memory serves nothing, for longer than the watchdog waits: the lines
// that memory has served wait for their turn on a slow link. That is slow, and no deadlock.
#include <gtest/gtest.h>

#include "hw/parameters/machine.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/workload_cases.hpp"

namespace heddle {
namespace {

TEST(Watchdog, TakesASlowLinkForAlive) {
  hw::Machine machine;
  machine.name = "slow-link";
  machine.noc.clock_ghz = 0.0015;
  machine.noc.link_bytes = 1;
  const auto workload = test::make_workload("needleman", machine);
  tb::Device device(machine);
  device.load(workload->compile());
  const tb::Verdict verdict = workload->run(device);
  EXPECT_TRUE(verdict.correct) << verdict.detail;
}

}  // namespace
}  // namespace heddle
