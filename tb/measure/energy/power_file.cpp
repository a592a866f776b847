#include "tb/measure/energy/power_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cstring>
#include <span>
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

constexpr double kMilli = 1e-3;                    // pJ per ns are mW
constexpr std::size_t kWrittenAtOnce = 64 * 1024;  // bytes, and at most a line more
constexpr std::size_t kLongestNumber = 24;         // of a double's shortest forms

double watts(double pj, double nanoseconds) {
  return kMilli * pj / nanoseconds;
}

template <class PjOf>
std::vector<double> watts_over_time(const Power& power, const PjOf& pj_of) {
  std::vector<double> row(power.intervals());
  for (std::size_t at = 0; at != row.size(); ++at) {
    row[at] = watts(pj_of(at), power.nanoseconds_of(at));
  }
  return row;
}

// Watts over time of the modules from `first` on, as many as there are: a row of the host's cache has that many.
constexpr std::size_t kColumnsAtOnce = 8;

void take_columns(const Power& power, std::size_t first, std::array<std::vector<double>, kColumnsAtOnce>& columns) {
  const std::size_t count = std::min(kColumnsAtOnce, power.modules.size() - first);
  for (std::size_t i = 0; i != count; ++i) {
    columns[i].resize(power.intervals());
  }
  for (std::size_t at = 0; at != power.intervals(); ++at) {
    const double nanoseconds = power.nanoseconds_of(at);
    const std::span<const double> row = power.row(at).subspan(first, count);
    for (std::size_t i = 0; i != count; ++i) {
      columns[i][at] = watts(row[i], nanoseconds);
    }
  }
}

// Energies of all modules of a kind by step of `joined` intervals, in the order of the modules.
using EnergyOfKinds = std::vector<std::pair<std::string, std::vector<double>>>;

EnergyOfKinds by_kind(const Power& power, std::size_t joined = 1) {
  EnergyOfKinds kinds;
  std::vector<std::size_t> kind_of;  // each module
  for (const Power::Module& module : power.modules) {
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& one) { return one.first == module.kind; });
    kind_of.push_back(static_cast<std::size_t>(kind - kinds.begin()));
    if (kind == kinds.end()) {
      kinds.emplace_back(module.kind, std::vector<double>((power.intervals() + joined - 1) / joined));
    }
  }
  for (std::size_t at = 0; at != power.intervals(); ++at) {
    const std::span<const double> row = power.row(at);
    for (std::size_t i = 0; i != row.size(); ++i) {
      kinds[kind_of[i]].second[at / joined] += row[i];
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

void power_trace(const Power& power, ByteSink& out) {
  if (power.modules.empty()) {
    out.write("\n");
    return;
  }
  std::string names;
  for (const Power::Module& module : power.modules) {
    names += module.name + '\t';
  }
  names.back() = '\n';
  out.write(names);
  // The shortest that reads back exactly, and a tab.
  NumberTexts texts([](char* at, double number) {
    char* const end = std::to_chars(at, at + kLongestNumber, number).ptr;
    *end = '\t';
    return end + 1;
  });
  const std::size_t longest = power.modules.size() * texts.kLongest;  // line
  std::vector<char> lines(kWrittenAtOnce + longest);
  char* end = lines.data();
  for (std::size_t at = 0; at != power.intervals(); ++at) {
    const double nanoseconds = power.nanoseconds_of(at);
    for (const double pj : power.row(at)) {
      const std::string_view text = texts.of(watts(pj, nanoseconds));
      std::memcpy(end, text.data(), texts.kLongest);  // what is too much is written over
      end += text.size();
    }
    end[-1] = '\n';
    if (const auto size = static_cast<std::size_t>(end - lines.data());
        size > kWrittenAtOnce || at + 1 == power.intervals()) {
      out.write({lines.data(), size});
      end = lines.data();
    }
  }
}

void power_json(const RunRecord& record, ByteSink& out) {
  const Power& power = *record.power;
  const Energy& energy = *record.energy;
  JsonObjectText text(out);
  text.member("heddle", json::string(version()));
  text.member("command", json::string(record.command));
  text.member("machine", json::string(record.machine.name));
  text.member("workload", json::string(record.workload));
  text.member("table", json::string(energy.table));
  // Null: leakage does not go by it.
  text.member("celsius", energy.leakage ? json::value(energy.leakage->celsius) : json::value());
  text.member("unit", "W");
  text.member("clock_ghz", power.clock_ghz);
  text.member("interval_cycles", power.interval);
  text.member("interval_seconds", 1e-9 * static_cast<double>(power.interval) / power.clock_ghz);
  text.member("cycles", power.cycles);
  text.member("pj", energy.pj);
  text.member("mean", kMilli * energy.average_mw);
  text.member("peak", kMilli * power.peak_mw());
  text.member("power", watts_over_time(power, [&](std::size_t at) { return power.pj(at); }));
  text.open("kinds");
  for (const auto& [kind, pj] : by_kind(power)) {
    text.member(kind, watts_over_time(power, [&, &pj = pj](std::size_t at) { return pj[at]; }));
  }
  text.close();
  text.open("modules");
  std::array<std::vector<double>, kColumnsAtOnce> columns;
  for (std::size_t i = 0; i != power.modules.size(); ++i) {
    if (i % kColumnsAtOnce == 0) {
      take_columns(power, i, columns);
    }
    const Power::Module& module = power.modules[i];
    text.open(module.name);
    text.member("kind", json::string(module.kind));
    text.member("leakage", kMilli * module.leakage_mw);
    text.member("power", columns[i % kColumnsAtOnce]);
    text.close();
  }
  text.close();
  text.member("kernels", kernels_json(power));
  text.close();
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
  os::OutputFile out(path_);
  if (path_.ends_with(".json")) {
    power_json(record, out);
  } else {
    power_trace(*record.power, out);
  }
  out.commit();
}

}  // namespace heddle::tb
