#include "hw/dram/jedec.hpp"

#include "base/error.hpp"

namespace heddle::hw {

namespace {

struct Preset {
  const char* name;
  JedecParameters figures;
};

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
                   .trcd_rd = 26, .trcd_wr = 16, .trp = 26, .tras = 53, .trc = 79, .tccd_s = 2, .tccd_l = 3,
                   .trrd_s = 7, .trrd_l = 7, .tfaw = 28, .twr = 26, .twtr_s = 9, .twtr_l = 11, .trtp = 4, .trtw = 22,
                   .trefi = 3333, .trfc = 210, .refresh = true}},
    {"hbm2",      {.tck_ps = 1000, .bank_groups = 4, .burst_bytes = 32, .burst = 2, .cl = 18, .cwl = 7,
                   .trcd_rd = 12, .trcd_wr = 6, .trp = 14, .tras = 28, .trc = 42, .tccd_s = 2, .tccd_l = 3,
                   .trrd_s = 4, .trrd_l = 6, .tfaw = 16, .twr = 14, .twtr_s = 4, .twtr_l = 9, .trtp = 5, .trtw = 18,
                   .trefi = 3900, .trfc = 220, .refresh = true}},
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
