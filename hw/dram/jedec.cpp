#include "hw/dram/jedec.hpp"

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
//
// tRTW is not a figure of data sheets but follows: CL + burst + 2 - CWL, and more where the bus has to turn round
// (hbm2).
// clang-format off
const Preset kPresets[] = {
    {"ddr4-2400", {.tck_ps = 833, .bank_groups = 4, .burst_bytes = 64, .burst = 4, .cl = 17, .cwl = 12,
                   .trcd_rd = 17, .trcd_wr = 17, .trp = 17, .tras = 39, .trc = 56, .tccd_s = 4, .tccd_l = 6,
                   .trrd_s = 4, .trrd_l = 6, .tfaw = 26, .twr = 18, .twtr_s = 3, .twtr_l = 9, .trtp = 9, .trtw = 11,
                   .trefi = 9363, .trfc = 421, .refresh = true}},
    {"gddr5",     {.tck_ps = 1000, .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 12, .cwl = 4,
                   .trcd_rd = 12, .trcd_wr = 12, .trp = 12, .tras = 28, .trc = 40, .tccd_s = 2, .tccd_l = 3,
                   .trrd_s = 6, .trrd_l = 6, .tfaw = 23, .twr = 12, .twtr_s = 5, .twtr_l = 5, .trtp = 2, .trtw = 12,
                   .trefi = 1953, .trfc = 65, .refresh = true}},
    {"gddr6",     {.tck_ps = 571, .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 24, .cwl = 6,
                   .trcd_rd = 27, .trcd_wr = 16, .trp = 27, .tras = 53, .trc = 79, .tccd_s = 2, .tccd_l = 3,
                   .trrd_s = 7, .trrd_l = 7, .tfaw = 28, .twr = 27, .twtr_s = 9, .twtr_l = 11, .trtp = 4, .trtw = 22,
                   .trefi = 3327, .trfc = 211, .refresh = true}},
    {"hbm2",      {.tck_ps = 1000, .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 18, .cwl = 7,
                   .trcd_rd = 12, .trcd_wr = 6, .trp = 14, .tras = 28, .trc = 42, .tccd_s = 2, .tccd_l = 3,
                   .trrd_s = 4, .trrd_l = 6, .tfaw = 16, .twr = 14, .twtr_s = 4, .twtr_l = 9, .trtp = 5, .trtw = 18,
                   .trefi = 3900, .trfc = 260, .refresh = true},
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

}  // namespace heddle::hw
