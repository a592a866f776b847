#include "tb/measure/energy/power_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/output_file.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/measure/json_text.hpp"
#include "tb/measure/number_texts.hpp"
#include "tb/measure/record.hpp"
#include "tb/measure/version.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

constexpr double kMilli = 1e-3;             // pJ per ns are mW
constexpr std::size_t kLongestNumber = 24;  // of a double's shortest forms

double watts(double pj, double nanoseconds) {
  return kMilli * pj / nanoseconds;
}

// Of each interval.
std::vector<double> durations(const Power& power) {
  std::vector<double> nanoseconds(power.intervals());
  for (std::size_t at = 0; at != nanoseconds.size(); ++at) {
    nanoseconds[at] = power.nanoseconds_of(at);
  }
  return nanoseconds;
}

template <class PjOf>
json::array watts_over_time(const std::vector<double>& nanoseconds, const PjOf& pj_of) {
  json::array row;
  row.reserve(nanoseconds.size());
  for (std::size_t at = 0; at != nanoseconds.size(); ++at) {
    row.emplace_back(watts(pj_of(at), nanoseconds[at]));
  }
  return row;
}

// Energies of all modules of a kind by step of `joined` intervals, in the order of the modules.
using EnergyOfKinds = std::vector<std::pair<std::string, std::vector<double>>>;

EnergyOfKinds by_kind(const Power& power, std::size_t joined = 1) {
  EnergyOfKinds kinds;
  for (const Power::Module& module : power.modules) {
    auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& one) { return one.first == module.kind; });
    if (kind == kinds.end()) {
      kind = kinds.insert(kind, {module.kind, std::vector<double>((power.intervals() + joined - 1) / joined)});
    }
    for (std::size_t at = 0; at != power.intervals(); ++at) {
      kind->second[at / joined] += module.pj[at];
    }
  }
  return kinds;
}

}  // namespace

json::array kernels_json(const Power& power) {
  json::array kernels;
  for (const Power::Kernel& kernel : power.kernels) {
    kernels.push_back(json::object{
        {"kernel", kernel.name}, {"launches", kernel.launches}, {"cycles", kernel.cycles}, {"pj", kernel.pj}});
  }
  return kernels;
}

std::string power_trace(const Power& power) {
  std::string out;
  for (const Power::Module& module : power.modules) {
    out += fmt::format("{}{}", out.empty() ? "" : "\t", module.name);
  }
  out += '\n';
  // The shortest that reads back exactly, and a tab.
  NumberTexts texts([](char* at, double number) {
    char* const end = std::to_chars(at, at + kLongestNumber, number).ptr;
    *end = '\t';
    return end + 1;
  });
  std::vector<const double*> pj;  // of each module, by interval
  for (const Power::Module& module : power.modules) {
    pj.push_back(module.pj.data());
  }
  const std::vector<double> nanoseconds = durations(power);
  std::vector<char> line(pj.size() * texts.kLongest);
  for (std::size_t at = 0; at != nanoseconds.size() && !pj.empty(); ++at) {
    char* end_of_line = line.data();
    for (const double* const of_module : pj) {
      const std::string_view text = texts.of(watts(of_module[at], nanoseconds[at]));
      std::memcpy(end_of_line, text.data(), texts.kLongest);  // what is too much is written over
      end_of_line += text.size();
    }
    end_of_line[-1] = '\n';
    out.append(line.data(), static_cast<std::size_t>(end_of_line - line.data()));
  }
  return out;
}

std::string power_json(const RunRecord& record) {
  const Power& power = *record.power;
  const Energy& energy = *record.energy;
  const std::vector<double> nanoseconds = durations(power);
  json::object modules;
  for (const Power::Module& module : power.modules) {
    modules[module.name] =
        json::object{{"kind", module.kind},
                     {"leakage", kMilli * module.leakage_mw},
                     {"power", watts_over_time(nanoseconds, [&](std::size_t at) { return module.pj[at]; })}};
  }
  json::object kinds;
  for (const auto& [kind, pj] : by_kind(power)) {
    kinds[kind] = watts_over_time(nanoseconds, [&, &pj = pj](std::size_t at) { return pj[at]; });
  }
  json::value celsius;  // null: leakage does not go by it
  if (energy.leakage) {
    celsius = energy.leakage->celsius;
  }
  return json_text(json::object{{"heddle", version()},
                                {"command", record.command},
                                {"machine", record.machine.name},
                                {"workload", record.workload},
                                {"table", energy.table},
                                {"celsius", std::move(celsius)},
                                {"unit", "W"},
                                {"clock_ghz", power.clock_ghz},
                                {"interval_cycles", power.interval},
                                {"interval_seconds", 1e-9 * static_cast<double>(power.interval) / power.clock_ghz},
                                {"cycles", power.cycles},
                                {"pj", energy.pj},
                                {"mean", kMilli * energy.average_mw},
                                {"peak", kMilli * power.peak_mw()},
                                {"power", watts_over_time(nanoseconds, [&](std::size_t at) { return power.pj(at); })},
                                {"kinds", std::move(kinds)},
                                {"modules", std::move(modules)},
                                {"kernels", kernels_json(power)}});
}

json::object power_steps_json(const Power& power) {
  const std::size_t joined = (power.intervals() + PowerSteps::kMostJoined - 1) / PowerSteps::kMostJoined;
  const std::uint64_t step = power.interval * std::max<std::size_t>(joined, 1);
  json::object kinds;
  for (const auto& [kind, pj] : by_kind(power, std::max<std::size_t>(joined, 1))) {
    json::array row;
    for (std::size_t at = 0; at != pj.size(); ++at) {
      const std::uint64_t cycles = std::min(power.cycles, (at + 1) * step) - at * step;
      row.emplace_back(pj[at] / static_cast<double>(cycles) * power.clock_ghz);
    }
    kinds[kind] = std::move(row);
  }
  return {{"interval_cycles", step},
          {"peak_mw", power.peak_mw()},
          {"peak_cycles", power.interval},
          {"kinds", std::move(kinds)},
          {"kernels", kernels_json(power)}};
}

PowerFile::PowerFile(std::string path) : path_(std::move(path)) {
  const bool fits = path_.ends_with(".csv") || path_.ends_with(".ptrace") || path_.ends_with(".json");
  if (!path_.empty() && !fits) {
    throw InputError({"--power"},
                     fmt::format("'{}' does not say which form power shall have: it does not end in .csv, .ptrace or "
                                 ".json",
                                 excerpt(path_)),
                     "FILE.csv and FILE.ptrace are lines of watts as HotSpot reads them, FILE.json has all figures");
  }
}

void PowerFile::check() const {
  os::check_writable(path_);
}

void PowerFile::make(const RunRecord& record, const StatisticsRegistry& /*modules*/) {
  os::write_file(path_, path_.ends_with(".json") ? power_json(record) : power_trace(*record.power));
}

}  // namespace heddle::tb
