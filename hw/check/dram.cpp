#include "hw/check/dram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "hw/dram/jedec.hpp"
#include "hw/map/address_map.hpp"

namespace heddle::hw {

namespace {

void check_jedec(const DramParameters& dram, unsigned line_bytes, std::vector<Contradiction>& found) {
  const JedecParameters jedec = resolve_jedec(dram);
  const auto refuse = [&](const char* key, std::string message) { found.push_back({key, std::move(message)}); };
  // `least` must not be above `key`.
  const auto at_least = [&](const char* key, unsigned value, const char* what, unsigned least) {
    if (value < least) {
      refuse(key, fmt::format("{} ({}) is below {} ({})", key, value, what, least));
    }
  };
  if (!std::has_single_bit(jedec.pseudo_channels) || jedec.pseudo_channels > dram.banks) {
    refuse("jedec.pseudo_channels",
           fmt::format("jedec.pseudo_channels ({}) is no power of two up to dram.banks ({}), which are those of all "
                       "pseudo channels of a channel",
                       jedec.pseudo_channels, dram.banks));
    return;
  }
  if (jedec.pseudo_channels > 1 && std::has_single_bit(jedec.bank_groups) && jedec.bank_groups <= dram.banks &&
      jedec.pseudo_channels * jedec.bank_groups > dram.banks) {
    refuse(
        "jedec.bank_groups",
        fmt::format("jedec.bank_groups ({}) times jedec.pseudo_channels ({}) is above dram.banks ({}), which are those "
                    "of all pseudo channels of a channel",
                    jedec.bank_groups, jedec.pseudo_channels, dram.banks));
  }
  if (!std::has_single_bit(jedec.bank_groups) || jedec.bank_groups > dram.banks) {
    refuse("jedec.bank_groups", fmt::format("jedec.bank_groups ({}) is no power of two up to dram.banks ({})",
                                            jedec.bank_groups, dram.banks));
  }
  if (!std::has_single_bit(jedec.burst_bytes) || jedec.burst_bytes > line_bytes) {
    refuse("jedec.burst_bytes", fmt::format("jedec.burst_bytes ({}) is no power of two up to the line size ({})",
                                            jedec.burst_bytes, line_bytes));
  }
  at_least("jedec.tccd_s", jedec.tccd_s, "jedec.burst", jedec.burst);
  at_least("jedec.tccd_l", jedec.tccd_l, "jedec.tccd_s", jedec.tccd_s);
  at_least("jedec.trrd_l", jedec.trrd_l, "jedec.trrd_s", jedec.trrd_s);
  at_least("jedec.twtr_l", jedec.twtr_l, "jedec.twtr_s", jedec.twtr_s);
  at_least("jedec.tras", jedec.tras, "jedec.trcd_rd", jedec.trcd_rd);
  at_least("jedec.trtw", jedec.trtw + jedec.cwl, "jedec.cl + jedec.burst - jedec.cwl, in whole",
           jedec.cl + jedec.burst);
  // Every distance between commands once, and an atomic's column commands: between two refreshes there is time to open
  // a row, use it and close it, whatever went before. Else requests would wait for ever.
  std::uint64_t clocks = 0;
  JedecParameters::describe_clocks(jedec, [&](std::string_view name, unsigned field, std::string_view /*meaning*/) {
    clocks += name == "trefi" ? 0 : field;
  });
  const std::uint64_t columns = (line_bytes + jedec.burst_bytes - 1) / std::max(jedec.burst_bytes, 1U);
  clocks += 2 * columns * jedec.tccd_l;
  if (jedec.refresh && jedec.trefi <= clocks) {
    refuse("jedec.trefi",
           fmt::format("jedec.trefi ({}) leaves no time for accesses between refreshes: it is not above {}, "
                       "the sum of the other clocks of [jedec], jedec.trfc ({}) among them",
                       jedec.trefi, clocks, jedec.trfc));
  }
  if (dram.turnaround != 0) {
    refuse("dram.turnaround",
           "dram.turnaround belongs to dram.timing = \"hit-conflict\"; with \"jedec\" set jedec.trtw "
           "and jedec.twtr_s");
  }
}

}  // namespace

void check_dram(const DramParameters& dram, unsigned line_bytes, std::vector<Contradiction>& found) {
  if (dram.row_bytes < line_bytes) {
    found.push_back(
        {"dram.row_bytes", fmt::format("dram.row_bytes ({}) is smaller than a line of the cache before it ({} bytes)",
                                       dram.row_bytes, line_bytes)});
    return;
  }
  if (dram.row_conflict < dram.row_hit) {
    found.push_back({"dram.row_conflict", fmt::format("dram.row_conflict ({}) is below dram.row_hit ({})",
                                                      dram.row_conflict, dram.row_hit)});
  }
  if (dram.row_closed != 0 && (dram.row_closed < dram.row_hit || dram.row_closed > dram.row_conflict)) {
    found.push_back(
        {"dram.row_closed",
         fmt::format("dram.row_closed ({}) does not lie between dram.row_hit ({}) and dram.row_conflict ({})",
                     dram.row_closed, dram.row_hit, dram.row_conflict)});
  }
  if (dram.write_high > dram.queue) {
    found.push_back(
        {"dram.write_high", fmt::format("dram.write_high ({}) is above dram.queue ({}): it is never reached",
                                        dram.write_high, dram.queue)});
  }
  if (dram.write_low != 0 && dram.write_low >= dram.write_high) {
    found.push_back({"dram.write_low", fmt::format("dram.write_low ({}) is not below dram.write_high ({})",
                                                   dram.write_low, dram.write_high)});
  }
  std::string why;
  if (parse_mapping(dram, line_bytes, why).empty()) {
    found.push_back({"dram.mapping", "dram.mapping: " + why});
  }
  if (dram.timing == "jedec") {
    check_jedec(dram, line_bytes, found);
  }
}

std::vector<DramRemark> dram_remarks(const DramParameters& dram) {
  if (dram.timing != "jedec" || dram.write_high != 0) {
    return {};
  }
  return {{"dram.write_high", "dram.timing",
           fmt::format("the write drain is off (dram.write_high = 0): under dram.timing = jedec every change between "
                       "reads and writes turns the bus; controllers collect writes, as with dram.write_high = {} and "
                       "dram.write_low = {}",
                       std::max(1U, dram.queue / 2), dram.queue / 8)}};
}

}  // namespace heddle::hw
