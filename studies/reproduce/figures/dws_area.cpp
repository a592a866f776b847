// dws-area: the storage of the warp-split table (DWS report 5.6).
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hw/divergence/dws.hpp"
#include "studies/reproduce/figures/dws_study.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/cost/cost.hpp"

namespace heddle::studies::dws {
namespace {

Finding judge_warp_split_storage(const Results&) {
  Finding finding;
  const Variant variant = scheme("DWS.ReviveSplit", "dws-revive-bypass");
  tb::StorageCost cost;
  hw::Machine machine;
  try {
    machine = tb::read_machine(variant.config, variant.settings);
    cost = tb::storage_cost(machine);
  } catch (const InputError&) {  // without the machine's file nothing is measured
    return finding;
  }
  const auto& own = machine.core.policies.of<hw::DwsParameters>();
  ValueTable table{"Storage of " + variant.config, {"what", "bits", "source"}, {}};
  std::uint64_t bits = 0;
  for (const hw::CostLine& line : cost.lines) {
    if (line.kind == hw::CostLine::Kind::present) {
      continue;
    }
    bits += line.name == "warp-split table" ? line.bits : 0;
    table.rows.push_back({line.name, line.formula, line.source});
  }
  const std::uint64_t storage = 8 * (machine.l1d.bytes + machine.icache.bytes) + cost.register_file_bits;
  const double share = static_cast<double>(bits) / static_cast<double>(storage);
  finding.ours = fmt::format("{} bits each; {:.2f} %", bits / own.entries, 100 * share);
  finding.checks.push_back(main_check("an entry has 84 bits", fmt::format("{} bits in {} entries", bits, own.entries),
                                      bits == std::uint64_t{84} * own.entries));
  finding.checks.push_back(main_check("16 entries are less than 1 % of the caches and the register file",
                                      fmt::format("{:.2f} %", 100 * share), own.entries == 16 && share < 0.01));
  finding.tables.push_back(std::move(table));
  return finding;
}

const std::vector<ClaimRow>& warp_split_storage_rows() {
  static const std::vector<ClaimRow> all = {
      {"dws-area",
       "Storage of the warp-split table",
       {.rank = 4070,
        .statement = "An entry of the warp-split table has 84 bits (16 of mask, 2 of warp, 64 of PC, 2 of status); "
                     "16 entries are less than 1 % of the storage of a core with a D-cache of 32 KB and an I-cache "
                     "of 16 KB",
        .paper = "84 bits each; below 1 %",
        .source = "DWS report, section 5.6",
        .caveat = "The storage is that of both caches' data and the register file, without tags: the smaller it is "
                  "taken, the larger the table's share."},
       no_runs,
       judge_warp_split_storage}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> warp_split_storage_entry{warp_split_storage_rows()};

}  // namespace
}  // namespace heddle::studies::dws
