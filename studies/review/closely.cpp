// The part of a review that looks at one workload closely: where the pipelines of two machines part.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>
#include <string_view>

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

// The rows of the first core, of several sub-cores of the first one, without the word for it.
std::vector<LoggedSubWarp> of_first_core(const std::vector<LoggedSubWarp>& log) {
  std::vector<LoggedSubWarp> out;
  for (LoggedSubWarp row : log) {
    for (const std::string_view core : {"c0 ", "c0.0 "}) {
      if (row.label.starts_with(core)) {
        row.label.erase(0, core.size());
        out.push_back(std::move(row));
        break;
      }
    }
  }
  return out;
}

// The cycle in which the first sub-warp begins; 0: there is none.
std::uint64_t start_of(const std::vector<LoggedSubWarp>& log) {
  return log.empty() ? 0 : log.front().begin();
}

// As if it had begun so much earlier.
void begin_earlier(std::vector<LoggedSubWarp>& log, std::int64_t cycles) {
  for (LoggedSubWarp& row : log) {
    for (LoggedStage& stage : row.stages) {
      stage.begin -= static_cast<std::uint64_t>(cycles);
      stage.end -= static_cast<std::uint64_t>(cycles);
    }
  }
}

// Sub-warps that are on their way between two cycles: what begins before the difference first, then what begins after.
json::array rows_of(const std::vector<LoggedSubWarp>& log, std::uint64_t from, std::uint64_t to, std::uint64_t part) {
  std::vector<const LoggedSubWarp*> seen;
  for (const LoggedSubWarp& row : log) {
    if (row.begin() < to && row.end() > from) {
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

// A signal's name within the first core, or the first of its sub-cores; empty: it is of another one.
std::string in_first_core(const std::string& path) {
  const std::string core = "gpu.core0.";
  const std::string sub_core = core + "sub0.";
  if (path.starts_with(sub_core)) {
    return core + path.substr(sub_core.size());
  }
  return path.starts_with(core) && !path.starts_with(core + "sub") ? path : "";
}

// Signals of the first core that are one value, not one for each lane or row.
// `later`: cycles that are taken off.
Waves waves_of(const std::string& path, const hw::Machine& machine, std::int64_t later) {
  const VcdValues values = read_vcd(path);
  const hw::GpuWaves waves(machine);
  std::map<std::string, const link::Signal*> declared;
  for (const link::Signal& signal : waves.catalogue().signals()) {
    declared[signal.path()] = &signal;
  }
  // SystemC keeps time in whole picoseconds.
  const std::uint64_t period =
      1'000 * std::max<std::uint64_t>(1, static_cast<std::uint64_t>(1'000.0 / machine.gpu.clock_ghz + 0.5));
  Waves out;
  for (const VcdSignal& signal : values.signals) {
    const auto found = declared.find(signal.path);
    const bool many = signal.path.find("lane") != std::string::npos || signal.path.find("row") != std::string::npos;
    const std::string name = in_first_core(signal.path);
    if (found == declared.end() || name.empty() || many) {
      continue;
    }
    json::array changes;
    for (const auto& [time, digits] : signal.changes) {
      changes.push_back(json::array{static_cast<std::int64_t>(time * values.unit / period) - later,
                                    value_text(digits, found->second->type)});
    }
    // What is not known when the window begins is no change.
    const auto is_known = [](const auto& change) { return change.second != "x"; };
    if (std::count_if(signal.changes.begin(), signal.changes.end(), is_known) > 1) {
      out.moving.insert(name);
    }
    out.by_name[name] =
        json::object{{"width", signal.width}, {"meaning", found->second->meaning}, {"changes", std::move(changes)}};
  }
  return out;
}

}  // namespace

json::value review_closely(const ReviewRun& base, const ReviewRun& design, ReviewRunner& runner) {
  std::vector<ReviewRun> looks = {base, design};
  for (ReviewRun& one : looks) {
    one.energy = {};
  }
  std::vector<std::vector<LoggedSubWarp>> logs;
  std::optional<std::uint64_t> part;
  // Launches take their time. The design's cycles are counted as if its first instruction came when the base's does.
  std::int64_t later = 0;
  const auto folders = [&] {
    std::vector<std::string> all;
    for (const ReviewRunDone& one : runner.run(looks)) {
      if (!one.failure.empty()) {
        throw InputError({}, fmt::format("{} cannot be looked at closely: {}", base.subject.name, one.failure));
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
      logs.push_back(of_first_core(read_kanata(folder + "/pipeline.kanata")));
    }
    if (std::any_of(logs.begin(), logs.end(), [](const auto& log) { return log.empty(); })) {
      continue;  // one has not begun
    }
    later = static_cast<std::int64_t>(start_of(logs[1])) - static_cast<std::int64_t>(start_of(logs[0]));
    begin_earlier(logs[1], later);
    part = first_difference(logs[0], logs[1]);
  }
  if (!part) {
    return nullptr;
  }
  const std::uint64_t from = *part - std::min(*part, kBefore);
  const std::uint64_t to = from + kShown;
  for (ReviewRun& one : looks) {
    const std::int64_t off = &one == &looks[0] ? 0 : later;
    one.from = static_cast<std::uint64_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(from) + off));
    one.until = static_cast<std::uint64_t>(static_cast<std::int64_t>(to) + off);
    one.waves = kGroups;
  }
  std::vector<Waves> waves;
  std::set<std::string> moving;
  const std::vector<std::string> in = folders();
  for (std::size_t i = 0; i != looks.size(); ++i) {
    waves.push_back(waves_of(in[i] + "/waves.vcd", looks[i].machine, i == 0 ? 0 : later));
    moving.insert(waves.back().moving.begin(), waves.back().moving.end());
  }
  // Those of the base in its order, then those of the design alone.
  std::vector<std::string> names;
  for (const Waves& one : waves) {
    for (const auto& signal : one.by_name) {
      const std::string name(signal.key());
      if (moving.count(name) != 0 && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  json::array signals;
  for (const std::string& name : names) {
    if (signals.size() == kMostSignals) {
      break;
    }
    json::array both;
    json::object shown{{"name", name}};
    for (auto one = waves.rbegin(); one != waves.rend(); ++one) {
      const json::value* const signal = one->by_name.if_contains(name);
      both.insert(both.begin(), signal == nullptr ? json::value(nullptr) : signal->at("changes"));
      if (signal != nullptr) {  // the base's words, where it has the signal
        shown["width"] = signal->at("width");
        shown["meaning"] = signal->at("meaning");
      }
    }
    shown["changes"] = std::move(both);
    signals.push_back(std::move(shown));
  }
  return json::object{{"workload", base.subject.name},
                      {"machines", json::array{base.machine.name, design.machine.name}},
                      {"cycle", *part},
                      {"later", later},
                      {"from", from},
                      {"to", to},
                      {"pipelines", json::array{rows_of(logs[0], from, to, *part), rows_of(logs[1], from, to, *part)}},
                      {"signals", std::move(signals)}};
}

}  // namespace heddle::studies
