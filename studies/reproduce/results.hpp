// Runs that claims ask for, and what came of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "studies/reproduce/run_series.hpp"
#include "tb/measure/dram/bank_timeline.hpp"
#include "tb/measure/record.hpp"
#include "tb/measure/summary.hpp"

namespace heddle::studies {

// A machine under test: a configuration with changes, as on the command line.
struct Variant {
  std::string label;  // in figures: "LWM-256"
  std::string config;
  std::vector<std::string> settings;  // "core.warp_size=64"
  std::string energy = {};            // the energy table by which its runs are priced; none: they are not
};

struct Run {
  std::string config;
  std::vector<std::string> settings;
  std::string workload;
  double scale = 1;  // of the default reproduction; 1 is the paper's input
  struct Window {
    std::uint64_t begin = 0, cycles = 0;
  };
  std::optional<Window> timeline = {};     // what the banks do in these cycles
  std::string energy = {};                 // as Variant::energy
  bool series = false;                     // what it did over time and over its grid is wanted, to be drawn
  [[nodiscard]] std::string text() const;  // "baseline core.warp_size=64 bfs at 0.1": names the run, unique
};

// A workload as a study uses it.
struct StudyWorkload {
  std::string name;
  double scale = 1;  // of the default reproduction
};

[[nodiscard]] Run run_of(const Variant& variant, const StudyWorkload& workload);
[[nodiscard]] std::vector<Run> runs_of(const std::vector<Variant>& variants,
                                       const std::vector<StudyWorkload>& workloads);

// What the runs measured, looked up by what was asked for.
class Results {
 public:
  struct Entry {
    tb::Summary summary;
    double scale = 1;                               // that it really ran at
    std::optional<tb::BankTimeline> timeline = {};  // where the run asked for one
    std::optional<tb::RecordedEnergy> energy = {};  // likewise
    std::optional<RunSeries> series = {};           // likewise
  };
  // How far the runs' scales were from the default: the runner ran run.scale * scale_factor, or 1 throughout.
  void add(const Run& run, tb::Summary summary, double scale, std::optional<tb::BankTimeline> timeline = {},
           std::optional<tb::RecordedEnergy> energy = {}, std::optional<RunSeries> series = {}) {
    entries_[run.text()] = {std::move(summary), scale, std::move(timeline), std::move(energy), std::move(series)};
  }
  [[nodiscard]] const Entry* find(const Run& run) const;

 private:
  std::map<std::string, Entry> entries_;
};

// Positive numbers; 1 for none.
[[nodiscard]] double geometric_mean(const std::vector<double>& values);

}  // namespace heddle::studies
