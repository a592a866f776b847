// What `heddle run --checkpoint FILE --every CYCLES` adds to a run.
#pragma once

#include <functional>
#include <optional>

#include "cli/command.hpp"
#include "os/checkpoint/checkpoint.hpp"
#include "os/files/command_files.hpp"
#include "tb/measure/run.hpp"

namespace heddle::cli {

class RunCheckpoints {
 public:
  static void declare(po::options_description& options);
  // Adds the file to the files of the command.
  static void add_outputs(os::CommandFiles& files, const Arguments& arguments);

  // Puts the pauses into the request, if the arguments ask for checkpoints: to be made before any file of the run is
  // open. Outlives the run. Throws InputError.
  RunCheckpoints(const Arguments& arguments, tb::RunRequest& request);
  RunCheckpoints(const RunCheckpoints&) = delete;
  RunCheckpoints& operator=(const RunCheckpoints&) = delete;

  [[nodiscard]] bool wanted() const { return file_.has_value(); }
  // When the run's files are open. Throws InputError where one of them cannot be in a checkpoint. `resumed` is called
  // in each process that goes on from one.
  void begin(std::function<void(std::uint64_t cycle)> resumed);

 private:
  void take(std::uint64_t cycle);

  std::optional<checkpoint::Checkpoint> file_;
  std::optional<std::uint64_t> latest_;  // cycle of the latest one
  std::function<void(std::uint64_t)> resumed_;
};

}  // namespace heddle::cli
