#include "cli/run_checkpoints.hpp"

#include <fmt/format.h>

#include <iostream>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/output_options.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/gzip_blocks.hpp"
#include "tb/measure/host_cost.hpp"
#include "traces/batch_thread.hpp"

namespace heddle::cli {

void RunCheckpoints::declare(po::options_description& options) {
  options.add_options()  //
      ("checkpoint", po::value<std::string>()->value_name("FILE"),
       "write the whole run to FILE every --every cycles; heddle run --resume FILE goes on from there")  //
      ("every", po::value<std::string>()->value_name("CYCLES"),
       "simulated cycles from one checkpoint to the next, each of which replaces the one before");
}

void RunCheckpoints::add_outputs(os::CommandFiles& files, const Arguments& arguments) {
  cli::add_outputs(files, arguments, {"checkpoint"});
}

RunCheckpoints::RunCheckpoints(const Arguments& arguments, tb::RunRequest& request) {
  if (!arguments.has("checkpoint")) {
    if (arguments.has("every")) {
      throw InputError({"--every"}, "says how often --checkpoint FILE is written, which is not given");
    }
    return;
  }
  if (!arguments.has("every")) {
    throw InputError({"--checkpoint"}, "does not say how often", "add --every CYCLES");
  }
  const std::uint64_t every = arguments.whole("every", 0, 1, UINT64_MAX);
  if (request.output_directory) {
    os::make_folder(*request.output_directory);  // where the file may be meant to go
  }
  file_.emplace(arguments.text("checkpoint"));
  request.device.pauses = {every, [this](std::uint64_t cycle) { take(cycle); }};
}

void RunCheckpoints::begin(std::function<void(std::uint64_t)> resumed) {
  resumed_ = std::move(resumed);
  if (file_) {
    file_->check();
  }
}

void RunCheckpoints::take(std::uint64_t cycle) {
  std::cout.flush();
  const tb::Clocks clocks = tb::clocks();
  const std::optional<std::uint64_t> before = std::exchange(latest_, cycle);
  traces::PausingThread::pause_all();
  os::GzipBlocks::pause_all();
  switch (file_->take()) {
    case checkpoint::Checkpoint::Result::written:
      break;
    case checkpoint::Checkpoint::Result::resumed:
      tb::continue_clocks(clocks);
      resumed_(cycle);
      break;
    case checkpoint::Checkpoint::Result::failed:
      latest_ = before;
      remark("warning", fmt::format("no checkpoint in cycle {}: {}; {}", grouped(cycle), file_->failure(),
                                    before ? "that of cycle " + grouped(*before) + " stays" : "there is none yet"));
  }
}

}  // namespace heddle::cli
