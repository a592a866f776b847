// DRAM devices by name: the figures that the [jedec] section of a machine starts from.
//
//   ddr4-2400  DDR4-2400 17-17-17, 8 Gb x8, a 64-bit channel. Micron MT40A1G8 (8Gb: x4, x8, x16 DDR4 SDRAM): speed bin
//              -083 (table "DDR4-2400 Speed Bins": tRCD = tRP = 14.16 ns, tRAS 32 ns) and table "Electrical
//              Characteristics and AC Timing Parameters" (tCCD_L 5 ns, tRTP and tWTR_L 7.5 ns, tWR 15 ns); JEDEC
//              JESD79-4 for tRFC1 of 8 Gb (350 ns), tREFI 7.8 us, and tFAW, tRRD of 1 KB pages. [dram]: 16 banks, rows
//              of 8 KB.
//   gddr5      GDDR5 4 Gb/s, 1 Gb x32: SK Hynix H5GQ1H24AFR, with its figures as gem5 (GDDR5_4000_2x32) and GPGPU-Sim
//              (its GTX 480) have them; refresh 16K per 32 ms, JEDEC JESD212. The read latency is programmed, not
//              given; both take 12 clocks. [dram]: 16 banks, rows of 2 KB.
//   gddr6      GDDR6 14 Gb/s, one 16-bit channel of an 8 Gb device, JEDEC JESD250; the figures in nanoseconds (tRCD and
//              tRP 15, tRAS 30, tRC 45, tRRD 4, tFAW 16, tRFC 120) as Ramulator 2 has them. [dram]: 16 banks, 2 KB.
//   gddr6-16   GDDR6 16 Gb/s, one 16-bit channel of a 16 Gb device. [dram]: 16 banks, 2 KB.
//   gddr6x     GDDR6X 21 Gb/s, one 16-bit channel. [dram]: 16 banks, 2 KB.
//   hbm2       HBM2 2 Gb/s, one 64-bit pseudo channel, JEDEC JESD235A, as gem5 (HBM_2000_4H_1x64) has it. Row and
//              column commands have a bus each, and an activation takes two clocks of its own. [dram]: 16 banks, rows
//              of 1 KB. A whole channel: jedec.pseudo_channels = 2 and 32 banks.
//   hbm2e      HBM2e 3.2 Gb/s, one channel of two 64-bit pseudo channels. [dram]: 32 banks, rows of 1 KB.
//   hbm3       HBM3 5.2 Gb/s, one channel of two 32-bit pseudo channels, JEDEC JESD238A. [dram]: 32 banks, rows of
//              1 KB.
//
// Times in nanoseconds become clocks by rounding up as JEDEC does it (a hundredth of a clock is disregarded); a read
// followed by a write leaves two clocks on the bus: trtw = CL + burst + 2 - CWL, if the source says nothing.
#pragma once

#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

[[nodiscard]] std::vector<std::string> jedec_presets();

// How a device is given its commands.
struct CommandBuses {
  bool separate = false;         // one bus for activations, precharges and refreshes, one for reads and writes
  unsigned activate_clocks = 1;  // that an activation occupies its bus; other commands take one
};
[[nodiscard]] CommandBuses command_buses(const DramParameters& parameters);

// The figures of parameters.preset, replaced by figures of parameters.jedec that are not 0.
[[nodiscard]] JedecParameters resolve_jedec(const DramParameters& parameters);

// What a channel of such timing can move at most, in GB/s: a burst after the other on each of its data buses.
[[nodiscard]] double peak_bandwidth_gbs(const JedecParameters& figures);

}  // namespace heddle::hw
