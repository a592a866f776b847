#include "studies/demo/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "studies/pages/report/appearance.hpp"
#include "studies/pages/report/fu_classes.hpp"
#include "studies/pages/report/html.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies {
namespace {

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Figure 1 of the LWM report, with our numbers.
std::string fu_chart(const DemoResult& result) {
  pages::StackedBars bars;
  for (const DemoRow& row : result.rows) {
    if (!row.files) {
      continue;
    }
    const std::vector<pages::FuClass> classes = pages::fu_classes(row.files->summary.fu_active_cycles);
    if (bars.parts.empty()) {
      for (std::size_t i = 0; i < classes.size(); ++i) {
        // The ramp ends in its darkest step, however few classes a narrow machine has.
        const std::size_t step = i == 0 ? 0 : 6 - classes.size() + i;
        bars.parts.push_back({classes[i].label + (i == 0 ? " (idle)" : ""), fmt::format("u{}", step)});
      }
    }
    pages::StackedBars::Row bar{row.workload, {}};
    for (const pages::FuClass& part : classes) {
      bar.shares.push_back(share_of(part.cycles, tb::core_cycles(row.files->summary)));
    }
    bars.rows.push_back(std::move(bar));
  }
  return pages::html_stacked_bars(bars, "Functional units active per cycle, share of cycles by workload");
}

std::string idle_chart(const DemoResult& result) {
  pages::StackedBars bars;
  for (std::size_t cause = 0; cause < hw::kIdleCauseCount; ++cause) {
    const pages::Appearance& look = pages::appearance_of(static_cast<hw::IdleCause>(cause));
    bars.parts.push_back({std::string(look.title), fmt::format("of-{}", look.key)});
  }
  for (const DemoRow& row : result.rows) {
    if (row.files) {
      pages::StackedBars::Row bar{row.workload, {}};
      for (const std::uint64_t cycles : row.files->summary.idle_cycles_by_cause.cycles) {
        bar.shares.push_back(share_of(cycles, tb::core_cycles(row.files->summary)));
      }
      bars.rows.push_back(std::move(bar));
    }
  }
  return pages::html_stacked_bars(bars, "Idle cycles by cause, share of all cycles by workload");
}

std::string definitions() {
  constexpr std::array<std::string_view, 10> kShown = {
      "warp_instructions",    "cycles",         "ipc",        "lanes_per_warp_instruction",
      "fu_active_cycles",     "idle_cycles",    "idle_share", "dram_row_hit_rate",
      "dram_bus_utilisation", "retirement_hash"};
  std::string out = "<dl>\n";
  for (const tb::SummaryDeclaration& declaration : tb::summary_declarations()) {
    if (std::find(kShown.begin(), kShown.end(), declaration.name) != kShown.end()) {
      out += fmt::format("<dt>{}</dt><dd>{} <span class=\"soft\">({})</span></dd>\n",
                         pages::html_escaped(declaration.name), pages::html_escaped(declaration.definition),
                         pages::html_escaped(declaration.unit));
    }
  }
  for (std::size_t cause = 0; cause < hw::kIdleCauseCount; ++cause) {
    const pages::Appearance& look = pages::appearance_of(static_cast<hw::IdleCause>(cause));
    out += fmt::format("<dt>idle: {}</dt><dd>{} <span class=\"soft\">({})</span></dd>\n",
                       pages::html_escaped(look.title), pages::html_escaped(hw::kIdleCauses[cause].meaning), look.key);
  }
  return out + "</dl>\n";
}

std::string machine_line(const hw::Machine& machine) {
  return fmt::format("{} core{}, {} lanes, warps of {}, {} threads, {} L1 data cache, {} scratchpad, {} GB/s of memory",
                     machine.gpu.cores, machine.gpu.cores == 1 ? "" : "s", machine.core.simd_width,
                     machine.core.warp_size, grouped(machine.core.threads), bytes_text(machine.l1d.bytes),
                     bytes_text(machine.scratchpad.bytes), machine.dram.bandwidth_gbs);
}

std::string workload_table(const DemoResult& result) {
  std::vector<std::vector<std::string>> rows;
  for (const DemoRow& row : result.rows) {
    const std::string detail = row.files && row.files->verdict ? row.files->verdict->detail : row.message;
    rows.push_back({row.workload, row.description, fmt::format("{}", row.scale), detail});
  }
  return pages::html_table({"workload", "what it does", "scale", "what was checked"}, rows, {0, 1, 3});
}

}  // namespace

std::string demo_page(const DemoResult& result) {
  const std::size_t good = static_cast<std::size_t>(
      std::count_if(result.rows.begin(), result.rows.end(), [](const DemoRow& row) { return row.exit_code == 0; }));
  std::string body = fmt::format(
      "<h1>Heddle demonstration: {} on {}</h1>\n<p>{}{}<br/><span class=\"soft\">{}. Heddle {}.</span></p>\n",
      counted(result.rows.size(), "workload"), pages::html_escaped(result.machine.name),
      pages::html_escaped(result.machine.description), result.machine.description.empty() ? "" : ".",
      pages::html_escaped(machine_line(result.machine)), tb::version());
  body +=
      fmt::format("<p>{} of {} results equal an independent computation on the host.</p>\n", good, result.rows.size());
  if (!result.command.empty()) {
    body += fmt::format("<p><code>{}</code></p>\n", pages::html_escaped(result.command));
  }
  for (const DemoRow& row : result.rows) {
    if (row.exit_code != 0) {
      body += fmt::format("<p class=\"bad\">{}: {}</p>\n", pages::html_escaped(row.workload),
                          pages::html_escaped(row.message));
    }
  }
  body +=
      "<section><h2>Functional units active per cycle</h2>\n<p>Share of cycles (%) in which that many of the SIMD "
      "lanes "
      "work. Grey is idle time, pale cycles run few lanes because branches split the warps, dark ones run all. These "
      "are "
      "the classes of figure 1 of the large-warp report.</p>\n" +
      fu_chart(result) +
      "</section>\n<section><h2>Why the units are idle</h2>\n<p>The grey part of the chart above, by its cause. Every "
      "idle cycle has exactly one cause.</p>\n" +
      idle_chart(result) + "</section>\n";
  std::vector<std::vector<std::string>> rows;
  for (const DemoRow& row : result.rows) {
    rows.push_back(demo_cells(row));
  }
  body +=
      "<section><h2>Figures</h2>\n<p>A click on a heading sorts. Rates are simulated work per second of processor time "
      "on this host.</p>\n" +
      pages::html_table(demo_titles(), rows, {0, 8, 13}) + "</section>\n<section><h2>Workloads</h2>\n" +
      workload_table(result) + "</section>\n<section><h2>What the figures mean</h2>\n" + definitions() + "</section>\n";
  return pages::html_page("Heddle: " + result.machine.name + " demonstration",
                          "<style>" + pages::appearance_style() + "</style>\n" + body);
}

}  // namespace heddle::studies
