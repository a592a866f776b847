// One measured run of one subject on one machine. SystemC elaborates once per process, so a process measures one run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tb/device/device.hpp"
#include "tb/measure/energy/energy.hpp"
#include "tb/measure/energy/power.hpp"
#include "tb/measure/record.hpp"
#include "tb/measure/run_product.hpp"
#include "tb/measure/subject.hpp"

namespace heddle::tb {

struct RunRequest {
  hw::Machine machine;
  std::string command;  // RunRecord::command
  std::string subject;  // a workload's name, a LAUNCH.toml's path or a recorded .trace's
  // What to run instead, if it is there: makes it from what the machine says of compiling.
  std::function<std::unique_ptr<Subject>(const WorkloadOptions&)> make_subject;
  double scale = 1.0;
  std::uint64_t seed = 1;
  unsigned address_bits = 32;
  std::optional<std::string> output_directory;   // stats.json, host.json and a LAUNCH.toml's output files
  bool check_reference = false;                  // run the reference interpreter too and compare
  std::optional<EnergyTable> energy;             // what the record's energy is made of; none: it has none
  std::optional<PowerSteps> power;               // with `energy`: the record's power over time; none: it has none
  bool keep_texts = false;                       // fill RunOutcome::stats_text
  std::vector<RunProduct*> products;             // what else is made of it, also of a run that ends early
  std::ostream* record = nullptr;                // where to record what the threads do; whole if the run is complete
  std::function<void(const std::string&)> note;  // told what a user should know, before the run begins
  DeviceOptions device;
  bool threads_chosen = false;  // device.threads is what the user has asked for: told where it cannot be so
};

// How the reference interpreter's run compares.
struct ReferenceCheck {
  bool equal = false;
  std::string detail;
};

struct RunOutcome {
  enum class Ending { finished, stopped, faulted };  // stopped: limit or interrupt (RunStopped)
  Ending ending = Ending::finished;
  RunRecord record;
  link::Cycle last_cycle = 0;  // of the clock by which windows of cycles count
  HostCost cost;
  std::optional<ReferenceCheck> reference;
  std::optional<std::string> replayed;  // of a trace: what was recorded where. Its record has no verdict
  std::string stats_text;               // what stats.json holds; empty unless asked for
  std::vector<std::string> written;     // the files of the output directory, below it
};

// Runs, measures, writes the output directory if there is one. A stop or a fault is an outcome (with the statistics so
// far), not an exception; InputError and InternalError pass through, and then nothing is written. One run at a time
// writes to an output directory: InputError for a second one.
[[nodiscard]] RunOutcome run(const RunRequest& request);

}  // namespace heddle::tb
