// What a memory system cannot have, as machine files and settings are refused for it: whole texts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "tb/config/config.hpp"

namespace heddle::tb {
namespace {

TEST(ConfigMemory, WhatTheMemorySystemCannotHave) {
  const auto refused = [](const std::vector<std::string>& settings) {
    try {
      (void)parse_machine("", "m.toml", settings);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused({"l1d.sector_bytes=48"}),
            "--set l1d.sector_bytes=48: l1d.sector_bytes (48) is no power of two from 32 to l1d.line_bytes (128)");
  EXPECT_EQ(refused({"l2.enabled=true", "l2.sector_bytes=16"}),
            "--set l2.sector_bytes=16: l2.sector_bytes (16) is no power of two from 32 to l2.line_bytes (128)");
  EXPECT_EQ(
      refused({"l2.enabled=true", "l2.inclusive=true", "gpu.coherence=mesi", "l1d.sector_bytes=32"}),
      "--set l1d.sector_bytes=32: l1d.sector_bytes (32): gpu.coherence = \"mesi\" knows whole lines; use 0\n"
      "--set l1d.sector_bytes=32: l1d.sector_bytes (32): an inclusive L2 (l2.inclusive) knows whole lines; use 0");
  EXPECT_EQ(refused({"l2.enabled=true", "l2.inclusive=true", "l2.sector_bytes=32"}),
            "--set l2.sector_bytes=32: l2.sector_bytes (32): an inclusive L2 (l2.inclusive) knows whole lines; use 0");
  EXPECT_EQ(refused({"dram.channels=4", "dram.channel_xor=true", "dram.channel_hash=true"}),
            "--set dram.channel_hash=true: dram.mapping: dram.channel_xor and dram.channel_hash are two ways to spread "
            "addresses over channels: use one");
  EXPECT_EQ(refused({"l2.enabled=true", "l2.slices=2", "l2.bytes=1048577"}),
            "--set l2.bytes=1048577: l2.bytes (1048577) is no multiple of l2.ways (16) times l2.line_bytes (128) times "
            "dram.channels (1) times l2.slices (2): each slice has whole sets");
  EXPECT_EQ(refused({"noc.clock_ghz=0.0001"}),
            "--set noc.clock_ghz=0.0001: noc.clock_ghz (0.0001) is below 0.001 and not 0, the cores' clock");
  EXPECT_EQ(refused({"l2.enabled=true", "l2.clock_ghz=0.0001"}),
            "--set l2.clock_ghz=0.0001: l2.clock_ghz (0.0001) is below 0.001 and not 0, the cores' clock");
  EXPECT_EQ(
      refused({"dram.timing=jedec", "jedec.pseudo_channels=3"}),
      "--set jedec.pseudo_channels=3: jedec.pseudo_channels (3) is no power of two up to dram.banks (8), which are "
      "those of all pseudo channels of a channel");
  EXPECT_EQ(
      refused({"dram.timing=jedec", "dram.preset=hbm3", "jedec.pseudo_channels=4"}),
      "--set jedec.pseudo_channels=4: jedec.bank_groups (4) times jedec.pseudo_channels (4) is above dram.banks (8), "
      "which are those of all pseudo channels of a channel");
  EXPECT_EQ(refused({"dram.channels=129"}),
            "--set dram.channels=129: dram.channels must be between 1 and 128 channels, not 129");
  // Caches that a launch does not find empty.
  EXPECT_EQ(refused({"l2.enabled=true", "l2.kept=true"}),
            "--set l2.kept=true: l2.kept is true, and l2.write_back_at_end empties the L2 at the end of launches; use "
            "false for one of both");
  EXPECT_EQ(refused({"l2.enabled=true", "l2.inclusive=true", "l2.write_back_at_end=false", "l2.kept=true",
                     "gpu.coherence=mesi"}),
            "--set l2.kept=true: l2.kept is true, and the homes of gpu.coherence = \"mesi\" forget their lines at the "
            "end of launches; use false");
  EXPECT_EQ(refused({"l2.enabled=true", "l2.inclusive=true", "icache.kept=true"}),
            "--set icache.kept=true: icache.kept is true, and an inclusive L2 (l2.inclusive), which has instruction "
            "caches drop what it replaces, forgets after a launch what they have; use false");
  // No operation divides that could find the zero.
  EXPECT_EQ(
      refused({"core.software_division=true", "core.division_trap=true"}),
      "--set core.division_trap=true: core.division_trap finds a divisor of zero where an operation divides; with "
      "core.software_division = true none does; use false for one of both");
  // Sizes and clocks that there may be.
  for (const char* good : {"l1d.bytes=49152", "l1d.sector_bytes=128", "l1d.sector_bytes=32", "noc.clock_ghz=2.5"}) {
    EXPECT_EQ(refused({good}), "accepted") << good;
  }
}

}  // namespace
}  // namespace heddle::tb
