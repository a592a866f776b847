// What the protocol mesi wants of a machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/check/machine.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Machine mesi_machine() {
  Machine machine;
  machine.gpu.cores = 4;
  machine.gpu.coherence = "mesi";
  machine.l2.enabled = machine.l2.inclusive = true;
  machine.l2.write_policy = machine.l1d.write_policy = "write-back";
  return machine;
}

std::vector<std::string> refusals(void (*change)(Machine&)) {
  Machine machine = mesi_machine();
  change(machine);
  std::vector<std::string> texts;
  for (const Contradiction& one : check(machine)) {
    texts.push_back(one.key + ": " + one.message);
  }
  return texts;
}

TEST(MesiMachine, WriteBackCachesOfSeveralCoresAreTaken) {
  EXPECT_THAT(refusals([](Machine&) {}), IsEmpty());
  EXPECT_THAT(refusals([](Machine& machine) { machine.gpu.cores = 1; }), IsEmpty());
  EXPECT_THAT(refusals([](Machine& machine) { machine.gpu.coherence = "none"; }),
              ElementsAre(HasSubstr("gpu.coherence = \"mesi\"")));
}

TEST(MesiMachine, WhatItNeedsIsSaid) {
  EXPECT_THAT(refusals([](Machine& machine) { machine.l2.enabled = false; }),
              ElementsAre(HasSubstr("l2.enabled: gpu.coherence = \"mesi\" has the slices of the L2 keep")));
  EXPECT_THAT(refusals([](Machine& machine) { machine.l2.inclusive = false; }),
              ElementsAre(HasSubstr("set l2.inclusive = true")));
  EXPECT_THAT(refusals([](Machine& machine) { machine.l2.write_policy = "write-through"; }),
              ElementsAre(HasSubstr("l2.write_policy (\"write-through\") must be \"write-back\"")));
  EXPECT_THAT(refusals([](Machine& machine) { machine.l1d.write_policy = "write-through"; }),
              ElementsAre(HasSubstr("l1d.write_policy (\"write-through\") must be \"write-back\"")));
  EXPECT_THAT(refusals([](Machine& machine) { machine.l1d.enabled = false; }),
              ElementsAre(HasSubstr("l1d.enabled is false")));
  EXPECT_THAT(refusals([](Machine& machine) { machine.l1d.line_bytes = machine.icache.line_bytes = 64; }),
              ElementsAre(HasSubstr("l2.line_bytes (128) must be l1d.line_bytes (64)")));
  EXPECT_THAT(refusals([](Machine& machine) { machine.gpu.cores = 65; }),
              ElementsAre(HasSubstr("at most 64 cores (gpu.cores is 65)")));
}

}  // namespace
}  // namespace heddle::hw
