// A large warp by itself that goes on at a branch once it is known to part (thesis 4.2.2, footnote 2): how long it
// takes. What it computes is compared with the interpreter on all workloads and random programs elsewhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "hw/issue/relaxed.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/model/child.hpp"

namespace heddle {
namespace {

// In each round threads whose number and `apart` have a bit in common skip an addition.
isa::Module rounds_of(unsigned apart, unsigned rounds) {
  return ptx::compile(fmt::format(".version 7.0\n.target sm_60\n.address_size 32\n.visible .entry k() {{\n"
                                  ".shared .b32 s[1]; .reg .pred %p<3>; .reg .b32 %r<9>;\n"
                                  "mov.u32 %r1, %tid.x; and.b32 %r1, %r1, {}; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
                                  "LOOP: setp.ne.u32 %p1, %r1, 0; @%p1 bra MEET;\n"
                                  "add.u32 %r2, %r2, 3; xor.b32 %r2, %r2, %r3;\n"
                                  "MEET: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, {}; @%p2 bra LOOP;\n"
                                  "st.shared.u32 [s], %r2; ret;\n}}\n",
                                  apart, rounds),
                      "k.ptx");
}

std::uint64_t cycles_of(unsigned warp_size, unsigned apart, unsigned rounds, bool early) {
  return std::stoull(test::in_child([&] {
    hw::Machine machine;
    machine.core.warp_size = warp_size;
    machine.core.former = "packed";
    machine.core.issue = "relaxed";
    machine.core.policies.of<hw::RelaxedParameters>().diverged_early = early;
    tb::Device device(machine);
    device.load(rounds_of(apart, rounds));
    device.launch({"k", {1}, {warp_size}, 0, {}});
    return std::to_string(device.totals().cycles);
  }));
}

// Of four rows the last sub-warp completes three cycles behind the first, which goes both ways. Of eight rows it is
// seven, but decode is busy with the branch for one of them.
TEST(DivergedEarly, TheFirstSubWarpThatPartsIsEnough) {
  EXPECT_EQ(cycles_of(128, 1, 100, false) - cycles_of(128, 1, 100, true), 300U);
  EXPECT_EQ(cycles_of(256, 1, 100, false) - cycles_of(256, 1, 100, true), 600U);
}

// Rows of one way each: the second one shows it.
TEST(DivergedEarly, SubWarpsOfDifferentWaysShowItToo) {
  EXPECT_EQ(cycles_of(128, 32, 100, false) - cycles_of(128, 32, 100, true), 200U);
  EXPECT_EQ(cycles_of(256, 32, 100, false) - cycles_of(256, 32, 100, true), 600U);
}

TEST(DivergedEarly, WhatDoesNotPartWaitsForAll) {
  EXPECT_EQ(cycles_of(256, 0, 100, false), cycles_of(256, 0, 100, true));
  EXPECT_EQ(cycles_of(32, 1, 100, false), cycles_of(32, 1, 100, true)) << "one sub-warp";
}

}  // namespace
}  // namespace heddle
