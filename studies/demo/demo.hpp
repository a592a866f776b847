// The demonstration: every workload on one machine, each in a process of its own, in one table and one page.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "tb/measure/record.hpp"

namespace heddle::studies {

struct DemoOptions {
  std::string config = "baseline";
  std::vector<std::string> settings;   // --set
  std::vector<std::string> workloads;  // empty: every registered one
  double scale = 1.0;                  // times each workload's demo_scale()
  std::string directory;               // takes DIR/<workload>/ and DIR/demo.html
  unsigned jobs = 1;
  std::string command;                               // how the demonstration was called, for its page
  std::function<void(const std::string&)> progress;  // one line, when something changed
};

struct DemoRow {
  std::string workload;
  std::string description;
  double scale = 0;
  int exit_code = 0;
  std::string message;                // what went wrong
  std::optional<tb::RunFiles> files;  // absent when the run left no statistics
};

struct DemoResult {
  std::string command;
  hw::Machine machine;
  std::vector<DemoRow> rows;
  double wall_seconds = 0;

  [[nodiscard]] int exit_code() const;  // the worst of all rows
};

// Throws InputError (configuration, directory).
[[nodiscard]] DemoResult run_demo(const DemoOptions& options);

// The figures of a row as text, in the order of demo_titles(): the terminal's table and the page's show this text.
[[nodiscard]] std::vector<std::string> demo_titles();
[[nodiscard]] std::vector<std::string> demo_cells(const DemoRow& row);
[[nodiscard]] std::string demo_table(const DemoResult& result);

}  // namespace heddle::studies
