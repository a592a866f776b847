// What a run leaves behind: stats.json (a function of the input alone, byte-identical for identical input) and
// host.json (what the run cost the host). Schema: docs/statistics.md.
#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "hw/parameters/machine.hpp"
#include "isa/fault.hpp"
#include "tb/device/fast_forward.hpp"
#include "tb/device/launch_warps.hpp"
#include "tb/device/workload.hpp"
#include "tb/measure/energy/energy.hpp"
#include "tb/measure/energy/power.hpp"
#include "tb/measure/host_cost.hpp"
#include "tb/measure/recorded_value.hpp"
#include "tb/measure/summary.hpp"
#include "tb/session/launch_summary.hpp"

namespace heddle::tb {

inline constexpr int kStatisticsSchema = 2;

// What was run and how it ended.
struct RunRecord {
  hw::Machine machine;
  std::string command;          // that makes this run again, for its page; empty: not known
  std::string workload;         // a workload's name, or a LAUNCH.toml as named on the command line
  std::uint64_t threads = 0;    // of the largest launch
  std::optional<double> scale;  // workloads only
  std::optional<std::uint64_t> seed;
  unsigned address_bits = 32;
  WarpSizes warp_sizes;                      // kernels whose launches had another warp size than machine.core.warp_size
  bool complete = false;                     // every launch ran to its end
  std::string stop_reason;                   // why not complete: limit, interrupt, fault message
  std::vector<isa::StrayLoads> stray_loads;  // Device::stray_loads()
  std::optional<Verdict> verdict;            // absent: the result was not checked
  Summary summary;
  std::optional<LaunchSelection> selection;      // if some launches were to be interpreted: which have been
  std::optional<Energy> energy;                  // if it was asked for by a table
  std::optional<Power> power;                    // over time, if it was asked for
  bool power_in_statistics = false;              // stats.json has what it comes to
  bool device_used = true;                       // false: a CUDA program has made no call that came to the run
  std::vector<session::LaunchSummary> launches;  // of a CUDA program (heddle exec), in the order of its calls
};

// What a run cost the host, among a JSON object's other keys. cost_of throws InputError for what is missing.
void put_cost(boost::json::object& object, const HostCost& cost);
[[nodiscard]] HostCost cost_of(const RecordedValue& object);

// `modules`: every module's own counters, by hierarchical name in order of registration.
[[nodiscard]] std::string stats_json(const RunRecord& record, const StatisticsRegistry& modules);
[[nodiscard]] std::string host_json(const HostCost& cost, const Summary& summary);

inline const std::vector<std::string> kRunFiles = {"stats.json", "host.json"};

// Writes DIR/stats.json and DIR/host.json, each whole or not at all; makes DIR. Throws InputError.
void write_run(const std::string& directory, const RunRecord& record, const StatisticsRegistry& modules,
               const HostCost& cost);

// Of a run that was priced by an energy table (tb/measure/energy), what its stats.json says of all of it.
struct RecordedEnergy {
  double pj = 0;
  double nanoseconds = 0;
};

// What the demonstration and the reports read back. Throws InputError when the file is missing or of another schema.
struct RunFiles {
  std::string workload;
  std::uint64_t threads = 0;
  bool complete = false;
  std::string stop_reason;
  std::optional<Verdict> verdict;
  Summary summary;
  HostCost cost;
  std::optional<RecordedEnergy> energy;
};
[[nodiscard]] RunFiles read_run(const std::string& directory);

// The stats.json that is meant by its own name or by that of its folder.
[[nodiscard]] std::string stats_path(const std::string& file_or_folder);
// A stats.json as it is. Throws InputError when the file is missing, is no JSON, holds no run's statistics, or is of
// another schema.
[[nodiscard]] boost::json::value read_stats(const std::string& path);
// The parts of one. Throw InputError naming the field that is not what a stats.json holds.
[[nodiscard]] Summary summary_of(const RecordedValue& stats);
[[nodiscard]] hw::Machine machine_of(const RecordedValue& stats);

}  // namespace heddle::tb
