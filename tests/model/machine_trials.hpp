// Machines of tests that draw them: what one is, and whether it computes what the reference interpreter does.
#pragma once

#include <cstdint>
#include <string>

#include "hw/parameters/machine.hpp"

namespace heddle::test {

// What is not as on a new machine, as --set would have it.
[[nodiscard]] std::string settings_of(hw::Machine machine);

// A workload and some random programs of this seed on the machine, in a process of its own with limits to its time.
// They compute what the interpreter does, or the machine is refused by the key of a parameter; all else fails the test.
// True: it ran.
bool expect_right(const hw::Machine& machine, std::uint64_t seed);

}  // namespace heddle::test
