#include "cli/measured_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/output_options.hpp"
#include "cli/progress.hpp"
#include "cli/run_checkpoints.hpp"
#include "cli/run_traces.hpp"
#include "cli/timeline_options.hpp"
#include "os/process/stopping.hpp"
#include "studies/pages/page/run_report.hpp"
#include "studies/pages/report/run_text.hpp"
#include "studies/pages/report/timeline_file.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/energy/power_file.hpp"

namespace heddle::cli {
namespace {

// Loads that read 0 where nothing was.
void warn_of_stray_loads(const tb::RunRecord& record) {
  constexpr std::size_t kMost = 8;
  const std::size_t shown = std::min(record.stray_loads.size(), kMost);
  for (std::size_t i = 0; i != shown; ++i) {
    remark("warning", isa::describe(record.stray_loads[i]));
  }
  if (shown != record.stray_loads.size()) {
    remark("warning", fmt::format("so did loads of {}; stats.json (--out DIR) lists them",
                                  counted(record.stray_loads.size() - shown, "more instruction")));
  }
}

// What a program can be let live with (core.load_trap), by the message of its fault.
bool is_of_load(const std::string& fault) {
  const auto says = [&](const char* part) { return fault.find(part) != std::string::npos; };
  return fault.starts_with("out-of-bounds access") && (says(": load") || says(": global load"));
}

int exit_code(const tb::RunOutcome& outcome) {
  switch (outcome.ending) {
    case tb::RunOutcome::Ending::stopped:
      return os::stopped() ? kSignalExit + os::stopped_by() : static_cast<int>(ExitCode::simulated_fault);
    case tb::RunOutcome::Ending::faulted:
      return static_cast<int>(ExitCode::simulated_fault);
    case tb::RunOutcome::Ending::finished:
      break;
  }
  const bool wrong = outcome.record.verdict && !outcome.record.verdict->correct;
  const bool differs = outcome.reference && !outcome.reference->equal;
  return static_cast<int>(wrong || differs ? ExitCode::result_mismatch : ExitCode::good);
}

// Every file that the run reads or writes, before it touches one.
void check_files(const Arguments& arguments, const std::string& config, MeasuredRun& run) {
  os::CommandFiles& files = run.files;
  files.reads_all("a machine file", tb::machine_files(config));
  if (arguments.has("energy")) {
    files.reads("the energy table", tb::find_energy_table(arguments.text("energy")));
  }
  std::vector<std::string> in_folder = tb::kRunFiles;
  in_folder.insert(in_folder.end(), run.outputs.begin(), run.outputs.end());
  if (run.request.output_directory) {
    files.writes_in("--out", *run.request.output_directory, in_folder);
  }
  add_outputs(files, arguments, {"report", "report-data", "timeline", "power"});
  RunTraces::add_outputs(files, arguments);
  RunCheckpoints::add_outputs(files, arguments);
  check_ending(arguments, "report", {".html", ".htm"}, "a page");
  check_ending(arguments, "report-data", {".json"}, "JSON");
}

std::optional<std::string> optional_text(const Arguments& arguments, const std::string& option) {
  return arguments.has(option) ? std::optional(arguments.text(option)) : std::nullopt;
}

// Whether the user has said how many host threads there are to be.
bool chosen(const Arguments& arguments) {
  return arguments.has("threads") && arguments.text("threads") != "auto";
}

// By itself, and with "auto", at most as many as the host has for this process and the machine has cores.
unsigned threads(const Arguments& arguments, const hw::Machine& machine) {
  constexpr std::uint64_t kMost = 256;
  if (chosen(arguments)) {
    return static_cast<unsigned>(arguments.whole("threads", 1, 1, kMost));
  }
  return std::clamp(std::thread::hardware_concurrency(), 1U, machine.gpu.cores);
}

// A number that may be negative.
double number(const std::string& option, const Arguments& arguments) {
  constexpr double kMost = 1e6;
  return arguments.number(option, 0, -kMost, kMost);
}

// Of --power, or of a page with energy; none: power is not looked at.
std::optional<tb::PowerSteps> power_steps(const Arguments& arguments) {
  const bool page = arguments.has("energy") && (arguments.has("report") || arguments.has("report-data"));
  if (!arguments.has("power") && !page) {
    if (arguments.has("power-interval")) {
      throw InputError({"--power-interval"},
                       "says how often --power FILE, or a page with --energy, looks at power; neither is given");
    }
    return std::nullopt;
  }
  constexpr std::uint64_t kShortest = 32;  // of a page, to begin with
  tb::PowerSteps steps;
  steps.joins = !arguments.has("power") && !arguments.has("power-interval");
  steps.interval =
      arguments.whole("power-interval", steps.joins ? kShortest : tb::PowerSteps::kDefault, 1, UINT64_MAX / 2);
  return steps;
}

}  // namespace

void declare_measuring_options(Command& command) {
  command.options.add_options()  //
      ("set", po::value<std::vector<std::string>>()->value_name("section.key=value")->composing(),
       "change a parameter of the machine; may be repeated")                                                     //
      ("out,o", po::value<std::string>()->value_name("DIR"), "write DIR/stats.json, DIR/host.json and outputs")  //
      ("report", po::value<std::string>()->value_name("FILE.html"),
       "write a page about the run: use over time, heat maps, the source line by line")  //
      ("report-data", po::value<std::string>()->value_name("FILE.json"),
       "write what that page shows as JSON: series over time, maps of threads, counts per instruction")  //
      ("energy", po::value<std::string>()->value_name("TABLE"),
       "energy of the run in stats.json, by a table: its file, or a name in the folder energy/ of the configs")  //
      ("temperature", po::value<std::string>()->value_name("CELSIUS"),
       "of the machine, for leakage by the energy table (default: what the table says)")  //
      ("power", po::value<std::string>()->value_name("FILE"),
       "with --energy: power over time by unit; .csv or .ptrace: watts as HotSpot reads them, .json: all figures")  //
      ("power-interval", po::value<std::string>()->value_name("N"),
       "cycles of an interval of --power and of a page's power (default 10000; of a page alone, as many as fit)")  //
      ("max-cycles", po::value<std::string>()->value_name("N"), "stop after N simulated cycles")                   //
      ("from-launch", po::value<std::string>()->value_name("N"),
       "simulate from the program's launch N on; the reference interpreter computes those before, in no time")  //
      ("skip", po::value<std::vector<std::string>>()->value_name("KERNEL")->composing(),
       "the interpreter computes all launches of this kernel; may be repeated")  //
      ("sample", po::value<std::string>()->value_name("N"),
       "simulate one of N launches of each kernel, the first among them, and estimate the cycles of all")  //
      ("sample-blocks", po::value<std::string>()->value_name("N"),
       "simulate one of N blocks of a launch, so many at a time as the machine holds, and estimate the launch's "
       "cycles; "
       "the interpreter computes its results")  //
      ("threads", po::value<std::string>()->value_name("N|auto"),
       "host threads that simulate the machine together: the same results, sooner on a machine of many cores "
       "(default auto: at most as many as the host has and the machine has cores, and fewer, down to one, where those "
       "are found to be faster while the run is under way)")  //
      ("quiet,q", "print errors only");
  RunTraces::declare(command.options);
  add_timeline_options(command);
}

std::vector<std::string> prepare(const Arguments& arguments, const std::string& config, tb::RunRequest& request) {
  std::vector<std::string> notes;
  request.machine = tb::read_machine(config, arguments.settings(), notes);
  if (arguments.has("energy")) {
    request.energy = tb::read_energy_table(arguments.text("energy"));
    if (arguments.has("temperature")) {
      tb::set_temperature(*request.energy, number("temperature", arguments), {"--temperature"});
    }
  } else if (arguments.has("temperature")) {
    throw InputError({"--temperature"}, "leakage goes by an energy table, and none is given",
                     "name one: --energy TABLE");
  }
  if (const auto steps = power_steps(arguments)) {
    request.power = steps;
  }
  request.device.threads = threads(arguments, request.machine);
  request.threads_chosen = chosen(arguments);
  request.device.try_threads = !request.threads_chosen;
  request.device.max_cycles = arguments.whole("max-cycles", 0, 1, UINT64_MAX);
  request.device.interrupted = &os::stopped();
  request.device.fast_forward = {arguments.whole("from-launch", 1, 1, UINT64_MAX), arguments.all("skip"),
                                 arguments.whole("sample", 1, 1, UINT64_MAX),
                                 arguments.whole("sample-blocks", 1, 1, UINT64_MAX)};
  if (arguments.has("out")) {
    request.output_directory = arguments.text("out");
  }
  return notes;
}

int measure(const Arguments& arguments, const std::string& config, MeasuredRun run,
            const std::vector<std::string>& notes) {
  tb::RunRequest& request = run.request;
  std::optional<pages::ReportPage> report;
  if (arguments.has("report") || arguments.has("report-data")) {
    request.products.push_back(&report.emplace(
        pages::ReportPage::Files{optional_text(arguments, "report"), optional_text(arguments, "report-data")},
        request.machine, run.sources));
  }
  std::optional<tb::PowerFile> power;
  if (arguments.has("power")) {
    request.products.push_back(&power.emplace(arguments.text("power")));
  }
  std::optional<pages::TimelineFile> timeline;
  if (const auto drawn = timeline_request(arguments, request.machine)) {
    request.products.push_back(&timeline.emplace(*drawn, request.machine));
  }
  check_files(arguments, config, run);
  if (arguments.has("record") && request.device.fast_forward.any()) {
    throw InputError({"--record"}, "a trace is of all launches that are simulated, and some would not be",
                     "leave out --from-launch, --skip, --sample and --sample-blocks");
  }
  RunCheckpoints checkpoints(arguments, request);
  RunTraces traces(arguments, request);
  const bool quiet = arguments.has("quiet");
  for (std::size_t i = 0; i != notes.size() && !quiet; ++i) {
    remark("note", notes[i]);
  }
  request.note = [quiet](const std::string& note) {
    if (!quiet) remark("note", note);
  };
  ProgressLine line(!quiet);
  const double start = tb::wall_clock();
  if (line.active() || checkpoints.wanted()) {  // who resumes it may have a terminal
    request.device.progress = [&](const tb::DeviceOptions::Progress& progress) {
      line.show(progress_text(progress, tb::wall_clock() - start));
    };
  }
  if (!quiet) {
    request.device.print = [&](const std::string& text) {
      line.clear();
      std::cout << text << std::flush;
    };
  }
  os::catch_stopping_signals();
  checkpoints.begin([&](std::uint64_t cycle) {
    line.begin_anew();
    if (!quiet) remark("note", fmt::format("goes on from the checkpoint of cycle {}", grouped(cycle)));
  });
  const tb::RunOutcome outcome = tb::run(request);
  line.clear();
  const std::string traced = traces.finish(outcome);
  if (!quiet) {
    std::cout << pages::run_text(outcome.record, outcome.cost);
    if (outcome.replayed) {
      std::cout << *outcome.replayed << "\n";
    }
    if (outcome.reference) {
      std::cout << "reference: " << outcome.reference->detail << "\n";
    }
    if (request.output_directory) {
      std::cout << fmt::format("written: {}/{}\n", *request.output_directory, fmt::join(outcome.written, ", "));
    }
    for (const char* const option : {"report", "report-data", "timeline", "power"}) {
      if (arguments.has(option)) {
        std::cout << "written: " << arguments.text(option) << "\n";
      }
    }
    std::cout << traced;
    std::cout.flush();
    for (const char* const option : {"from", "timeline-from"}) {
      warn_of_late_window(arguments, option, outcome.last_cycle);
    }
    if (!traces.remark().empty() && arguments.whole("from", 0, 0, UINT64_MAX) <= outcome.last_cycle) {
      remark("warning", traces.remark());
    }
    warn_of_stray_loads(outcome.record);
  }
  if (!outcome.record.complete) {
    std::cerr << "heddle: " << outcome.record.stop_reason << "\n";
    if (is_of_load(outcome.record.stop_reason)) {
      remark("note", "--set core.load_trap=false reads 0 there, goes on and counts such loads");
    }
  } else if (outcome.record.verdict && !outcome.record.verdict->correct) {
    std::cerr << "heddle: wrong result: " << outcome.record.verdict->detail << "\n";
  } else if (outcome.reference && !outcome.reference->equal) {
    std::cerr << "heddle: " << outcome.reference->detail << "\n";
  }
  return exit_code(outcome);
}

}  // namespace heddle::cli
