// Several runs side by side (heddle compare): their figures, and why the others take more or fewer cycles than the
// first.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/pages/compare/explain.hpp"
#include "tb/measure/recorded_value.hpp"

namespace heddle::pages {

// What an energy table made of a run.
struct ComparedEnergy {
  struct Kind {
    std::string name;
    double pj = 0;
    double leakage_pj = 0;  // of that
  };
  std::string table;
  double pj = 0;
  double average_mw = 0;
  double delay_product = 0;  // pJ ns
  std::vector<Kind> kinds;
  std::vector<std::pair<std::string, double>> parts;  // of the GPU ("gpu.core0") with all modules in them, pJ
};
// None: the run was not priced. Throws InputError.
[[nodiscard]] std::optional<ComparedEnergy> read_compared_energy(const tb::RecordedValue& stats);

struct ComparedRun {
  std::string label;  // "A", "B", ... "Z", "R27"
  std::string path;   // as named by the user
  std::string workload;
  bool complete = false;
  std::string stop_reason;
  hw::Machine machine;
  tb::Summary summary;
  boost::json::object stats;
  std::optional<ComparedEnergy> energy;
  std::vector<std::pair<std::string, std::uint64_t>> replay;  // of heddle dram: the counters of its trace; else empty

  // Of memory channels driven alone: there are no cores whose cycles could be explained.
  [[nodiscard]] bool of_channels() const { return !replay.empty(); }
};

// `paths`: output folders of `heddle run` or all of `heddle dram`, or stats.json files, two at least. Throws
// InputError.
[[nodiscard]] std::vector<ComparedRun> read_compared_runs(const std::vector<std::string>& paths);

// How many times as fast `to` is as `from`, in time: machines may have clocks of their own. 0: one took no cycle.
[[nodiscard]] double speed_up(const ComparedRun& from, const ComparedRun& to);

// A parameter in which the runs' machines are not the same (of channels: one that matters to them): its values as text,
// one per run.
struct ParameterDifference {
  std::string key;
  std::vector<std::string> values;
};
[[nodiscard]] std::vector<ParameterDifference> parameter_differences(const std::vector<ComparedRun>& runs);

// The energies side by side; empty: no run was priced.
[[nodiscard]] std::string compare_energy_text(const std::vector<ComparedRun>& runs);
[[nodiscard]] std::string compare_text(const std::vector<ComparedRun>& runs);
// {"kind": "compare", ...}; docs/report.md describes it.
[[nodiscard]] std::string compare_data(const std::vector<ComparedRun>& runs, const std::string& command);
// `command`: how the comparison was called. Throws InputError for channels: the page draws what cores do.
[[nodiscard]] std::string compare_page(const std::vector<ComparedRun>& runs, const std::string& command);

}  // namespace heddle::pages
