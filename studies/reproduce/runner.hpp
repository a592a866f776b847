// Does the planned runs in child processes and keeps their results, so that an interrupted reproduction goes on where
// it stopped.
//
// Below the folder: runs/<workload>-<machine>-<digest>/ with key.txt, stats.json, host.json, run.log and, for runs that
// ask for one, timeline.json and series.json. A folder holds a result when its key.txt is the run's key and its
// stats.json is complete and correct. Another build's result is replaced, or taken where RunnerOptions::any_build says
// so.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "studies/reproduce/plan.hpp"
#include "tb/measure/record.hpp"

namespace heddle::studies {

struct RunnerOptions {
  std::string directory;
  unsigned jobs = 1;
  bool any_build = false;  // take results of other builds too, for verdicts and pages made anew
  std::function<void(const std::string&)> progress;  // one line, when something changed
  const std::atomic<int>* stop = nullptr;            // a signal's number ends the runs in an orderly way
};

struct KeptRun {
  tb::RunFiles files;
  std::string build;                         // that measured it (program_build)
  std::optional<tb::BankTimeline> timeline;  // where the run asked for one
  std::optional<RunSeries> series = {};      // likewise
};

struct DoneRun {
  std::optional<KeptRun> kept;  // absent: failed
  std::string failure;          // why, one line
  bool reused = false;          // was there already
};

// One per planned run, in order. Throws InputError when the folder cannot be used, also when another reproduction is
// writing to it.
[[nodiscard]] std::vector<DoneRun> do_runs(const Plan& plan, const RunnerOptions& options);

// The result kept for a run, if it is there; of the build in the run's key, or of any.
[[nodiscard]] std::optional<KeptRun> kept_result(const std::string& directory, const PlannedRun& run,
                                                 bool any_build = false);

// The files of all results that are kept in the folder.
[[nodiscard]] std::vector<std::string> kept_files(const std::string& directory);

}  // namespace heddle::studies
