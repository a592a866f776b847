// lwm-storage: the storage that large warps add (LWM report 3.3, thesis 4.5).
#include <fmt/format.h>

#include "base/error.hpp"
#include "studies/reproduce/figures/lwm_study.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/cost/cost.hpp"

namespace heddle::studies::lwm {
namespace {

namespace large_warp_storage {

void judge_machine(Finding& finding, const Variant& variant, std::uint64_t paper_bits) {
  tb::StorageCost cost;
  try {
    cost = tb::storage_cost(tb::read_machine(variant.config, variant.settings));
  } catch (const InputError&) {  // without the machine's file nothing is measured
    return;
  }
  const std::uint64_t bits = cost.bits(hw::CostLine::Kind::counted);
  const std::string measured =
      fmt::format("{} bits = {} bytes, {:.2f} % of the register file", bits, bits / 8,
                  100.0 * static_cast<double>(bits) / static_cast<double>(cost.register_file_bits));
  finding.ours += fmt::format("{}{} bytes ({})", finding.ours.empty() ? "" : "; ", bits / 8, variant.config);
  finding.checks.push_back(
      main_check(fmt::format("{} adds {} bits", variant.config, paper_bits), measured, bits == paper_bits));
  ValueTable table{"Storage of " + variant.config, {"what", "bits", "source"}, {}};
  for (const hw::CostLine& line : cost.lines) {
    if (line.kind != hw::CostLine::Kind::present) {
      table.rows.push_back({line.name, line.formula, line.source});
    }
  }
  finding.tables.push_back(std::move(table));
}

Finding judge(const Results&) {
  Finding finding;
  judge_machine(finding, large(), 768);
  judge_machine(finding, thesis_large(), 1792);
  return finding;
}

}  // namespace large_warp_storage

const std::vector<ClaimRow>& large_warp_storage_rows() {
  static const std::vector<ClaimRow> all = {
      {"lwm-storage",
       "Storage of large warps",
       {.rank = 1200,
        .statement = "Large warps of 256 threads add a copy of the mask and two temporary masks, 256 + 512 bits (96 "
                     "bytes); with relaxed re-fetch an interlock bit per thread, 256 + 512 + 1024 bits (224 bytes)",
        .paper = "96 bytes (report); 224 bytes (thesis)",
        .source = "LWM report, section 3.3; thesis, section 4.5",
        .note = ""},
       no_runs,
       large_warp_storage::judge}};
  return all;
}

const RegisterRows<RowClaim, ClaimRow> large_warp_storage_entry{large_warp_storage_rows()};

}  // namespace
}  // namespace heddle::studies::lwm
