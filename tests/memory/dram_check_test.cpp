// What the check of a machine asks of its DRAM's times: room between refreshes, a watchdog with patience.
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "hw/check/dram.hpp"
#include "hw/check/machine.hpp"
#include "hw/dram/jedec.hpp"

namespace heddle::hw::test {
namespace {

// A row that the next refresh closes before it is used would be opened for ever.
TEST(DramCheck, RefreshesLeaveTimeForAccesses) {
  const auto refusals = [](unsigned trcd_wr) {
    DramParameters parameters;
    parameters.timing = "jedec";
    parameters.jedec.trcd_wr = trcd_wr;
    std::vector<Contradiction> found;
    check_dram(parameters, 128, found);
    return found.size();
  };
  unsigned others = 0;
  JedecParameters ddr4 = resolve_jedec(DramParameters{});
  JedecParameters::describe_clocks(ddr4, [&](std::string_view name, unsigned field, std::string_view /*meaning*/) {
    others += name == "trefi" || name == "trcd_wr" ? 0 : field;
  });
  others += 2 * 2 * ddr4.tccd_l;  // two columns, there and back
  EXPECT_EQ(refusals(ddr4.trefi - others - 1), 0U);
  EXPECT_EQ(refusals(ddr4.trefi - others), 1U);
  DramParameters without;
  without.timing = "jedec";
  without.jedec.trcd_wr = 100000;
  without.jedec.refresh = false;
  std::vector<Contradiction> found;
  check_dram(without, 128, found);
  EXPECT_TRUE(found.empty());
}

// Two conflicts of 1000 cycles, three bus slots of 4; interconnect 1 and 1; fetch, decode, register read and execute 1,
// 1, 1 and 2; a complex operation 8 and its interval 4; malloc 200; halves 1 and 1; the caches' hits 1 and 1: 2250
// cycles in all.
TEST(Watchdog, IsMorePatientThanTheMachineIsSlow) {
  Machine machine;
  machine.dram.row_conflict = 1000;
  machine.watchdog.deadlock_cycles = 2251;
  EXPECT_TRUE(check(machine).empty());
  machine.watchdog.deadlock_cycles = 2250;
  const std::vector<Contradiction> found = check(machine);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().key, "watchdog.deadlock_cycles");
  EXPECT_NE(found.front().message.find("is not above 2250, "), std::string::npos) << found.front().message;
  EXPECT_NE(found.front().message.find("(2012 of them in DRAM)"), std::string::npos) << found.front().message;
}

}  // namespace
}  // namespace heddle::hw::test
