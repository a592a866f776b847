// What `heddle run` and `heddle exec` share: the options that say how a run is measured, watched and written down, and
// the run itself, from its files' check to its exit code.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "os/files/command_files.hpp"
#include "tb/measure/profile/source_text.hpp"
#include "tb/measure/run.hpp"

namespace heddle::cli {

// --set --out --report --energy --max-cycles --quiet, the options of RunTraces and of the timeline.
void declare_measuring_options(Command& command);

struct MeasuredRun {
  tb::RunRequest request;            // subject, and what only the command knows
  os::CommandFiles files;            // what the command reads besides machine and energy table
  std::vector<std::string> outputs;  // of the subject, below --out
  tb::SourceFiles sources;           // whose texts may be in a report
};
// The machine `config` with the settings, energy table, cycle limit and output folder that the arguments name, for the
// request. Throws InputError. Returns notes on the machine.
[[nodiscard]] std::vector<std::string> prepare(const Arguments& arguments, const std::string& config,
                                               tb::RunRequest& request);
// Runs it on the machine of `config`, shows and writes everything. Returns the exit code.
[[nodiscard]] int measure(const Arguments& arguments, const std::string& config, MeasuredRun run,
                          const std::vector<std::string>& notes);

}  // namespace heddle::cli
