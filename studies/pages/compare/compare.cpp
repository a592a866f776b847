#include "studies/pages/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/error.hpp"
#include "base/parameter.hpp"
#include "tb/measure/dram/dram_replay.hpp"
#include "tb/measure/record.hpp"

namespace heddle::pages {
namespace {

std::string label_of(std::size_t index) {
  return index < 26 ? std::string(1, static_cast<char>('A' + index)) : fmt::format("R{}", index + 1);
}

ComparedRun read_one(const std::string& path, std::size_t index) {
  const std::string file = tb::stats_path(path);
  ComparedRun run;
  run.label = label_of(index);
  run.path = path;
  const boost::json::value whole = tb::read_stats(file);
  const tb::RecordedValue stats(whole, file);
  run.summary = tb::summary_of(stats);
  run.machine = tb::machine_of(stats);
  run.workload = stats.at("workload").text();
  run.complete = stats.at("complete").flag();
  run.stop_reason = stats.at("stop_reason").text();
  static_cast<void>(stats.at("threads").count());
  run.energy = read_compared_energy(stats);
  if (const tb::RecordedValue modules = stats.at("modules"); modules.has(tb::DramReplay::kTraceModule)) {
    const tb::RecordedValue trace = modules.at(tb::DramReplay::kTraceModule);
    const auto take = [&](const char* name, std::uint64_t, const char*, const char*) {
      run.replay.emplace_back(name, trace.at(name).count());
    };
    tb::ReplayStatistics().describe(take);
  }
  run.stats = whole.get_object();
  if (run.summary.fu_active_cycles.empty() || run.summary.fu_active_cycles.front() != run.summary.idle_cycles) {
    throw InputError({file},
                     "does not hold a run: 'summary.fu_active_cycles' and 'summary.idle_cycles' contradict each other");
  }
  return run;
}

// Whether a memory channel driven alone depends on a parameter: on its own parameters, and on what makes its clock and
// its lines.
bool concerns_channels(const std::string& key) {
  constexpr std::string_view kOthers[] = {"gpu.clock_ghz", "l1d.line_bytes", "l2.enabled", "l2.line_bytes"};
  return key.starts_with("dram.") || key.starts_with("jedec.") ||
         std::find(std::begin(kOthers), std::end(kOthers), key) != std::end(kOthers);
}

}  // namespace

std::vector<ComparedRun> read_compared_runs(const std::vector<std::string>& paths) {
  std::vector<ComparedRun> runs;
  runs.reserve(paths.size());
  for (const std::string& path : paths) {
    runs.push_back(read_one(path, runs.size()));
    const ComparedRun& first = runs.front();
    if (runs.back().of_channels() != first.of_channels()) {
      const auto kind = [](const ComparedRun& run) {
        return run.of_channels() ? "memory channels alone (heddle dram)" : "a whole machine (heddle run)";
      };
      throw InputError({path}, fmt::format("is of {}, '{}' of {}", kind(runs.back()), first.path, kind(first)),
                       "compare those of one command");
    }
  }
  return runs;
}

double speed_up(const ComparedRun& from, const ComparedRun& to) {
  const auto own = static_cast<double>(to.summary.cycles) / to.machine.gpu.clock_ghz;
  const auto ours = static_cast<double>(from.summary.cycles) / from.machine.gpu.clock_ghz;
  return own == 0 ? 0 : ours / own;
}

std::vector<ParameterDifference> parameter_differences(const std::vector<ComparedRun>& runs) {
  std::vector<ParameterDifference> out;
  for (const ComparedRun& run : runs) {
    hw::Machine machine = run.machine;  // describe() takes a mutable machine
    const std::vector<ParameterReference> parameters = parameters_of(machine);
    out.resize(parameters.size());
    for (std::size_t i = 0; i != parameters.size(); ++i) {
      out[i].key = parameters[i].path();
      out[i].values.push_back(parameters[i].value_text());
    }
  }
  const bool channels = !runs.empty() && runs.front().of_channels();
  std::erase_if(out, [&](const ParameterDifference& one) {
    return (channels && !concerns_channels(one.key)) ||
           std::all_of(one.values.begin(), one.values.end(),
                       [&](const std::string& value) { return value == one.values.front(); });
  });
  return out;
}

}  // namespace heddle::pages
