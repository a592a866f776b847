// Claims put to made-up results.
#pragma once

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"

namespace heddle::studies {

inline bool sets(const studies::Run& run, const std::string& setting) {
  return std::find(run.settings.begin(), run.settings.end(), setting) != run.settings.end();
}

// What a claim says of runs that all do the same work; `speedup`: of a run over 10 instructions per cycle.
inline Finding made_up_finding(const std::string& claim_id, const std::function<double(const studies::Run&)>& speedup) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make(claim_id, {});
  Results results;
  for (const studies::Run& run : claim->runs()) {
    tb::Summary summary;
    summary.ipc = 10 * speedup(run);
    summary.cycles = static_cast<std::uint64_t>(1e6 / summary.ipc);
    summary.fu_active_cycles = {500, 500};
    summary.lanes_per_warp_instruction = 20;
    results.add(run, summary, run.scale, {}, tb::RecordedEnergy{1e6 / summary.ipc, 1e3});
  }
  return claim->judge(results);
}

inline const ValueTable& table_of(const Finding& finding, const std::string& first_words) {
  for (const ValueTable& table : finding.tables) {
    if (table.caption.starts_with(first_words)) {
      return table;
    }
  }
  throw std::runtime_error("no table " + first_words);
}

// Its first row that begins so; empty: none does.
inline std::vector<std::string> row_of(const ValueTable& table, const std::string& first) {
  for (const std::vector<std::string>& row : table.rows) {
    if (row.front() == first) {
      return row;
    }
  }
  return {};
}

}  // namespace heddle::studies
