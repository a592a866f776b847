#include "studies/demo/demo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "os/files/atomic_file.hpp"
#include "os/process/children.hpp"
#include "studies/pages/report/appearance.hpp"
#include "tb/config/config.hpp"
#include "tb/device/workload.hpp"
#include "tb/measure/host_cost.hpp"

namespace heddle::studies {
namespace {

std::vector<DemoRow> rows_of(const DemoOptions& options) {
  const auto& entries = Registry<tb::Workload>::instance().entries();
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const auto& [name, entry] : entries) {
    names.push_back(name);
  }
  for (const std::string& wanted : options.workloads) {
    if (entries.find(wanted) == entries.end()) {
      throw InputError({}, "there is no workload '" + wanted + "'", suggest(wanted, names, "known: " + join(names)));
    }
  }
  std::vector<DemoRow> rows;
  for (const auto& [name, entry] : entries) {
    const auto& wanted = options.workloads;
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) {
      DemoRow row;
      row.workload = name;
      row.description = entry.description;
      row.scale = options.scale * entry.make({})->demo_scale();
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

os::ChildCommand command_of(const DemoRow& row, const DemoOptions& options, const std::string& config) {
  const std::string directory = options.directory + "/" + row.workload;
  os::make_folder(directory);
  for (const char* stale : {"/stats.json", "/host.json"}) {  // an earlier run's figures must not pass for this run's
    std::error_code error;
    std::filesystem::remove(directory + stale, error);
  }
  os::ChildCommand command;
  command.words = {os::own_program(), "run",     config,   row.workload, "--scale", fmt::format("{}", row.scale),
                   "--out",           directory, "--quiet"};
  for (const std::string& setting : options.settings) {
    command.words.insert(command.words.end(), {"--set", setting});
  }
  command.log = directory + "/run.log";
  os::write_file(command.log, "");  // refused here, with its reason, rather than in the child
  return command;
}

std::string rate_text(std::uint64_t count, double seconds) {
  return seconds > 0 ? scaled(static_cast<double>(count) / seconds) : "-";
}

std::string outcome_text(const DemoRow& row) {
  switch (row.exit_code) {
    case 0:
      return "correct";
    case 1:
      return "WRONG";
    case 2:
      return "BAD INPUT";
    case 3:
      return "FAULT";
    default:
      return fmt::format("FAILED ({})", row.exit_code);
  }
}

}  // namespace

int DemoResult::exit_code() const {
  int worst = 0;
  for (const DemoRow& row : rows) {
    worst = std::max(worst, row.exit_code);
  }
  return worst;
}

DemoResult run_demo(const DemoOptions& options) {
  DemoResult result;
  const double start = tb::wall_clock();
  result.command = options.command;
  result.machine = tb::read_machine(options.config, options.settings);
  const std::string config = tb::find_config(options.config);
  os::make_folder(options.directory);
  result.rows = rows_of(options);
  std::vector<os::ChildCommand> commands;
  for (const DemoRow& row : result.rows) {
    commands.push_back(command_of(row, options, config));
  }
  const auto changed = [&](std::size_t done, const std::vector<std::size_t>& running) {
    if (options.progress) {
      std::vector<std::string> names;
      names.reserve(running.size());
      for (const std::size_t index : running) {
        names.push_back(result.rows[index].workload);
      }
      options.progress(
          fmt::format("{} of {} done, running {}", done, counted(commands.size(), "workload"), join(names)));
    }
  };
  const std::vector<os::ChildResult> children = os::run_children(commands, options.jobs, changed);
  for (std::size_t i = 0; i < children.size(); ++i) {
    DemoRow& row = result.rows[i];
    row.exit_code = children[i].exit_code;
    row.message = row.exit_code == 0 ? "" : children[i].output;
    try {
      row.files = tb::read_run(options.directory + "/" + row.workload);
    } catch (const InputError& error) {
      if (row.exit_code == 0) {  // it claims to be good, but left nothing to show
        row.exit_code = static_cast<int>(ExitCode::internal_error);
        row.message = error.what();
      }
    }
  }
  result.wall_seconds = tb::wall_clock() - start;
  return result;
}

std::vector<std::string> demo_titles() {
  return {"workload",
          "scale",
          "threads",
          "warp\ninstructions",
          "cycles",
          "IPC",
          "lanes per\ninstruction",
          "idle\ncycles",
          "main cause\nof idleness",
          "row-hit\nrate",
          "bus\nuse",
          "cycles\nper s",
          "warp instr.\nper s",
          "result"};
}

std::vector<std::string> demo_cells(const DemoRow& row) {
  constexpr double kIdleWorthExplaining = 0.01;  // below it the largest of the causes means nothing
  const std::string scale = fmt::format("{:g}", row.scale);
  if (!row.files) {
    std::vector<std::string> cells(demo_titles().size(), "-");
    cells.front() = row.workload;
    cells[1] = scale;
    cells.back() = outcome_text(row);
    return cells;
  }
  const tb::Summary& summary = row.files->summary;
  const std::size_t cause = tb::main_idle_cause(summary);
  const std::uint64_t cause_cycles = summary.idle_cycles_by_cause.cycles[cause];
  const double seconds = row.files->cost.simulation_cpu_seconds;
  const bool memory_used = summary.dram_row_hits + summary.dram_row_conflicts != 0;
  return {row.workload,
          scale,
          grouped(row.files->threads),
          grouped(summary.warp_instructions),
          grouped(summary.cycles),
          fmt::format("{:.2f}", summary.ipc),
          fmt::format("{:.2f}", summary.lanes_per_warp_instruction),
          percent(summary.idle_share),
          summary.idle_share < kIdleWorthExplaining || summary.idle_cycles == 0
              ? "-"
              : fmt::format("{:.0f} % {}",
                            100.0 * static_cast<double>(cause_cycles) / static_cast<double>(summary.idle_cycles),
                            pages::appearance_of(static_cast<hw::IdleCause>(cause)).title),
          memory_used ? percent(summary.dram_row_hit_rate) : "-",
          percent(summary.dram_bus_utilisation),
          rate_text(summary.cycles, seconds),
          rate_text(summary.warp_instructions, seconds),
          outcome_text(row)};
}

std::string demo_table(const DemoResult& result) {
  using Align = TextTable::Align;
  std::vector<TextTable::Column> columns;
  for (const std::string& title : demo_titles()) {
    const bool words = title == "workload" || title == "result" || title.starts_with("main cause");
    columns.push_back({title, words ? Align::left : Align::right});
  }
  TextTable table(std::move(columns));
  std::string messages;
  for (const DemoRow& row : result.rows) {
    table.add(demo_cells(row));
    if (!row.message.empty()) {
      messages += fmt::format("{}: {}\n", row.workload, row.message);
    }
  }
  return table.text() + (messages.empty() ? "" : "\n" + messages);
}

}  // namespace heddle::studies
