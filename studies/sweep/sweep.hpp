// A sweep: does the runs of an exploration that its database lacks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "studies/sweep/launcher.hpp"

namespace heddle::studies::sweep {

struct SweepOptions {
  std::string exploration;                           // path
  std::string database;                              // path
  double scale = 1;                                  // times every point's
  bool resume = false;                               // add to a database that holds other sweeps only
  bool retry = false;                                // run again what crashed or met a limit
  std::function<void(const std::string&)> progress;  // one line, a few times per second
  const std::atomic<int>* stop = nullptr;
};

struct SweepResult {
  std::string database;
  std::uint64_t runs = 0;                          // of the plan, each point and repetition
  std::uint64_t kept = 0;                          // were in the database
  std::uint64_t ran = 0;                           // this time, refused ones too
  std::uint64_t missing = 0;                       // not run: the sweep was stopped
  std::map<std::string, std::uint64_t> by_status;  // of all that are there now
  std::string refusal;                             // of the first point that was refused; empty: none was
  double wall_seconds = 0;
  double run_seconds = 0;             // wall time within the runs of this time, summed
  double simulation_cpu_seconds = 0;  // processor time of the runs, inside launches
};

// Throws InputError.
[[nodiscard]] SweepResult sweep(const SweepOptions& options, Launcher& launcher);

}  // namespace heddle::studies::sweep
