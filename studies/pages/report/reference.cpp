#include "studies/pages/report/reference.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/parameter.hpp"
#include "base/text.hpp"
#include "hw/state/idle_cause.hpp"
#include "studies/pages/report/module_groups.hpp"
#include "studies/pages/report/schema.hpp"
#include "tb/measure/summary.hpp"

namespace heddle::pages {
namespace {

constexpr std::size_t kMeaningWidth = 76;

// Parameters of one section after the other: calls begin(section, meaning) and row(parameter).
template <class Begin, class Row>
void each_section(hw::Machine& machine, Begin&& begin, Row&& row) {
  std::string section;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    if (parameter.section != section) {
      section = parameter.section;
      begin(parameter);
    }
    row(parameter);
  }
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

// A terminal entry: name and unit on one line, the meaning wrapped below.
void add_entry(std::string& out, std::string_view name, std::string_view unit, std::string_view meaning) {
  out += fmt::format("  {} ({})\n      {}\n", name, unit, wrapped(meaning, kMeaningWidth, 6));
}

constexpr std::string_view kFilesText =
    R"(`heddle run --out DIR` writes two files. Each appears whole or not at all.

`DIR/stats.json` is a function of the input alone: two runs of the same input give the same bytes. Its keys, in order:

)";

constexpr std::string_view kHostText = R"(
`DIR/host.json` holds what depends on the host: `date`, `wall_seconds` and `cpu_seconds` of the run,
`simulation_wall_seconds` and `simulation_cpu_seconds` (inside launches only), `peak_memory_bytes`,
`device_memory_bytes` (device memory touched), and simulated `cycles_per_second`, `warp_instructions_per_second` and
`thread_instructions_per_second`, all per CPU second of simulation.
)";

std::string keys_table() {
  std::vector<std::vector<std::string>> rows;
  for (const FileKey& key : stats_keys()) {
    std::string names;
    for (const std::string& name : key.names) {
      names += (names.empty() ? "`" : ", `") + name + "`";
    }
    rows.push_back({names, key.meaning});
  }
  return markdown_table({"key", "meaning"}, rows);
}

}  // namespace

std::string parameters_text(hw::Machine machine) {
  std::string out;
  each_section(
      machine,
      [&](const ParameterReference& first) {
        out += fmt::format("{}[{}] {}\n", out.empty() ? "" : "\n", first.section, first.section_meaning);
      },
      [&](const ParameterReference& parameter) {
        const std::string unit = parameter.unit.empty() ? "" : " " + parameter.unit;
        out += fmt::format("  {} = {}{}   [{}]\n      {}\n", parameter.key, parameter.value_text(), unit,
                           or_dash(parameter.range_text()), wrapped(parameter.meaning, kMeaningWidth, 6));
      });
  return out;
}

std::string parameters_markdown(hw::Machine machine) {
  std::string out =
      "# Machine parameters\n\nEvery key that a machine file in `configs/` or `--set section.key=value` may set, with "
      "its "
      "default. Made by\n`heddle list parameters --markdown` from the declarations in `hw/parameters/machine.hpp`; a "
      "test compares this file with it.\n\nBesides the sections a machine file may hold `description = \"...\"` and "
      "`extends = "
      "\"name or path\"`.\n";
  std::vector<std::vector<std::string>> rows;
  const std::vector<std::string> titles = {"key", "default", "range", "unit", "meaning"};
  const auto flush = [&] {
    if (!rows.empty()) {
      out += markdown_table(titles, rows);
      rows.clear();
    }
  };
  each_section(
      machine,
      [&](const ParameterReference& first) {
        flush();
        out += fmt::format("\n## `[{}]`: {}\n\n", first.section, first.section_meaning);
      },
      [&](const ParameterReference& parameter) {
        rows.push_back({"`" + parameter.key + "`", "`" + parameter.value_text() + "`", or_dash(parameter.range_text()),
                        or_dash(parameter.unit), parameter.meaning});
      });
  flush();
  return out;
}

std::string statistics_text(const StatisticsRegistry& modules) {
  std::string out = "Summary of a run\n";
  for (const tb::SummaryDeclaration& declaration : tb::summary_declarations()) {
    add_entry(out, declaration.name, declaration.unit, declaration.definition);
  }
  out += "\nCauses of idle cycles\n";
  for (const hw::IdleCauseInfo& cause : hw::kIdleCauses) {
    add_entry(out, cause.name, "core cycles", cause.meaning);
  }
  const auto add_group = [&](const ModuleGroup& group, std::string_view title) {
    out += fmt::format("\n{}\n", title);
    for (const ModuleGroup::Counter& counter : group.counters) {
      add_entry(out, counter.name, counter.unit, counter.meaning);
    }
  };
  for (const ModuleGroup& group : module_groups(modules)) {
    add_group(group, group.pattern);
  }
  const ModuleGroup replay = replay_counters();
  add_group(replay, replay.pattern + ": heddle dram, beside the counters of its channels");
  return out;
}

std::string statistics_markdown(const StatisticsRegistry& modules) {
  std::string out =
      "# Statistics\n\nMade by `heddle list statistics --markdown` from the declarations in the code; a test compares "
      "this file with it.\n\n## Files\n\n";
  out += std::string(kFilesText) + keys_table() + std::string(kHostText);
  std::vector<std::vector<std::string>> rows;
  for (const tb::SummaryDeclaration& declaration : tb::summary_declarations()) {
    rows.push_back({"`" + declaration.name + "`", declaration.unit, declaration.definition});
  }
  out += "\n## Summary of a run\n\n" + markdown_table({"name", "unit", "definition"}, rows);
  rows.clear();
  for (const tb::SummaryDeclaration& declaration : tb::summary_declarations()) {
    if (!declaration.nsight.empty()) {
      rows.push_back({"`" + declaration.name + "`", "`" + declaration.nsight + "`"});
    }
  }
  out += "\nIn Nsight Compute, where a metric means the same in the same unit (`--names nsight`):\n\n" +
         markdown_table({"name", "metric"}, rows);
  rows.clear();
  for (const hw::IdleCauseInfo& cause : hw::kIdleCauses) {
    rows.push_back({fmt::format("`{}`", cause.name), std::string(cause.meaning)});
  }
  out += "\n## Causes of idle cycles\n\nThe keys of `idle_cycles_by_cause`. Each idle core cycle has exactly one.\n\n" +
         markdown_table({"cause", "meaning"}, rows);
  out +=
      "\n## Counters of the modules\n\nThe keys of `modules` are hierarchical names; `<n>` stands for a number. Those "
      "of the "
      "L2, of sectors, of coherence, of convergence and of the global scheduler are there when the machine has them.\n";
  const auto counters = [&](const ModuleGroup& group) {
    rows.clear();
    for (const ModuleGroup::Counter& counter : group.counters) {
      rows.push_back({"`" + counter.name + "`", or_dash(counter.unit), counter.meaning});
    }
    return markdown_table({"name", "unit", "meaning"}, rows);
  };
  for (const ModuleGroup& group : module_groups(modules)) {
    out += "\n### " + group.pattern + "\n\n" + counters(group);
  }
  out +=
      "\n## Memory channels alone\n\n`heddle dram --out DIR` writes the same files. Of `summary`, `cycles` and the "
      "figures of DRAM are not zero; `modules` has\n`dram<n>`, as `gpu.dram<n>` above, and `trace`, by which "
      "`heddle compare` knows such a file:\n\n";
  return out + counters(replay_counters());
}

}  // namespace heddle::pages
