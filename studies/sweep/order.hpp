// One run of a sweep: what to run, under which limits, in a process of its own, and what came of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hw/parameters/machine.hpp"
#include "os/process/child_process.hpp"
#include "os/process/descriptor.hpp"
#include "studies/sweep/exploration.hpp"
#include "tb/measure/host_cost.hpp"

namespace heddle::studies::sweep {

struct RunOrder {
  hw::Machine machine;
  std::string workload;
  double scale = 1;
  std::uint64_t seed = 1;
  unsigned address_bits = 32;
  std::uint64_t max_cycles = 0;
  std::string energy;                // file of the energy table by which the run is priced; empty: it is not
  std::optional<double> celsius;     // the temperature of the machine; none: the table's
  std::uint64_t power_interval = 0;  // cycles, with `energy`: of the intervals whose largest power is looked for
  std::string energy_text;           // that table, as it was when the sweep was planned
  // The PTX of a LAUNCH.toml's kernels, compiled when the sweep was planned. Null: of another workload.
  std::shared_ptr<const std::string> ptx;
};

// How a run ended, as the database has it.
namespace status {
inline constexpr std::string_view kDone = "done";        // ran to its end, result correct
inline constexpr std::string_view kWrong = "wrong";      // ran to its end, result wrong
inline constexpr std::string_view kFault = "fault";      // the simulated program failed
inline constexpr std::string_view kStopped = "stopped";  // reached max_cycles
inline constexpr std::string_view kRefused = "refused";  // the machine contradicts itself or cannot run the workload
inline constexpr std::string_view kTimeout = "timeout";  // reached the limit of wall or CPU seconds
inline constexpr std::string_view kMemory = "memory";    // reached the limit of memory
inline constexpr std::string_view kCrashed = "crashed";  // the process died or Heddle reported an internal error
inline constexpr std::array kAll = {kDone, kWrong, kFault, kStopped, kRefused, kTimeout, kMemory, kCrashed};
}  // namespace status

// Whether another try may end in another way: what depends on the host.
[[nodiscard]] bool may_retry(std::string_view status);

struct RunReport {
  std::string status;
  std::string message;       // one line; empty for done
  std::string stats;         // what stats.json would hold; empty when the run left none
  tb::HostCost cost;         // zero when the run left none
  std::string host;          // name of the machine that ran it, when that is another one
  bool interrupted = false;  // ended by SIGINT, SIGTERM or SIGHUP: as if it had not run
};

// Files without a name into which a run's process writes: its report, and what it prints.
struct RunOutput {
  RunOutput();  // throws InternalError
  os::Descriptor report;
  os::Descriptor log;
};

// Starts a copy of this very process, which has no second thread and no elaborated SystemC design, and runs there. The
// child dies with its parent. Throws InternalError when there can be no process.
[[nodiscard]] os::ChildProcess start_run(const RunOrder& order, const RunLimits& limits, const RunOutput& output);

// What the process left, from how it ended and its files.
[[nodiscard]] RunReport read_report(const os::ProcessEnd& end, const RunLimits& limits, const RunOutput& output);

// A report as text and back: one line of JSON, then the statistics. Throws InputError (at `place`) for another text.
[[nodiscard]] std::string report_text(const RunReport& report);
[[nodiscard]] RunReport parse_report(std::string_view text, const std::string& place);

}  // namespace heddle::studies::sweep
