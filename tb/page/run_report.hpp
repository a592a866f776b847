// The page about one run (heddle run --report): what it came to, over time, per core, warp and lane, and per line of
// the kernels' source. docs/report.md describes it and the data that it holds.
#pragma once

#include <string>

#include "base/statistics.hpp"
#include "tb/measure/record.hpp"
#include "tb/profile/profile.hpp"

namespace heddle::tb {

// {"kind": "report", "command": how the run was called, "stats": stats.json, "profile": ..., "declarations": ...}. A
// function of the run's input alone.
[[nodiscard]] std::string run_report_data(const RunRecord& record, const StatisticsRegistry& modules,
                                          const Profile& profile);
[[nodiscard]] std::string run_report(const RunRecord& record, const StatisticsRegistry& modules,
                                     const Profile& profile);

}  // namespace heddle::tb
