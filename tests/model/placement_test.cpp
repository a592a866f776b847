// Where the host's allocator puts buffers (section allocation) changes timing only, and changes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tb/device/device.hpp"
#include "tb/device/placement.hpp"
#include "tb/device/workload.hpp"
#include "tests/model/child.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("AllocationPlacement.*")

namespace heddle {
namespace {

// The cycles of a run, which must be right and equal the interpreter's.
std::string cycles_with(const std::string& placement, std::uint64_t seed) {
  return test::in_child([&] {
    hw::Machine machine = test::machine_called("baseline");
    machine.allocation.placement = placement;
    machine.allocation.seed = seed;
    const auto workload = test::make_workload("blackscholes:pthreads", machine);
    tb::Device device(machine);
    device.load(workload->compile());
    const tb::Verdict verdict = workload->run(device);
    tb::ReferenceExecutor reference;
    reference.memory().set_placement(tb::placement_of(machine.allocation));
    reference.load(workload->compile());
    if (!verdict.correct || !workload->run(reference).correct ||
        device.retirement().total() != reference.retirement().total()) {
      return std::string("wrong: ") + verdict.detail;
    }
    return fmt::format("{} cycles", device.totals().cycles);
  });
}

TEST(AllocationPlacement, ChangesTimingOnly) {
  std::set<std::string> cycles;
  for (const char* const placement : {"gap", "page"}) {
    cycles.insert(cycles_with(placement, 1));
  }
  const std::string seeded = cycles_with("seeded", 1);
  EXPECT_EQ(cycles_with("seeded", 1), seeded);
  cycles.insert(seeded);
  cycles.insert(cycles_with("seeded", 2));
  for (const std::string& one : cycles) {
    EXPECT_EQ(one.find("wrong"), std::string::npos) << one;
  }
  EXPECT_GE(cycles.size(), 3U);
}

}  // namespace
}  // namespace heddle
