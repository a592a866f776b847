// From claims to the runs to do: every distinct run once, with the key under which its result is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "studies/reproduce/results.hpp"

namespace heddle::studies {

struct PlannedRun {
  Run run;             // as the first claim asked
  double scale = 1;    // that it runs at
  std::string key;     // all that its result depends on, as text; equal keys are one run
  std::string folder;  // name below the runs' folder: readable, and a digest of the key without the build
  // The run's text with the scale that it runs at.
  [[nodiscard]] std::string name() const {
    return Run{run.config, run.settings, run.workload, scale, run.timeline, run.energy, run.series}.text();
  }
  std::string refusal;  // why its machine or workload does not exist; such a run is not started
};

struct Scaling {
  double factor = 1;  // times each run's scale
  bool full = false;  // every run at scale 1
  [[nodiscard]] double of(const Run& run) const { return full ? 1.0 : run.scale * factor; }
};

struct Plan {
  std::vector<PlannedRun> runs;                // in order of first request
  std::map<std::string, std::size_t> by_text;  // Run::text() to index into runs
};

// `build` names the program that runs (program_digest): its results are of no use to another.
[[nodiscard]] Plan plan_runs(const std::vector<Run>& wanted, const Scaling& scaling, const std::string& build);

// What a run's result depends on: machine parameter by parameter, workload, scale, seed, pointers, program.
[[nodiscard]] std::string run_key(const hw::Machine& machine, const std::string& workload, double scale,
                                  const std::string& build, std::uint64_t seed = 1, unsigned address_bits = 32);

// The two parts of a key: the program that runs, and everything else (which starts with a line's end).
struct RunKeyParts {
  std::string_view build;
  std::string_view rest;
};
[[nodiscard]] RunKeyParts parts_of_key(std::string_view key);

// Version and a digest of this very program's file: another build may give other results. Throws InternalError.
[[nodiscard]] std::string program_build();

// FNV-1a, 64 bits, as 16 hexadecimal digits.
[[nodiscard]] std::string digest(std::string_view text);

}  // namespace heddle::studies
