// Machines of tests that draw them: what one is, and whether it computes what the reference interpreter does.
#pragma once

#include <cstdint>
#include <string>

#include "hw/gpu/totals.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::test {

// What is not as on a new machine, as --set would have it.
[[nodiscard]] std::string settings_of(hw::Machine machine);

// The value of a number or a switch.
[[nodiscard]] double number_of(const ParameterReference& parameter);
// Throws InputError when the parameter, a number, does not take the value.
void set_number(const ParameterReference& parameter, double value);

// Every core cycle is counted once, and each idle one has one cause; every access of the L1 hits or misses. What does
// not add up; empty: nothing.
[[nodiscard]] std::string accounting_fault(const hw::Totals& totals);

// A workload and some random programs of this seed on the machine, in a process of its own with limits to its time.
// They compute what the interpreter does, or the machine is refused by the key of a parameter; all else fails the test.
// True: it ran.
bool expect_right(const hw::Machine& machine, std::uint64_t seed);

}  // namespace heddle::test
