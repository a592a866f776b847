// The part of a review that looks at one workload closely: where the pipelines of two machines part.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "base/error.hpp"
#include "hw/waves/gpu_waves.hpp"
#include "studies/review/kanata_log.hpp"
#include "studies/review/parts.hpp"
#include "studies/review/vcd_values.hpp"

namespace heddle::studies {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kFirstLook = 4'000;  // cycles; doubled until the logs differ
constexpr std::uint64_t kLongestLook = 256'000;
constexpr std::uint64_t kBefore = 12;  // cycles shown before the first difference
constexpr std::uint64_t kShown = 48;   // in all
constexpr std::size_t kMostRows = 28;
constexpr std::size_t kMostSignals = 22;
// Groups of signals of a core that fit into a picture.
constexpr const char* kGroups = "fetch,decode,subwarp,execute,memory,writeback";

// Sub-warps that are on their way between two cycles: what begins before the difference first, then what begins after.
json::array rows_of(const std::vector<LoggedSubWarp>& log, std::uint64_t from, std::uint64_t to, std::uint64_t part) {
  std::vector<const LoggedSubWarp*> seen;
  for (const LoggedSubWarp& row : log) {
    if (row.begin() < to && row.end() > from && row.label.starts_with("c0 ")) {
      seen.push_back(&row);
    }
  }
  // Of too many, those nearest to the difference.
  if (seen.size() > kMostRows) {
    const auto distance = [&](const LoggedSubWarp* row) {
      return row->begin() > part ? row->begin() - part : row->end() < part ? part - row->end() : 0;
    };
    std::vector<const LoggedSubWarp*> near = seen;
    std::stable_sort(near.begin(), near.end(), [&](auto* a, auto* b) { return distance(a) < distance(b); });
    near.resize(kMostRows);
    const std::set<const LoggedSubWarp*> kept(near.begin(), near.end());
    std::erase_if(seen, [&](const LoggedSubWarp* row) { return kept.count(row) == 0; });
  }
  json::array rows;
  for (const LoggedSubWarp* const row : seen) {
    json::array stages;
    for (const LoggedStage& stage : row->stages) {
      if (stage.begin < to && stage.end > from) {
        stages.push_back(json::array{stage.name, stage.begin, stage.end});
      }
    }
    rows.push_back(json::object{{"label", row->label}, {"waits", row->waits}, {"stages", std::move(stages)}});
  }
  return rows;
}

std::string value_text(const std::string& digits, const link::SignalType& type) {
  if (digits.find_first_not_of("01") != std::string::npos) {
    return "x";
  }
  std::uint64_t value = 0;
  for (const char digit : digits) {
    value = 2 * value + static_cast<std::uint64_t>(digit - '0');
  }
  if (type.kind == link::SignalKind::enumeration) {
    return value < type.enumeration->values.size() ? type.enumeration->values[value] : std::to_string(value);
  }
  return type.kind == link::SignalKind::mask || type.kind == link::SignalKind::address ? fmt::format("{:x}", value)
                                                                                       : std::to_string(value);
}

struct Waves {
  json::object by_name;  // {"width", "changes": [[cycle, text]...]}
  std::set<std::string> moving;
};

// Signals of the first core that are one value, not one for each lane or row.
Waves waves_of(const std::string& path, const hw::Machine& machine) {
  const VcdValues values = read_vcd(path);
  const hw::GpuWaves waves(machine);
  std::map<std::string, const link::Signal*> declared;
  for (const link::Signal& signal : waves.catalogue().signals()) {
    declared[signal.path()] = &signal;
  }
  const std::uint64_t period = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(1.0 / machine.gpu.clock_ghz + 0.5));  // of a nanosecond, as the dump counts
  Waves out;
  for (const VcdSignal& signal : values.signals) {
    const auto found = declared.find(signal.path);
    const bool many = signal.path.find("lane") != std::string::npos || signal.path.find("row") != std::string::npos;
    if (found == declared.end() || !signal.path.starts_with("gpu.core0.") || many) {
      continue;
    }
    json::array changes;
    for (const auto& [time, digits] : signal.changes) {
      changes.push_back(json::array{time / period, value_text(digits, found->second->type)});
    }
    if (signal.changes.size() > 1) {
      out.moving.insert(signal.path);
    }
    out.by_name[signal.path] =
        json::object{{"width", signal.width}, {"meaning", found->second->meaning}, {"changes", std::move(changes)}};
  }
  return out;
}

}  // namespace

json::value review_closely(const ReviewRun& base, const ReviewRun& design, ReviewRunner& runner) {
  std::vector<ReviewRun> looks = {base, design};
  for (ReviewRun& one : looks) {
    one.energy.clear();
  }
  std::vector<std::vector<LoggedSubWarp>> logs;
  std::optional<std::uint64_t> part;
  const auto folders = [&] {
    std::vector<std::string> all;
    for (const ReviewRunDone& one : runner.run(looks)) {
      if (!one.failure.empty()) {
        throw InputError({}, fmt::format("{} cannot be looked at closely: {}", base.workload, one.failure));
      }
      all.push_back(one.folder);
    }
    return all;
  };
  for (std::uint64_t cycles = kFirstLook; !part && cycles <= kLongestLook; cycles *= 4) {
    logs.clear();
    for (ReviewRun& one : looks) {
      one.until = cycles;
    }
    for (const std::string& folder : folders()) {
      logs.push_back(read_kanata(folder + "/pipeline.kanata"));
    }
    part = first_difference(logs[0], logs[1]);
  }
  if (!part) {
    return nullptr;
  }
  const std::uint64_t from = *part - std::min(*part, kBefore);
  const std::uint64_t to = from + kShown;
  for (ReviewRun& one : looks) {
    one.from = from;
    one.until = to;
    one.waves = kGroups;
  }
  std::vector<Waves> waves;
  std::set<std::string> moving;
  const std::vector<std::string> in = folders();
  for (std::size_t i = 0; i != looks.size(); ++i) {
    waves.push_back(waves_of(in[i] + "/waves.vcd", looks[i].machine));
    moving.insert(waves.back().moving.begin(), waves.back().moving.end());
  }
  json::array signals;
  for (const auto& [name, signal] : waves[0].by_name) {
    if (moving.count(name) == 0 || signals.size() == kMostSignals) {
      continue;
    }
    json::array both = {signal.at("changes")};
    const auto* const other = waves[1].by_name.if_contains(name);
    both.push_back(other == nullptr ? json::value(nullptr) : other->at("changes"));
    signals.push_back(json::object{{"name", name},
                                   {"width", signal.at("width")},
                                   {"meaning", signal.at("meaning")},
                                   {"changes", std::move(both)}});
  }
  return json::object{{"workload", base.workload},
                      {"machines", json::array{base.machine.name, design.machine.name}},
                      {"cycle", *part},
                      {"from", from},
                      {"to", to},
                      {"pipelines", json::array{rows_of(logs[0], from, to, *part), rows_of(logs[1], from, to, *part)}},
                      {"signals", std::move(signals)}};
}

}  // namespace heddle::studies
