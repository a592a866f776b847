// Runs of whole programs on a machine, as measurements.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <map>

#include "base/error.hpp"
#include "studies/correlate/correlation.hpp"
#include "tb/measure/record.hpp"

namespace heddle::studies {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

// The folders of a folder that have a run, in the order of their names.
std::vector<fs::path> runs_in(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory() && fs::exists(tb::stats_path(entry.path().string()))) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  if (found.empty()) {
    throw InputError({folder}, "no folder in it has a run of a program",
                     "write them there: heddle exec --out FOLDER/PROGRAM -- PROGRAM");
  }
  return found;
}

void add_kernels(Measurements& to, const fs::path& run, const json::object& stats) {
  struct Launches {
    double cycles = 0;
    std::size_t count = 0;
  };
  std::map<std::string, Launches> kernels;
  for (const json::value& value : stats.at("launches").as_array()) {
    const json::object& launch = value.as_object();
    const double cycles = launch.at("cycles").to_number<double>();
    if (launch.at("complete").as_bool() && cycles != 0) {  // 0: computed by the interpreter (--sample, --from-launch)
      Launches& of = kernels[std::string(launch.at("kernel").as_string())];
      of.cycles += cycles;
      ++of.count;
    }
  }
  for (const auto& [kernel, launches] : kernels) {
    Measurements::Row& row = to.rows.emplace_back();
    row.name = fmt::format("{}/{}", run.filename().string(), kernel);
    row.unit = "cycles per launch";
    row.status = "measured";
    row.value = launches.cycles / static_cast<double>(launches.count);
    row.has_value = true;
    if (kernels.size() == 1) {
      row.counters = stats.at("summary").as_object();
    }
  }
}

}  // namespace

Measurements read_runs(const std::string& folder) {
  Measurements out;
  out.path = folder;
  out.campaign = kPrograms;
  for (const fs::path& run : runs_in(folder)) {
    const json::value record = tb::read_stats(tb::stats_path(run.string()));
    const json::object& stats = record.as_object();
    const json::object& machine = stats.at("machine").as_object();
    const std::string name(machine.at("name").as_string());
    const double mhz =
        1000 * machine.at("parameters").as_object().at("gpu").as_object().at("clock_ghz").to_number<double>();
    if (out.rows.empty()) {
      out.device = name;
      out.clock_mhz = mhz;
    } else if (out.device != name || out.clock_mhz != mhz) {
      throw InputError({run.string()},
                       fmt::format("this run is of {} at {} MHz, those before of {} at {} MHz", name, mhz, out.device,
                                   out.clock_mhz),
                       "keep runs of different machines in different folders");
    }
    if (stats.contains("launches")) {
      add_kernels(out, run, stats);
    }
  }
  return out;
}

}  // namespace heddle::studies
