#include "hw/dram/jedec.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace heddle::hw {

namespace {

struct Preset {
  const char* name;
  JedecParameters figures;
  CommandBuses buses = {};
};

// Whole clocks that cover the minimum that the source gives.
//
// ddr4-2400: JESD79-4B, speed bin 2400R, as Micron MT40A1G8-083 (8 Gb, x8, 1 KB pages, 17-17-17) has it: tRCD = tRP =
//   14.16 ns, tRAS 32 ns, tRC 46.16 ns, tRRD_S 3.3 ns or 4 clocks, tRRD_L 4.9 ns, tFAW 21 ns, tCCD_L 5 ns, tWR 15 ns,
//   tWTR_S 2.5 ns, tWTR_L = tRTP = 7.5 ns, CWL 12, tREFI 7.8 us, tRFC 350 ns. Eight such devices: 64 bytes in 4 clocks.
// gddr5: SK hynix H5GQ1H24AFR (1 Gb, x32) at 4 Gb/s, CK 1 GHz: tRCD = tRP = 12 ns, tRAS 28 ns, tRC 40 ns, tRRD 5.5 ns,
//   tFAW 23 ns (shorter than four tRRD, and so without effect), tCCDL 3 clocks, tWR 12 ns, tWTR 5 ns, tRTP 2 clocks,
//   tRFC 65 ns; 16384 refreshes in 32 ms (JESD212). CL and CWL are set in mode registers: 12 and 4.
// gddr6: JESD250 leaves analogue timing to vendors; Samsung K4Z80325BC-HC14 (8 Gb, 14 Gb/s, CK 1.75 GHz, one channel of
//   16 bits): tRC 45 ns, tRAS 30 ns, tRP = tRCDRD = tWR = 15 ns, tRCDWR 9 ns, tRRD 4 ns, tFAW 16 ns, tWTRS 5 ns, tWTRL
//   6 ns, tRFC 120 ns; tCCDS 2 and tCCDL 3 clocks, tREFI 1.9 us after JESD250. CL 24 and CWL 6 are mode registers'.
// hbm2: JESD235A, one pseudo channel of 64 bits at 2 Gb/s, CK 1 GHz: tCCDL 3 and tCCDS 2 clocks, tREFI 3.9 us, tRFC
//   260 ns (4 Gb per channel). The standard leaves core timing to vendors: the figures are what published
//   models of 2 Gb/s stacks agree on (tRCDRD 12, tRCDWR 6, tRP 14, tRAS 28, tWR 14, tRRD 4 and 6, tFAW 16, tWTR 4 and
//   9). Row commands (R[5:0]) and column commands (C[7:0]) have separate buses; ACT is the one command of two clocks.
// gddr6-16: Samsung K4ZAF325BM-HC16 (16 Gb, 16 Gb/s, CK 2 GHz): times of K4Z80325BC-HC14 above, to which vendors hold
//   core timing at all data rates of a generation, in clocks of 0.5 ns. tCCDL 4 clocks above 14 Gb/s (Micron
//   MT61K512M32 lists 3 and 4). CL 28 and CWL 7 are mode registers', 14 ns and 3.5 ns as at 14 Gb/s.
// gddr6x: Micron MT61K256M32 (GDDR6X), 21 Gb/s by four levels (84 GB/s for 32 bits, Micron's announcement of 2020): 32
//   bytes of a 16-bit channel are 8 symbols of 2 bits, one clock of CK = 21 GHz / 16 (boards show 1219 MHz for 19.5
//   Gb/s). Micron leaves its timing unpublished: the times in ns are those of gddr6, tCCDS one clock.
// hbm2e: JESD235C, one channel of two pseudo channels of 64 bits at 3.2 Gb/s, CK 1.6 GHz: tCCDS 2 clocks, tCCDL 2.5 ns,
//   tREFI 3.9 us, tRFC 350 ns (8 Gb per pseudo channel). The standard leaves core timing to vendors: that of hbm2 in
//   ns, as published models take it too, to the next clock.
// hbm3: JESD238A, one channel of two pseudo channels of 32 bits at 5.2 Gb/s, CK 1.3 GHz (data four times a clock): BL
//   8, tCCDS 2 and tCCDL 4 clocks, tREFI 3.9 us, tRFC 350 ns (8 Gb). Core timing as Ramulator 2 has it at 5.2 Gb/s,
//   which it derives from the times of HBM2: tRCD = tRP = CL 14.6 ns, tRAS 34.6 ns, tRC 48.5 ns, tWR 16.2 ns, tRTP 6
//   clocks, tRRD 2 and 4 clocks, tFAW 30 ns, tWTR 8 and 11 clocks, CWL 6. tRC is tRAS + tRP here.
//
// tRTW is not a figure of data sheets but follows: CL + burst + 2 - CWL, and more where the bus has to turn round
// (hbm2).
// clang-format off
const Preset kPresets[] = {
    {"ddr4-2400", {.tck_ps = 833, .pseudo_channels = 1,
                   .bank_groups = 4, .burst_bytes = 64, .burst = 4, .cl = 17, .cwl = 12,
                   .trcd_rd = 17, .trcd_wr = 17, .trp = 17, .tras = 39, .trc = 56, .tccd_s = 4, .tccd_l = 6,
                   .trrd_s = 4, .trrd_l = 6, .tfaw = 26, .twr = 18, .twtr_s = 3, .twtr_l = 9, .trtp = 9, .trtw = 11,
                   .trefi = 9363, .trfc = 421, .refresh = true}},
    {"gddr5",     {.tck_ps = 1000, .pseudo_channels = 1,
                   .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 12, .cwl = 4,
                   .trcd_rd = 12, .trcd_wr = 12, .trp = 12, .tras = 28, .trc = 40, .tccd_s = 2, .tccd_l = 3,
                   .trrd_s = 6, .trrd_l = 6, .tfaw = 23, .twr = 12, .twtr_s = 5, .twtr_l = 5, .trtp = 2, .trtw = 12,
                   .trefi = 1953, .trfc = 65, .refresh = true}},
    {"gddr6",     {.tck_ps = 571, .pseudo_channels = 1,
                   .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 24, .cwl = 6,
                   .trcd_rd = 27, .trcd_wr = 16, .trp = 27, .tras = 53, .trc = 79, .tccd_s = 2, .tccd_l = 3,
                   .trrd_s = 7, .trrd_l = 7, .tfaw = 28, .twr = 27, .twtr_s = 9, .twtr_l = 11, .trtp = 4, .trtw = 22,
                   .trefi = 3327, .trfc = 211, .refresh = true}},
    {"hbm2",      {.tck_ps = 1000, .pseudo_channels = 1,
                   .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 18, .cwl = 7,
                   .trcd_rd = 12, .trcd_wr = 6, .trp = 14, .tras = 28, .trc = 42, .tccd_s = 2, .tccd_l = 3,
                   .trrd_s = 4, .trrd_l = 6, .tfaw = 16, .twr = 14, .twtr_s = 4, .twtr_l = 9, .trtp = 5, .trtw = 18,
                   .trefi = 3900, .trfc = 260, .refresh = true},
                  {.separate = true, .activate_clocks = 2}},
    {"gddr6-16",  {.tck_ps = 500, .pseudo_channels = 1,
                   .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 28, .cwl = 7,
                   .trcd_rd = 30, .trcd_wr = 18, .trp = 30, .tras = 60, .trc = 90, .tccd_s = 2, .tccd_l = 4,
                   .trrd_s = 8, .trrd_l = 8, .tfaw = 32, .twr = 30, .twtr_s = 10, .twtr_l = 12, .trtp = 4, .trtw = 25,
                   .trefi = 3800, .trfc = 240, .refresh = true}},
    {"gddr6x",    {.tck_ps = 762, .pseudo_channels = 1,
                   .bank_groups = 4, .burst_bytes = 32, .burst = 1, .cl = 18, .cwl = 5,
                   .trcd_rd = 20, .trcd_wr = 12, .trp = 20, .tras = 40, .trc = 60, .tccd_s = 1, .tccd_l = 3,
                   .trrd_s = 6, .trrd_l = 6, .tfaw = 21, .twr = 20, .twtr_s = 7, .twtr_l = 8, .trtp = 3, .trtw = 16,
                   .trefi = 2493, .trfc = 158, .refresh = true}},
    {"hbm2e",     {.tck_ps = 625, .pseudo_channels = 2,
                   .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 29, .cwl = 12,
                   .trcd_rd = 20, .trcd_wr = 10, .trp = 23, .tras = 45, .trc = 68, .tccd_s = 2, .tccd_l = 4,
                   .trrd_s = 7, .trrd_l = 10, .tfaw = 26, .twr = 23, .twtr_s = 7, .twtr_l = 15, .trtp = 8, .trtw = 21,
                   .trefi = 6240, .trfc = 560, .refresh = true},
                  {.separate = true, .activate_clocks = 2}},
    {"hbm3",      {.tck_ps = 769, .pseudo_channels = 2,
                   .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 19, .cwl = 6,
                   .trcd_rd = 19, .trcd_wr = 19, .trp = 19, .tras = 45, .trc = 64, .tccd_s = 2, .tccd_l = 4,
                   .trrd_s = 2, .trrd_l = 4, .tfaw = 39, .twr = 21, .twtr_s = 8, .twtr_l = 11, .trtp = 6, .trtw = 17,
                   .trefi = 5070, .trfc = 455, .refresh = true},
                  {.separate = true, .activate_clocks = 2}},
};
// clang-format on

}  // namespace

std::vector<std::string> jedec_presets() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) {
    names.emplace_back(preset.name);
  }
  return names;
}

Limits dram_presets() {
  return Limits::one_of(jedec_presets());
}

CommandBuses command_buses(const DramParameters& parameters) {
  for (const Preset& preset : kPresets) {
    if (parameters.preset == preset.name) {
      return preset.buses;
    }
  }
  throw InternalError("there is no DRAM preset '" + parameters.preset + "'");
}

JedecParameters resolve_jedec(const DramParameters& parameters) {
  for (const Preset& preset : kPresets) {
    if (parameters.preset != preset.name) {
      continue;
    }
    JedecParameters result = parameters.jedec;
    const auto take = [](unsigned& field, unsigned figure) { field = field != 0 ? field : figure; };
    take(result.tck_ps, preset.figures.tck_ps);
    take(result.pseudo_channels, preset.figures.pseudo_channels);
    take(result.bank_groups, preset.figures.bank_groups);
    take(result.burst_bytes, preset.figures.burst_bytes);
    std::vector<unsigned> figures;
    JedecParameters::describe_clocks(
        preset.figures, [&](std::string_view, unsigned figure, std::string_view) { figures.push_back(figure); });
    std::size_t next = 0;
    JedecParameters::describe_clocks(
        result, [&](std::string_view, unsigned& field, std::string_view) { take(field, figures[next++]); });
    return result;
  }
  throw InternalError("there is no DRAM preset '" + parameters.preset + "'");
}

double peak_bandwidth_gbs(const JedecParameters& figures) {
  const double clocks = std::max(figures.burst, figures.tccd_s);
  return figures.pseudo_channels * figures.burst_bytes * 1000.0 / (clocks * figures.tck_ps);
}

}  // namespace heddle::hw
