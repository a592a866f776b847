// The reference of the signals that waves show (docs/signals.md).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/parameter.hpp"
#include "base/text.hpp"
#include "hw/check/machine.hpp"
#include "hw/schedule/two_level.hpp"
#include "hw/waves/gpu_waves.hpp"
#include "studies/pages/report/module_groups.hpp"
#include "studies/pages/report/reference.hpp"

namespace heddle::pages {
namespace {

struct Row {
  link::SignalGroup group;
  std::string pattern;
  link::SignalType type;
  std::string meaning;
  std::size_t signals = 0;  // in the machine
};

// Signals that differ by number only are one row.
void add_rows(const hw::Machine& machine, std::vector<Row>& rows, std::map<std::string, std::size_t>& places) {
  const hw::GpuWaves waves(machine);
  const std::size_t known = rows.size();
  for (const link::Signal& signal : waves.catalogue().signals()) {
    const std::string pattern = module_pattern(signal.path());
    const auto [place, is_new] = places.emplace(pattern, rows.size());
    if (is_new) {
      rows.push_back({signal.group, pattern, signal.type, signal.meaning});
    }
    if (place->second >= known) {
      Row& row = rows[place->second];
      ++row.signals;
      row.type.width = std::max(row.type.width, signal.type.width);
    }
  }
}

std::string type_text(const link::SignalType& type) {
  std::string text(link::name_of(type.kind));
  if (type.enumeration != nullptr) {
    text += " " + type.enumeration->name;
  }
  return text;
}

// Machines whose signals come from several choices together: the defaults with an L2, coherent caches, large warps
// under two-level scheduling, a perfect register file, thread block compaction under the adaptive scheduler, dynamic
// warps, splits, lanes that execute each for themselves and ask for lines together, warps of the whole grid, register
// banks with ports, accesses that wait in a memory queue, constant caches.
std::vector<hw::Machine> combinations() {
  hw::Machine plain;
  plain.l2.enabled = true;
  hw::Machine coherent = plain;
  coherent.l2.inclusive = true;
  coherent.gpu.coherence = "mesi";
  hw::Machine large = plain;
  large.core.warp_size = 256;
  large.core.former = "packed";
  large.core.scheduler = "two-level";
  large.core.policies.of<hw::TwoLevelParameters>().fetch_group = 1;
  hw::Machine freely = large;
  freely.core.former = "packed-freely";
  hw::Machine compaction = plain;
  compaction.core.divergence = "tbc";
  compaction.core.scheduler = "two-level-adaptive";
  hw::Machine dynamic = plain;
  dynamic.core.divergence = "dwf";
  hw::Machine subdivided = plain;
  subdivided.core.divergence = "dws";
  hw::Machine each_lane = plain;
  each_lane.core.divergence = "mimd";
  each_lane.core.coalescer = "whole-warp";
  hw::Machine grid = plain;
  grid.core.divergence = "odgs";
  hw::Machine banked = plain;
  banked.registers.banks = 2;
  hw::Machine queueing = plain;
  queueing.lsu.queue = 5;
  queueing.bulk_copy.queue = 4;
  hw::Machine constants = plain;
  constants.constant_cache.bytes = 2048;
  return {plain,      coherent,  large, freely, compaction, dynamic,
          subdivided, each_lane, grid,  banked, queueing,   constants};
}

// Every policy that is registered, each on the first of those machines that can have it: signals that only it has are
// among those of all machines too.
std::vector<hw::Machine> all_kinds() {
  std::vector<hw::Machine> kinds = combinations();
  const std::size_t count = kinds.size();
  hw::Machine described = kinds.front();
  for (const ParameterReference& chooser : parameters_of(described)) {
    if (!chooser.limits.sections) {
      continue;  // names no policy
    }
    const std::string key = chooser.path();
    for (const std::string& policy : chooser.limits.choices()) {
      for (std::size_t at = 0; at != count; ++at) {
        hw::Machine machine = kinds[at];
        for (const ParameterReference& parameter : parameters_of(machine)) {
          if (parameter.path() == key) {
            *std::get<std::string*>(parameter.field) = policy;
          }
        }
        if (hw::check(machine).empty()) {
          kinds.push_back(machine);
          break;
        }
      }
    }
  }
  return kinds;
}

constexpr const char* kIntroduction =
    R"(# Signals

Made by `heddle list signals --markdown` from the declarations in [hw/waves](../hw/waves); a test compares this file
with it. `heddle run ... --vcd FILE` records them; see [Looking at waves](user-guide.md#looking-at-waves).

`<n>` stands for a number. Which signals there are, and how wide they are, depends on the machine: the widths here are
those of the default parameters, of a large-warp machine (256 threads a warp) for what only large warps have, and of
machines with coherent caches, thread block compaction, dynamic warps, splits, MIMD lanes, warps of the whole grid and
register banks, memory queues and constant caches for theirs. `heddle list signals CONFIG` says what a machine has.

A stage's `warp`, `pc`, `opcode`, masks and rows belong to the cycles in which its `valid` is 1 and keep their value in
between. Values are x until they are first known. A signal has a value in the cycle in which the module did it; what a
stage hands on is at work in the next stage one cycle later.
)";

}  // namespace

std::string signals_text(const hw::Machine& machine) {
  std::vector<Row> rows;
  std::map<std::string, std::size_t> places;
  add_rows(machine, rows, places);
  std::string out = fmt::format("Signals of the machine {}\n", machine.name.empty() ? "default" : machine.name);
  for (std::size_t group = 0; group < link::kSignalGroups.size(); ++group) {
    bool first = true;
    for (const Row& row : rows) {
      if (row.group != static_cast<link::SignalGroup>(group)) {
        continue;
      }
      if (first) {
        out += fmt::format("\n{}: {}\n", link::kSignalGroups[group].name, link::kSignalGroups[group].meaning);
        first = false;
      }
      out +=
          fmt::format("  {}   [{}, {}{}]\n      {}\n", row.pattern, type_text(row.type), counted(row.type.width, "bit"),
                      row.signals > 1 ? fmt::format(", x {}", row.signals) : "", wrapped(row.meaning, 90, 6));
    }
  }
  return out;
}

std::string signals_markdown() {
  std::vector<Row> rows;
  std::map<std::string, std::size_t> places;
  for (const hw::Machine& machine : all_kinds()) {
    add_rows(machine, rows, places);
  }
  std::string out = kIntroduction;
  std::map<std::string, const link::Enumeration*> enumerations;
  for (std::size_t group = 0; group < link::kSignalGroups.size(); ++group) {
    std::vector<std::vector<std::string>> table;
    for (const Row& row : rows) {
      if (row.group == static_cast<link::SignalGroup>(group)) {
        table.push_back({"`" + row.pattern + "`", fmt::format("{}", row.type.width), type_text(row.type), row.meaning});
        if (row.type.enumeration != nullptr) {
          enumerations.emplace(row.type.enumeration->name, row.type.enumeration);
        }
      }
    }
    out += fmt::format("\n## Group `{}`\n\nWhat it shows: {}.\n\n", link::kSignalGroups[group].name,
                       link::kSignalGroups[group].meaning) +
           markdown_table({"signal", "bits", "kind", "meaning"}, table);
  }
  out += "\n## Enumerations\n\nA recording has a translate file for each, so that GTKWave shows the names.\n\n";
  std::vector<std::vector<std::string>> table;
  for (const auto& [name, enumeration] : enumerations) {
    std::string values = "the operations of the [instruction set](isa.md) by mnemonic; `invalid`";
    if (name != "opcode") {
      values.clear();
      for (std::size_t value = 0; value < enumeration->values.size(); ++value) {
        values += fmt::format("{}{} `{}`", value == 0 ? "" : ", ", value, enumeration->values[value]);
      }
    }
    table.push_back({name, values});
  }
  return out + markdown_table({"enumeration", "values"}, table);
}

}  // namespace heddle::pages
