// heddle run: one workload or LAUNCH.toml on one machine.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/measured_run.hpp"
#include "cli/run_checkpoints.hpp"
#include "os/checkpoint/checkpoint.hpp"
#include "tb/launch/launch_file.hpp"
#include "tb/launch/launch_inputs.hpp"

namespace heddle::cli {
namespace {

unsigned address_bits(const Arguments& arguments) {
  const std::uint64_t bits = arguments.whole("address-bits", 32, 32, 64);
  if (bits != 32 && bits != 64) {
    throw InputError({"--address-bits"}, fmt::format("'{}' is neither 32 nor 64", bits));
  }
  return static_cast<unsigned>(bits);
}

std::string folder_of(const std::string& file) {
  return std::filesystem::path(file).parent_path().string();
}

// What the subject reads and writes.
void add_subject_files(const Arguments& arguments, MeasuredRun& run) {
  if (run.request.subject.ends_with(".toml")) {
    const auto launch = std::make_shared<tb::LaunchFile>(tb::LaunchFile::read(run.request.subject));
    tb::add_inputs(run.files, launch);
    run.outputs = launch->output_files();
    run.sources.allow_below(folder_of(run.request.subject));
    run.sources.allow_below(folder_of(launch->inputs().front().path));
    if (arguments.has("report") || arguments.has("report-data")) {
      run.sources.allow(launch->includes());
    }
  } else if (run.request.subject.ends_with(".trace")) {
    run.files.reads("the trace", run.request.subject);
    run.sources.allow_below(folder_of(run.request.subject));
  }
}

int run(const Arguments& arguments) {
  if (arguments.has("resume")) {
    checkpoint::resume(arguments.text("resume"));
  }
  MeasuredRun measured;
  tb::RunRequest& request = measured.request;
  request.subject = arguments.words()[1];
  request.command = arguments.command_line({"set", "scale", "seed", "address-bits", "max-cycles", "from-launch", "skip",
                                            "sample", "sample-blocks", "energy", "temperature"});
  const bool replays = request.subject.ends_with(".trace");
  if (replays || request.subject.ends_with(".toml")) {
    for (const char* option : {"scale", "seed", "address-bits"}) {
      if (arguments.has(option)) {
        throw InputError({std::string("--") + option}, replays
                                                           ? "applies to workloads; a trace has what was recorded"
                                                           : "applies to workloads; a LAUNCH.toml says this itself");
      }
    }
  }
  if (replays && arguments.has("check-reference")) {
    throw InputError({"--check-reference"}, "a replay computes no values that could be compared");
  }
  for (const char* const option : {"from-launch", "skip", "sample", "sample-blocks"}) {
    if (replays && arguments.has(option)) {
      throw InputError({std::string("--") + option}, "a replay computes no values, which later launches would need");
    }
  }
  const std::string& config = arguments.words()[0];
  const std::vector<std::string> notes = prepare(arguments, config, request);
  request.scale = arguments.number("scale", 1.0, 1e-6, 16);
  request.seed = arguments.whole("seed", 1, 0, UINT64_MAX);
  request.address_bits = address_bits(arguments);
  request.check_reference = arguments.has("check-reference");
  add_subject_files(arguments, measured);
  return measure(arguments, config, std::move(measured), notes);
}

}  // namespace

Command run_command() {
  Command command;
  command.name = "run";
  command.operands = "CONFIG WORKLOAD|LAUNCH.toml|FILE.trace";
  command.fewest = command.most = 2;
  command.summary = "runs one workload, your own kernel by a LAUNCH.toml, or a recorded trace, on one machine";
  command.options.add_options()  //
      ("scale", po::value<std::string>()->value_name("S"),
       "size of the workload's input; 1 (default) is the papers' size")                                //
      ("seed", po::value<std::string>()->value_name("N"), "seed of the workload's input (default 1)")  //
      ("address-bits", po::value<std::string>()->value_name("32|64"),
       "pointers of the compiled workload (default 32)")  //
      ("resume", po::value<std::string>()->value_name("FILE"),
       "go on with a run from its checkpoint (--checkpoint), with its machine, workload and options")  //
      ("check-reference", "also run the reference interpreter and compare the instruction streams");
  RunCheckpoints::declare(command.options);
  declare_measuring_options(command);
  command.details =
      "CONFIG is a machine's name (heddle list configs) or a path. On a terminal a progress line shows the share that "
      "is\n"
      "done and the time left of the whole program, where its launches are known beforehand, and how far the present "
      "one\n"
      "is. Ctrl-C ends the run early and still prints and writes the statistics so far, marked incomplete, with exit\n"
      "code 130, and so do SIGTERM with exit code 143 and SIGHUP with 129; reaching --max-cycles or a fault of the\n"
      "simulated program does the same with exit code 3.\n";
  command.alone = "resume";
  command.alone_reason = "the checkpoint has the machine, the workload and all options of its run";
  command.completions = {{"@list configs", "@files"}, {"@list workloads", "@files"}};
  command.run = run;
  return command;
}

}  // namespace heddle::cli
