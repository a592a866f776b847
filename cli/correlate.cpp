// heddle correlate: a machine beside measurements of a real GPU.
#include "studies/correlate/correlation.hpp"

#include <boost/json.hpp>
#include <filesystem>
#include <iostream>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "os/files/temporary_folder.hpp"
#include "os/process/child_process.hpp"
#include "studies/results/results.hpp"
#include "tb/measure/record.hpp"

namespace heddle::cli {
namespace {

// The program that measures, in the build folder beside this one.
std::string measuring_program() {
  const std::string path = (std::filesystem::path(os::own_program()).parent_path() / "hardware" / "measure").string();
  if (!std::filesystem::exists(path)) {
    throw InputError({path}, "the program that measures is not there",
                     "build the target heddle_hardware, or measure the machine with heddle exec and name the file");
  }
  return path;
}

// Measures on the machine what `hardware` has, into `file`; what is there stays.
void measure_machine(const Arguments& arguments, const std::string& machine, const studies::Measurements& hardware,
                     const std::string& file) {
  std::vector<std::string> words = {os::own_program(), "exec", "--quiet", "--keep-going", "--config", machine};
  for (const std::string& setting : arguments.settings()) words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), {"--", measuring_program(), arguments.text("campaign", hardware.campaign), "--out", file,
                             "--repetitions", "1", "--clock", "10000", "--limit", "1000000", "--timeout", "100000"});
  for (const std::string& pattern : arguments.all("only")) words.insert(words.end(), {"--only", pattern});
  os::ProcessSetup setup;
  setup.out = os::Redirection::nothing();
  const os::ProcessEnd end = os::wait_or_stop(words, setup, "while the machine was measured");
  constexpr int kUnfinished = 3;  // as measure ends where a fault leaves items behind it
  if (!end.good() && end.exit_code != kUnfinished) {
    throw InputError({machine}, "measuring it ended with " + end.text(), "see above");
  }
}

// What the machine counts in a run of a kernel alone, at the summary of its stats.json.
boost::json::object counters_of(const Arguments& arguments, const std::string& machine, const std::string& campaign,
                                const std::string& kernel) {
  const os::TemporaryFolder folder;
  std::vector<std::string> words = {os::own_program(), "exec",  "--quiet", "--keep-going",
                                    "--config",        machine, "--out",   folder.path().string()};
  for (const std::string& setting : arguments.settings()) words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), {"--", measuring_program(), campaign, "--out", (folder.path() / "row.json").string(),
                             "--only", kernel, "--repetitions", "1", "--clock", "0", "--timeout", "100000"});
  os::ProcessSetup setup;
  setup.out = os::Redirection::nothing();
  const os::ProcessEnd end = os::wait_or_stop(words, setup, "while the causes of a kernel were counted");
  if (!end.good()) return {};
  return tb::read_stats(tb::stats_path(folder.path().string())).at("summary").as_object();
}

// Counts for the `most` worst of the kernels that are looked at.
void count_worst(const Arguments& arguments, const std::string& machine, const std::string& campaign,
                 std::uint64_t most, studies::Correlation& correlation) {
  for (studies::Compared& one : correlation.kernels) {
    if (most == 0) return;
    if (one.held_out) continue;
    one.counters = counters_of(arguments, machine, campaign, one.name);
    --most;
  }
}

int correlate(const Arguments& arguments) {
  const std::string machine = arguments.words()[0];
  const std::string data = arguments.words()[1];
  const bool programs = std::filesystem::is_directory(machine);
  const bool measured = machine.ends_with(".json") || programs;
  if (measured && (arguments.has("only") || arguments.has("campaign") || arguments.has("set") ||
                   arguments.has("keep") || arguments.has("counters"))) {
    throw InputError({machine}, "these are results, and nothing is measured",
                     "leave --only, --campaign, --set, --keep and --counters out, or name a machine");
  }
  const bool nsight = studies::results::names_of(arguments.text("names", "own")) == studies::results::Names::nsight;
  const std::uint64_t counted = arguments.whole("counters", 10, 0, UINT64_MAX);
  os::CommandFiles files;
  files.reads("the data", data);
  if (measured && !programs) files.reads("the machine's results", machine);
  add_outputs(files, arguments, {"csv", "keep", "html"});
  files.check_writable();
  const studies::Measurements hardware = studies::read_measurements(data);
  std::string results = machine;
  if (!measured) {
    results = arguments.text("keep");
    if (results.empty()) {
      throw InputError({machine}, "there is no place for the machine's results",
                       "name a file with --keep FILE.json; what it has already is not measured again");
    }
    measure_machine(arguments, machine, hardware, results);
  }
  const studies::Measurements simulated = programs ? studies::read_runs(results) : studies::read_measurements(results);
  std::optional<std::uint64_t> hold_out;
  if (arguments.has("hold-out")) hold_out = arguments.whole("hold-out", 0, 0, UINT64_MAX);
  studies::Correlation correlation = studies::correlate(hardware, simulated, hold_out);
  if (!measured) {
    count_worst(arguments, machine, arguments.text("campaign", hardware.campaign), counted, correlation);
  }
  if (arguments.has("csv")) {
    os::write_file(arguments.text("csv"), studies::correlation_csv(correlation, nsight));
  }
  if (arguments.has("html")) {
    os::write_file(arguments.text("html"),
                   studies::correlation_page(correlation, hardware, simulated,
                                             arguments.command_line({"set", "only", "campaign", "hold-out"}, true)));
  }
  if (!arguments.has("quiet")) std::cout << studies::correlation_text(correlation, hardware, simulated);
  return 0;
}

}  // namespace

Command correlate_command() {
  Command command;
  command.name = "correlate";
  command.operands = "CONFIG|RESULTS.json|RUNS DATA.json";
  command.fewest = 2;
  command.most = 2;
  command.summary = "sets a machine beside measurements of a real GPU";
  command.options.add_options()  //
      ("keep", po::value<std::string>()->value_name("FILE.json"),
       "measure the machine into this file; what it has already stays")  //
      ("set", po::value<std::vector<std::string>>()->value_name("section.key=value")->composing(),
       "change a parameter of the machine; may be repeated")  //
      ("only", po::value<std::vector<std::string>>()->value_name("PATTERN")->composing(),
       "kernels whose name fits (* stands for anything); may be repeated")  //
      ("campaign", po::value<std::string>()->value_name("LIST"),
       "the list of kernels, where it is not one of the build's hardware/campaigns")  //
      ("counters", po::value<std::string>()->value_name("N"),
       "run the N worst kernels once more, each alone, for its counters and causes of idle cycles (default 10)")  //
      ("names", po::value<std::string>()->value_name("own|nsight"),
       "counters by Nsight Compute's names, those alone that have one")                               //
      ("csv", po::value<std::string>()->value_name("FILE.csv"), "write a row for each kernel")        //
      ("html", po::value<std::string>()->value_name("FILE.html"), "write a page with scatter plots")  //
      ("hold-out", po::value<std::string>()->value_name("SEED"),
       "keep a third of the kernels, drawn by SEED, out of all lists: only their mean errors are shown")  //
      ("quiet,q", "print errors only");
  command.details =
      "DATA.json is what hardware/measure has written on a GPU (hardware/README.md). The machine runs the same "
      "kernels;\n"
      "its results may be given as a file, too. RUNS is a folder with a folder for each program, which heddle exec\n"
      "--out has written; DATA.json then has cycles of those programs' kernels. Errors are relative to the hardware,\n"
      "of cycles; the mean error is of absolute values, machine / hardware a geometric mean, the correlation that of\n"
      "the logarithms.\n";
  command.completions = {{"@list configs"}, {"@files"}};
  command.run = correlate;
  return command;
}

}  // namespace heddle::cli
