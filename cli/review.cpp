// heddle review: designs beside a base machine, as one document.
#include "studies/review/review.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "cli/progress.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "os/process/stopping.hpp"
#include "studies/sweep/exploration.hpp"
#include "tb/config/config.hpp"
#include "tb/launch/launch_inputs.hpp"
#include "tb/measure/energy/energy.hpp"
#include "tb/measure/json_text.hpp"

namespace heddle::cli {
namespace {

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// A workload's variants have commas between them too: "index_search:levels=3,row_hints" is one. So a word without a
// colon that is neither a workload nor a launch file belongs to the one before.
std::vector<std::string> workloads_of(const std::vector<std::string>& lists) {
  std::vector<std::string> workloads;
  for (const std::string& list : lists) {
    for (const std::string& word : words_of(list)) {
      const std::string name = word.substr(0, word.find(':'));
      const auto& known = Registry<tb::Workload>::instance().entries();
      if (!workloads.empty() && workloads.back().find(':') != std::string::npos && known.find(name) == known.end() &&
          !studies::sweep::is_launch_file(word)) {
        workloads.back() += "," + word;
      } else {
        workloads.push_back(word);
      }
    }
  }
  return workloads;
}

std::set<std::string> sections_of(const Arguments& arguments) {
  std::vector<std::string> names;
  std::set<std::string> all;
  for (const studies::ReviewSection& section : studies::kReviewSections) {
    names.emplace_back(section.name);
    all.emplace(section.name);
  }
  const auto given = [&](const std::string& option) {
    std::set<std::string> chosen;
    for (const std::string& list : arguments.all(option)) {
      for (const std::string& name : words_of(list)) {
        if (all.count(name) == 0) {
          throw InputError({"--" + option}, fmt::format("a review has no section '{}'", name),
                           suggest(name, names, "known: " + join(names)));
        }
        chosen.insert(name);
      }
    }
    return chosen;
  };
  if (arguments.has("only") && arguments.has("without")) {
    throw InputError({"--without"}, "says what to leave out, and --only what to leave in", "give one of them");
  }
  if (arguments.has("only")) {
    return given("only");
  }
  for (const std::string& name : given("without")) {
    all.erase(name);
  }
  return all;
}

int review(const Arguments& arguments) {
  if (!arguments.has("workloads")) {
    throw InputError({"--workloads"}, "is missing: a review is of some workloads",
                     "name them: --workloads bfs,nqueens (heddle list workloads)");
  }
  studies::ReviewOptions options;
  options.machines = arguments.words();
  options.settings = arguments.settings();
  options.workloads = workloads_of(arguments.all("workloads"));
  options.scale = arguments.number("scale", 1.0, 1e-6, 16);
  options.seeds = arguments.whole("seeds", options.seeds, 1, 100);
  options.placements = arguments.whole("placements", options.placements, 0, 100);
  const std::string own = tb::read_machine(options.machines.front(), options.settings).energy;
  options.energy.table = arguments.text("energy", own.empty() ? "dws-65nm" : own);
  if (arguments.has("temperature")) {
    options.energy.celsius = arguments.number("temperature", 0, tb::kColdest, tb::kHottest);
  }
  if (arguments.has("parameters")) {
    options.parameters = words_of(arguments.text("parameters"));
  }
  options.sections = sections_of(arguments);
  if (options.sections.count("energy") == 0) {
    try {
      options.priced_by = {tb::find_energy_table(options.energy.table), options.energy.celsius};
    } catch (const InputError&) {  // nothing can have been priced by it
    }
    options.energy = {};
  }
  options.folder = arguments.text("folder", "heddle-out/review");
  const std::string page = arguments.text("out", options.folder + "/review.html");
  options.jobs =
      static_cast<unsigned>(arguments.whole("jobs", std::max(1U, std::thread::hardware_concurrency()), 1, 1024));
  options.command = arguments.command_line(
      {"workloads", "scale", "seeds", "placements", "energy", "temperature", "parameters", "only", "without", "set"});
  options.stop = &os::stopped_by();
  os::CommandFiles files;
  for (const std::string& config : options.machines) {
    files.reads_all("a machine file", tb::machine_files(config));
  }
  if (!options.energy.empty()) {
    files.reads("the energy table", tb::find_energy_table(options.energy.table));
  }
  for (const std::string& workload : options.workloads) {
    if (studies::sweep::is_launch_file(workload)) {
      tb::add_inputs(files, std::make_shared<tb::LaunchFile>(tb::LaunchFile::read(workload)));
    }
  }
  os::make_folder(options.folder);
  files.writes("--out", page);
  add_outputs(files, arguments, {"json"});
  files.check_writable();
  check_ending(arguments, "out", {".html", ".htm"}, "a page");
  check_ending(arguments, "json", {".json"}, "JSON");
  ProgressLine line(!arguments.has("quiet"));
  options.progress = [&](const std::string& text) { line.show(text); };
  os::catch_stopping_signals();
  const studies::Review made = studies::make_review(options);
  line.clear();
  os::write_file(page, studies::review_page(made));
  if (arguments.has("json")) {
    os::write_file(arguments.text("json"), tb::json_text(made.data));
  }
  if (!arguments.has("quiet")) {
    std::cout << made.text
              << fmt::format("{} now, {} kept from earlier\nwritten: {}\n", counted(made.ran, "run"), made.kept, page);
    if (arguments.has("json")) {
      std::cout << "written: " << arguments.text("json") << "\n";
    }
  }
  return static_cast<int>(made.failures.empty() ? ExitCode::good : ExitCode::result_mismatch);
}

}  // namespace

Command review_command() {
  Command command;
  command.name = "review";
  command.operands = "BASE DESIGN...";
  command.fewest = 2;
  command.most = 8;
  command.summary = "sets designs beside a base machine, for a design review: one document";
  std::string sections;
  for (const studies::ReviewSection& section : studies::kReviewSections) {
    sections += fmt::format("  {:<13}{}\n", section.name, section.meaning);
  }
  command.options.add_options()  //
      ("workloads,w", po::value<std::vector<std::string>>()->value_name("W,...")->composing(),
       "the workloads (of heddle list workloads), with their variants, and launch files; may be repeated")  //
      ("scale", po::value<std::string>()->value_name("S"),
       "size of the workloads' inputs, not of launch files' (default 1)")                                         //
      ("seeds", po::value<std::string>()->value_name("N"), "seeds 1 to N of the inputs, for ranges (default 3)")  //
      ("placements", po::value<std::string>()->value_name("N"),
       "and N places of their buffers in memory, drawn at random (default 0: where the machines put them)")  //
      ("set", po::value<std::vector<std::string>>()->value_name("section.key=value")->composing(),
       "change a parameter of all machines; may be repeated")  //
      ("energy", po::value<std::string>()->value_name("TABLE"),
       "the energy table: a file or a name (default: what the base machine's file names, or dws-65nm)")  //
      ("temperature", po::value<std::string>()->value_name("CELSIUS"),
       "of the machines, for leakage by the energy table (default: what the table says)")  //
      ("parameters", po::value<std::string>()->value_name("KEY,..."),
       "numbers to change for the sensitivity (default: the two of eight that move the worst workload most)")  //
      ("only", po::value<std::vector<std::string>>()->value_name("SECTION,...")->composing(),
       "these sections alone")  //
      ("without", po::value<std::vector<std::string>>()->value_name("SECTION,...")->composing(),
       "all sections but these")  //
      ("out,o", po::value<std::string>()->value_name("FILE.html"),
       "the document (default review.html in the folder)")                                         //
      ("json", po::value<std::string>()->value_name("FILE.json"), "write all of its figures too")  //
      ("folder", po::value<std::string>()->value_name("DIR"),
       "where the runs are kept (default heddle-out/review)")                                               //
      ("jobs,j", po::value<std::string>()->value_name("N"), "runs at a time (default: one per processor)")  //
      ("quiet,q", "print errors only");
  command.details =
      "The first machine is the base, with which each of the others is compared. Every run is kept in the folder and "
      "is\n"
      "not done again while the machine, the input and this program stay as they are. Sections:\n" +
      sections +
      "The worst workload is the one with the smallest speed-up. The exit code is 1 when a run left no result.\n";
  command.completions = {{"@list configs", "@files"}, {"@list configs", "@files"}, {"@list configs", "@files"}};
  command.run = review;
  return command;
}

}  // namespace heddle::cli
