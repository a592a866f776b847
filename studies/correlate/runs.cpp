// Runs of whole programs on a machine, as measurements.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "studies/correlate/correlation.hpp"
#include "tb/measure/record.hpp"
#include "tb/measure/recorded_value.hpp"

namespace heddle::studies {
namespace {

namespace fs = std::filesystem;

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

// Of a static kernel clang's name says that it is one, and nvcc's does not.
std::string name_of(const std::string& kernel) {
  constexpr std::string_view kStatic = "_ZL";
  return kernel.starts_with(kStatic) ? "_Z" + kernel.substr(kStatic.size()) : kernel;
}

// `summary`: of the run.
void add_kernels(Measurements& to, const fs::path& run, const tb::RecordedValue& launches,
                 const boost::json::object& summary) {
  struct Launches {
    double cycles = 0;
    std::size_t count = 0;
  };
  std::map<std::string, Launches> kernels;
  for (const tb::RecordedValue& launch : launches.entries()) {
    const double cycles = launch.at("cycles").number();
    if (launch.at("complete").flag() && cycles != 0) {  // 0: computed by the interpreter (--sample, --from-launch)
      Launches& of = kernels[name_of(launch.at("kernel").text())];
      of.cycles += cycles;
      ++of.count;
    }
  }
  for (const auto& [kernel, of] : kernels) {
    Measurements::Row& row = to.rows.emplace_back();
    row.name = fmt::format("{}/{}", run.filename().string(), kernel);
    row.unit = "cycles per launch";
    row.status = "measured";
    row.value = of.cycles / static_cast<double>(of.count);
    row.has_value = true;
    if (kernels.size() == 1) {
      row.counters = summary;
    }
  }
}

}  // namespace

Measurements read_runs(const std::string& folder) {
  Measurements out;
  out.path = folder;
  out.campaign = kPrograms;
  for (const fs::path& run : runs_in(folder)) {
    const std::string path = tb::stats_path(run.string());
    const boost::json::value record = tb::read_stats(path);
    const tb::RecordedValue stats(record, path);
    const tb::RecordedValue machine = stats.at("machine");
    const std::string name = machine.at("name").text();
    const double mhz = 1000 * machine.at("parameters").at("gpu").at("clock_ghz").number();
    if (out.device.empty()) {
      out.device = name;
      out.clock_mhz = mhz;
    } else if (out.device != name || out.clock_mhz != mhz) {
      throw InputError({run.string()},
                       fmt::format("this run is of {} at {} MHz, those before of {} at {} MHz", name, mhz, out.device,
                                   out.clock_mhz),
                       "keep runs of different machines in different folders");
    }
    if (stats.has("launches")) {
      static_cast<void>(stats.at("summary").keys());  // an object
      add_kernels(out, run, stats.at("launches"), record.at("summary").as_object());
    }
  }
  return out;
}

}  // namespace heddle::studies
