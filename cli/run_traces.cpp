#include "cli/run_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/output_options.hpp"
#include "os/files/atomic_file.hpp"

namespace heddle::cli {

namespace {

// A path without ".gz".
std::string_view unpacked(std::string_view path) {
  constexpr std::string_view kGzip = ".gz";
  return path.ends_with(kGzip) ? path.substr(0, path.size() - kGzip.size()) : path;
}

tb::CycleWindow window_of(const Arguments& arguments) {
  constexpr link::Cycle kLast = link::kNever / 1'000'000;  // a cycle is up to a million time resolutions
  tb::CycleWindow window;
  window.from = arguments.whole("from", 0, 0, kLast);
  window.to = arguments.whole("to", kLast, window.from, kLast);
  return window;
}

}  // namespace

void RunTraces::declare(po::options_description& options) {
  options.add_options()  //
      ("memory-trace", po::value<std::string>()->value_name("FILE"),
       "write the requests to the memory channels: address, R or W, cycle; heddle dram replays it")  //
      ("record", po::value<std::string>()->value_name("FILE.trace"),
       "record what every thread does; heddle run CONFIG FILE.trace replays it")  //
      ("pipeline", po::value<std::string>()->value_name("FILE"),
       "write the pipeline's log: .kanata (or .log) for Konata, .json for Perfetto; also .gz")  //
      ("vcd", po::value<std::string>()->value_name("FILE"),
       "record waves: FILE.vcd, FILE.vcd.gz or FILE.fst, with a save file for GTKWave")  //
      ("signals", po::value<std::string>()->value_name("GROUP,..."),
       "waves: these groups of signals only (heddle list signals)")                                      //
      ("from", po::value<std::string>()->value_name("CYCLE"), "waves and pipeline: from this cycle on")  //
      ("to", po::value<std::string>()->value_name("CYCLE"), "waves and pipeline: up to and with this one");
}

void RunTraces::add_outputs(os::CommandFiles& files, const Arguments& arguments) {
  cli::add_outputs(files, arguments, {"memory-trace", "record", "pipeline"});
  if (arguments.has("vcd")) {
    for (const std::string& file : tb::wave_files(arguments.text("vcd"))) {
      files.writes("--vcd", file);
    }
  }
}

RunTraces::RunTraces(const Arguments& arguments, tb::RunRequest& request) {
  if (arguments.has("signals") && !arguments.has("vcd")) {
    throw InputError({"--signals"}, "says what --vcd FILE records, which is not given");
  }
  for (const char* const option : {"from", "to"}) {
    if (arguments.has(option) && !arguments.has("vcd") && !arguments.has("pipeline")) {
      throw InputError({std::string("--") + option},
                       "says what --vcd FILE records and --pipeline FILE shows; neither is given");
    }
  }
  const tb::CycleWindow window = window_of(arguments);
  const std::array<const char*, 4> files = {"memory-trace", "record", "pipeline", "vcd"};
  if (request.output_directory &&
      std::any_of(files.begin(), files.end(), [&](const char* option) { return arguments.has(option); })) {
    os::make_folder(*request.output_directory);  // where the files may be meant to go
  }
  if (arguments.has("memory-trace")) {
    memory_.emplace(arguments.text("memory-trace"));
    request.device.memory_trace = &memory_->stream();
  }
  if (arguments.has("record")) {
    const std::string path = arguments.text("record");
    if (!path.ends_with(".trace")) {
      throw InputError({"--record"}, fmt::format("'{}' does not end in .trace, by which heddle run knows it", path));
    }
    record_.emplace(path);
    request.record = &record_->stream();
  }
  if (arguments.has("pipeline")) {
    open_pipeline(arguments.text("pipeline"), window, request);
  }
  if (arguments.has("vcd")) {
    tb::WaveOptions options;
    options.file = arguments.text("vcd");
    if (arguments.has("signals")) {
      options.groups = tb::signal_groups(arguments.text("signals"));
    }
    options.from = window.from;
    options.to = window.to;
    wave_file_ = options.file;
    waves_.emplace(request.machine, std::move(options));
    request.device.observers.push_back(&*waves_);
  }
}

void RunTraces::open_pipeline(const std::string& path, const tb::CycleWindow& window, tb::RunRequest& request) {
  const std::string_view name = unpacked(path);
  const bool chrome = name.ends_with(".json");
  constexpr std::array<std::string_view, 3> kKanata = {".kanata", ".konata", ".log"};
  if (!chrome &&
      std::none_of(kKanata.begin(), kKanata.end(), [&](std::string_view end) { return name.ends_with(end); })) {
    throw InputError({"--pipeline"}, fmt::format("'{}' does not say which format it shall have", path),
                     "name it .kanata or .log for Konata, .json for Perfetto; each may be followed by .gz");
  }
  pipeline_.emplace(path);
  if (chrome) {
    chrome_ = std::make_unique<tb::ChromeTrace>(pipeline_->stream(), window);
    request.device.make_tap = chrome_->taps(request.device.make_tap);
    request.device.observers.push_back(chrome_.get());
  } else {
    kanata_ = std::make_unique<tb::KanataLog>(pipeline_->stream(), window);
    request.device.observers.push_back(kanata_.get());
  }
}

std::string RunTraces::finish(const tb::RunOutcome& outcome) {
  std::string text;
  if (memory_) {
    memory_->commit();
    text += fmt::format("memory trace: {}\n", memory_->path());
  }
  if (record_ && outcome.record.complete) {
    record_->commit();
    text += fmt::format("recorded: {}\n", record_->path());
  } else if (record_) {
    text += fmt::format("not recorded: {}: the run did not end\n", record_->path());
  }
  if (pipeline_) {
    if (chrome_) {
      chrome_->finish();
    } else {
      kanata_->finish();
    }
    pipeline_->commit();
    text += fmt::format("pipeline: {}\n", pipeline_->path());
  }
  if (waves_) {
    waves_->finish();
    text += fmt::format("waves: {}, {} value changes; open with: gtkwave {} (which reads {}/)\n", wave_file_,
                        grouped(waves_->changes()), waves_->save_file(), waves_->filter_folder());
    remark_ = waves_->remark();
  }
  return text;
}

}  // namespace heddle::cli
