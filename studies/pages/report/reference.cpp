#include "studies/pages/report/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "base/parameter.hpp"
#include "base/text.hpp"
#include "hw/state/idle_cause.hpp"
#include "tb/measure/dram/dram_replay.hpp"
#include "tb/measure/record.hpp"
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

// Counters grouped by module pattern, each name once, in order of registration.
struct ModuleGroup {
  std::string pattern;
  std::vector<StatisticDeclaration> statistics;
};

std::vector<ModuleGroup> groups_of(const StatisticsRegistry& modules) {
  std::vector<ModuleGroup> groups;
  const auto add = [&](const StatisticDeclaration& declaration) {
    const std::string pattern = module_pattern(declaration.module);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const ModuleGroup& g) { return g.pattern == pattern; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), ModuleGroup{pattern, {}});
    }
    if (std::none_of(group->statistics.begin(), group->statistics.end(),
                     [&](const StatisticDeclaration& known) { return known.name == declaration.name; })) {
      group->statistics.push_back(declaration);
    }
  };
  for (const auto& scalar : modules.scalars()) {
    add(scalar.declaration);
  }
  for (const auto& histogram : modules.histograms()) {
    add(histogram.declaration);
  }
  return groups;
}

// What heddle dram counts beside its memory channels.
ModuleGroup replay_counters() {
  tb::ReplayStatistics statistics;
  StatisticsRegistry registry;
  registry.add(tb::DramReplay::kTraceModule, statistics);
  return groups_of(registry).front();
}

// A terminal entry: name and unit on one line, the meaning wrapped below.
void add_entry(std::string& out, std::string_view name, std::string_view unit, std::string_view meaning) {
  out += fmt::format("  {} ({})\n      {}\n", name, unit, wrapped(meaning, kMeaningWidth, 6));
}

constexpr char kSchemaMark = '@';  // stands for the schema's number
constexpr std::string_view kSchemaText =
    R"(`heddle run --out DIR` writes two files. Each appears whole or not at all.

`DIR/stats.json` is a function of the input alone: two runs of the same input give the same bytes. Its keys, in order:

| key | meaning |
| --- | --- |
| `schema` | version of this layout: @ |
| `heddle` | version of the program |
| `machine` | `name`, `description`, and `parameters`: every parameter by section and key (see parameters.md) |
| `workload` | the workload's name, or the LAUNCH.toml as named on the command line |
| `threads` | threads of the largest launch |
| `scale`, `seed` | size of the input and seed of its generator; null for a LAUNCH.toml |
| `address_bits` | pointer size of the compiled kernel, 32 or 64 |
| `warp_sizes` | threads of a warp by kernel, for kernels that ran with other warps than `core.warp_size` (see ptx.md) |
| `complete` | false when the run was stopped by a fault, a limit or an interrupt: the figures are those so far |
| `stop_reason` | why it was stopped; empty when complete |
| `out_of_bounds_loads` | where loads read 0 (`core.load_trap` = false), by instruction: `count`, place of the first |
| `verdict` | `result` ("correct", "wrong" or "not checked") and `detail`: what was compared |
| `summary` | the figures of the whole run, below |
| `modules` | every module's own counters by hierarchical name, below |
| `fast_forward` | only with `--from-launch`, `--skip`, `--sample` and its kin: launches by kernel (see user-guide.md) |
| `device_used` | only of a CUDA program of which no call has come to the run: false |
| `launches` | only of a CUDA program (`heddle exec`): kernel, grid, block, cycles... of each (see cuda.md) |
| `energy` | only with `--energy`: by kind of unit, in pJ, from the table's figures (see user-guide.md) |

`DIR/host.json` holds what depends on the host: `date`, `wall_seconds` and `cpu_seconds` of the run,
`simulation_wall_seconds` and `simulation_cpu_seconds` (inside launches only), `peak_memory_bytes`,
`device_memory_bytes` (device memory touched), and simulated `cycles_per_second`, `warp_instructions_per_second` and
`thread_instructions_per_second`, all per CPU second of simulation.
)";

}  // namespace

std::string module_pattern(const std::string& module) {
  constexpr std::size_t kShortestName = 3;
  std::string out;
  std::size_t begin = 0;
  while (begin <= module.size()) {
    const std::size_t end = std::min(module.find('.', begin), module.size());
    std::string part = module.substr(begin, end - begin);
    std::size_t letters = part.size();
    while (letters > 0 && std::isdigit(static_cast<unsigned char>(part[letters - 1])) != 0) {
      --letters;
    }
    if (letters < part.size() && letters >= kShortestName) {
      part.replace(letters, std::string::npos, "<n>");
    }
    out += (begin == 0 ? "" : ".") + part;
    begin = end + 1;
  }
  return out;
}

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
    for (const StatisticDeclaration& declaration : group.statistics) {
      add_entry(out, declaration.name, declaration.unit, declaration.meaning);
    }
  };
  for (const ModuleGroup& group : groups_of(modules)) {
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
  std::string files(kSchemaText);
  files.replace(files.find(kSchemaMark), 1, std::to_string(tb::kStatisticsSchema));
  out += files;
  std::vector<std::vector<std::string>> rows;
  for (const tb::SummaryDeclaration& declaration : tb::summary_declarations()) {
    rows.push_back({"`" + declaration.name + "`", declaration.unit, declaration.definition});
  }
  out += "\n## Summary of a run\n\n" + markdown_table({"name", "unit", "definition"}, rows);
  rows.clear();
  for (const hw::IdleCauseInfo& cause : hw::kIdleCauses) {
    rows.push_back({fmt::format("`{}`", cause.name), std::string(cause.meaning)});
  }
  out += "\n## Causes of idle cycles\n\nThe keys of `idle_cycles_by_cause`. Each idle core cycle has exactly one.\n\n" +
         markdown_table({"cause", "meaning"}, rows);
  out +=
      "\n## Counters of the modules\n\nThe keys of `modules` are hierarchical names; `<n>` stands for a number. Those "
      "of the "
      "L2, of coherence and of the global scheduler are there when the machine has them.\n";
  const auto counters = [&](const ModuleGroup& group) {
    rows.clear();
    for (const StatisticDeclaration& declaration : group.statistics) {
      rows.push_back({"`" + declaration.name + "`", or_dash(declaration.unit), declaration.meaning});
    }
    return markdown_table({"name", "unit", "meaning"}, rows);
  };
  for (const ModuleGroup& group : groups_of(modules)) {
    out += "\n### " + group.pattern + "\n\n" + counters(group);
  }
  out +=
      "\n## Memory channels alone\n\n`heddle dram --out DIR` writes the same files. Of `summary`, `cycles` and the "
      "figures of DRAM are not zero; `modules` has\n`dram<n>`, as `gpu.dram<n>` above, and `trace`, by which "
      "`heddle compare` knows such a file:\n\n";
  return out + counters(replay_counters());
}

}  // namespace heddle::pages
