// heddle exec: a CUDA program on one machine.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/measured_run.hpp"
#include "os/process/child_process.hpp"
#include "os/process/stopping.hpp"
#include "tb/measure/session_subject.hpp"

namespace heddle::cli {
namespace {

// The program's file, and the files that its words name: the program may read them.
void add_program_files(MeasuredRun& run, const std::vector<std::string>& words) {
  const std::string& name = words.front();
  const std::string program = name.find('/') != std::string::npos ? name : os::find_program(name);
  run.files.reads("the program", program);
  run.sources.allow_below(std::filesystem::path(program).parent_path().string());
  run.sources.allow_below(".");
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::error_code error;
    if (std::filesystem::is_regular_file(words[i], error)) {
      run.files.reads("an argument of the program", words[i]);
    }
  }
}

int exec(const Arguments& arguments) {
  MeasuredRun measured;
  tb::RunRequest& request = measured.request;
  const std::string config = arguments.text("config", "baseline");
  request.subject = arguments.words().front();
  request.command = arguments.command_line(
      {"config", "set", "max-cycles", "from-launch", "skip", "sample", "sample-blocks", "energy", "temperature"}, true);
  const std::vector<std::string> notes = prepare(arguments, config, request);
  add_program_files(measured, arguments.words());
  tb::SessionSubject::Setup setup;
  setup.words = arguments.words();
  setup.ends_on_fault = !arguments.has("keep-going");
  setup.machine = request.machine;
  setup.interrupted = &os::stopped();
  if (arguments.has("attach")) {
    setup.attached = static_cast<int>(arguments.whole("attach", 0, 0, 1U << 20U));
  }
  std::optional<os::ProcessEnd> ended;
  setup.ended = &ended;
  request.make_subject = [setup](const tb::WorkloadOptions& options) {
    tb::SessionSubject::Setup own = setup;
    own.code = options.code;
    return std::make_unique<tb::SessionSubject>(std::move(own));
  };
  const int code = measure(arguments, config, std::move(measured), notes);
  return code != 0 || !ended ? code : ended->shell_code();
}

}  // namespace

Command exec_command() {
  Command command;
  command.name = "exec";
  command.operands = "-- PROGRAM [ARGUMENTS...]";
  command.fewest = 1;
  command.most = SIZE_MAX;
  command.summary =
      "runs a CUDA program, of heddle nvcc or of nvcc -cudart shared, on the simulated GPU of one machine";
  command.options.add_options()  //
      ("config", po::value<std::string>()->value_name("CONFIG"),
       "the machine: its name (heddle list configs) or a path (default baseline)")                 //
      ("keep-going", "a fault of a kernel is an error code for the program, and does not end it")  //
      ("attach", po::value<std::string>()->value_name("N"),
       "serve the program at the other end of this open socket, instead of starting it");
  declare_measuring_options(command);
  command.refused = {{{"checkpoint", "every"},
                      "a checkpoint holds one process, and the program is another one, which it cannot hold",
                      "heddle run with a LAUNCH.toml takes checkpoints"}};
  command.details =
      "The program is an ordinary process; the kernels that it launches make one run. When it ends, its statistics "
      "are\n"
      "shown and written. The exit code is the program's own, 3 after a fault of a kernel or at a limit. A program\n"
      "that is started by itself does the same on the machine that HEDDLE_CONFIG names; HEDDLE_EXEC_OPTIONS may hold\n"
      "further options of this command. docs/cuda.md says what programs find.\n";
  command.completions = {{"@files"}};
  command.run = exec;
  return command;
}

}  // namespace heddle::cli
