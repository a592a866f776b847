// What `heddle run` can write while it runs: --memory-trace, --record, --pipeline, --vcd.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "os/files/command_files.hpp"
#include "os/files/output_stream.hpp"
#include "tb/measure/run.hpp"
#include "tb/measure/trace/chrome_trace.hpp"
#include "tb/measure/trace/kanata.hpp"
#include "tb/measure/waves/recording.hpp"

namespace heddle::cli {

class RunTraces {
 public:
  static void declare(po::options_description& options);
  // Adds the files that the arguments name to the files of the command.
  static void add_outputs(os::CommandFiles& files, const Arguments& arguments);

  // Opens what the arguments ask for and puts it into the request. Outlives the run. Throws InputError.
  RunTraces(const Arguments& arguments, tb::RunRequest& request);
  // After the run: the files appear. Files of a run that did not end well show what there was, but for the record,
  // which is no use then. Returns a line for each, with its newline.
  [[nodiscard]] std::string finish(const tb::RunOutcome& outcome);
  // After finish(): worth a warning; empty: nothing.
  [[nodiscard]] const std::string& remark() const { return remark_; }

 private:
  void open_pipeline(const std::string& path, const tb::CycleWindow& window, tb::RunRequest& request);

  std::optional<os::OutputStream> memory_;
  std::optional<os::OutputStream> record_;
  std::optional<os::OutputStream> pipeline_;
  std::unique_ptr<tb::KanataLog> kanata_;
  std::unique_ptr<tb::ChromeTrace> chrome_;
  std::optional<tb::WaveRecording> waves_;
  std::string wave_file_;
  std::string remark_;
};

}  // namespace heddle::cli
