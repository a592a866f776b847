// heddle demo: every workload on one machine, in one table and one page.
#include "studies/demo/demo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "studies/demo/page.hpp"
#include "tb/config/config.hpp"

namespace heddle::cli {
namespace {

int demo(const Arguments& arguments) {
  studies::DemoOptions options;
  options.config = arguments.text("config", "baseline");
  options.settings = arguments.settings();
  options.workloads = arguments.words();
  options.command = arguments.command_line({"config", "set", "scale"});
  options.scale = arguments.number("scale", 1.0, 1e-6, 1000);
  options.directory = arguments.text("out", "heddle-out/demo");
  options.jobs =
      static_cast<unsigned>(arguments.whole("jobs", std::max(1U, std::thread::hardware_concurrency()), 1, 1024));
  const std::string page = options.directory + "/demo.html";
  os::CommandFiles files;
  files.reads_all("a machine file", tb::machine_files(options.config));
  files.writes_in("--out", options.directory, {"demo.html"});
  os::make_folder(options.directory);
  files.check_writable();
  ProgressLine line(true);
  options.progress = [&](const std::string& text) { line.show(text); };
  const studies::DemoResult result = studies::run_demo(options);
  line.clear();
  os::write_file(page, studies::demo_page(result));
  std::cout << fmt::format("{} on {}{}\n\n", counted(result.rows.size(), "workload"), result.machine.name,
                           result.machine.description.empty() ? "" : " (" + result.machine.description + ")")
            << studies::demo_table(result)
            << fmt::format(
                   "\nIPC: thread instructions per cycle. Rates are per second of processor time. Done in {:.0f} s.\n"
                   "Page with charts: {}\nAll figures: {}/<workload>/stats.json, host.json\n",
                   result.wall_seconds, page, options.directory);
  return result.exit_code();
}

}  // namespace

Command demo_command() {
  Command command;
  command.name = "demo";
  command.operands = "[WORKLOAD...]";
  command.most = 64;
  command.summary = "runs every workload on a machine, checks the results, and explains the figures";
  command.options.add_options()                                                                     //
      ("config", po::value<std::string>()->value_name("CONFIG"), "the machine (default baseline)")  //
      ("set", po::value<std::vector<std::string>>()->value_name("section.key=value")->composing(),
       "change a parameter of the machine; may be repeated")  //
      ("scale", po::value<std::string>()->value_name("S"),
       "times each workload's size for the demonstration (default 1)")                                    //
      ("out,o", po::value<std::string>()->value_name("DIR"), "where to write (default heddle-out/demo)")  //
      ("jobs,j", po::value<std::string>()->value_name("N"), "runs at a time (default: one per processor)");
  command.completions = {{"@list workloads"}};
  command.run = demo;
  return command;
}

}  // namespace heddle::cli
