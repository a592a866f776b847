// heddle dram: the memory channels of a machine, driven alone from a trace.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <istream>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "cli/timeline_options.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "os/files/file_lock.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/dram/dram_replay.hpp"
#include "tb/measure/host_cost.hpp"
#include "tb/measure/record.hpp"
#include "traces/gzip_stream.hpp"

namespace heddle::cli {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string replay_text(tb::DramReplay& replay, const hw::Machine& machine, double seconds) {
  using Align = TextTable::Align;
  const std::uint64_t cycles = replay.cycles();
  const tb::LatencyHistogram& latency = replay.latency();
  const double bytes = static_cast<double>(latency.count()) * hw::memory_line_bytes(machine);
  std::string out = fmt::format(
      "{} in {}: {:.2f} GB/s of lines\n"
      "latency in cycles: mean {:.1f}, 50 % {}, 90 % {}, 99 % {}, longest {}\n"
      "{} requests per second of processor time\n\n",
      counted(latency.count(), "request"), counted(cycles, "cycle"),
      cycles == 0 ? 0.0 : bytes / static_cast<double>(cycles) * machine.gpu.clock_ghz, latency.mean(),
      latency.percentile(0.5), latency.percentile(0.9), latency.percentile(0.99), latency.largest(),
      scaled(seconds > 0 ? static_cast<double>(latency.count()) / seconds : 0.0));
  TextTable table({{"channel"},
                   {"reads", Align::right},
                   {"writes", Align::right},
                   {"row hits", Align::right},
                   {"empty rows", Align::right},
                   {"row conflicts", Align::right},
                   {"hit rate", Align::right},
                   {"bus use", Align::right},
                   {"bank use", Align::right},
                   {"mean queue", Align::right},
                   {"holds: hit/expired", Align::right}});
  for (unsigned i = 0; i != machine.dram.channels; ++i) {
    const hw::DramStatistics& dram = replay.channel(i);
    table.add({fmt::format("dram{}", i), grouped(dram.reads), grouped(dram.writes), grouped(dram.row_hits),
               grouped(dram.row_empty), grouped(dram.row_conflicts - dram.row_empty),
               percent(share(dram.row_hits, dram.row_hits + dram.row_conflicts)),
               percent(share(dram.bus_busy_cycles, cycles)),
               percent(share(dram.bank_busy_cycles, cycles * machine.dram.banks)),
               fmt::format("{:.1f}", share(dram.queue_wait_cycles, cycles)),
               fmt::format("{}/{}", dram.hints.hits, dram.hints.expiries)});
  }
  return out + table.text();
}

int dram(const Arguments& arguments) {
  std::vector<std::string> notes;
  const hw::Machine machine = tb::read_machine(arguments.words()[0], arguments.settings(), notes);
  const std::optional<pages::TimelineRequest> drawn = timeline_request(arguments, machine);
  const std::string& path = arguments.words()[1];
  traces::GunzipBuffer file(path);
  std::istream in(&file);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) || !file.good()) {
    throw InputError({path}, "is missing or cannot be read");
  }
  os::CommandFiles files;
  files.reads_all("a machine file", tb::machine_files(arguments.words()[0]));
  files.reads("the trace", path);
  if (arguments.has("out")) {
    files.writes_in("--out", arguments.text("out"), tb::kRunFiles);
  }
  add_outputs(files, arguments, {"timeline"});
  // What cannot be written is refused before the simulation rather than after it.
  std::optional<os::FolderLock> lock;
  if (arguments.has("out")) {
    os::make_folder(arguments.text("out"));
    lock.emplace(arguments.text("out"), "another run");
  }
  files.check_writable();
  for (std::size_t i = 0; i != notes.size() && !arguments.has("quiet"); ++i) {
    remark("note", notes[i]);
  }
  const double wall_start = tb::wall_clock();
  const double cpu_start = tb::cpu_clock();
  traces::RequestTrace trace(in, path);
  tb::DramReplay replay(machine, {arguments.has("timed"), path});
  std::optional<tb::DramTimeline> timeline;
  if (drawn) {
    timeline.emplace(drawn->begin, drawn->cycles, machine.dram.channels, machine.dram.banks);
    for (unsigned channel = 0; channel != machine.dram.channels; ++channel) {
      replay.observe(channel, timeline->observer(channel));
    }
  }
  bool any = false;
  replay.run([&](traces::TraceRequest& request) {
    const bool more = trace.next(request);
    if (!more && !any) {
      throw InputError({path}, "holds no request", "one is a line such as '0x12345680 R'");
    }
    any = true;
    return more;
  });

  tb::HostCost cost;
  cost.wall_seconds = cost.simulation_wall_seconds = tb::wall_clock() - wall_start;
  cost.cpu_seconds = cost.simulation_cpu_seconds = tb::cpu_clock() - cpu_start;
  cost.peak_memory_bytes = tb::peak_memory();
  if (!arguments.has("quiet")) {
    std::cout << replay_text(replay, machine, cost.simulation_cpu_seconds);
  }
  if (timeline) {
    pages::write_timeline(*drawn, timeline->timeline(fmt::format("{} on {}", path, arguments.words()[0])));
    if (!arguments.has("quiet")) {
      std::cout << "\nwritten: " << arguments.text("timeline") << "\n";
      warn_of_late_window(arguments, "timeline-from", replay.cycles());
    }
  }
  if (arguments.has("out")) {
    tb::RunRecord record;
    record.machine = machine;
    record.workload = path;
    record.complete = true;
    record.summary = tb::summarise(replay.totals(), machine, 0);
    tb::write_run(arguments.text("out"), record, replay.statistics(), cost);
    if (!arguments.has("quiet")) {
      std::cout << "\nwritten: " << arguments.text("out") << "/stats.json, host.json\n";
    }
  }
  return 0;
}

}  // namespace

Command dram_command() {
  Command command;
  command.name = "dram";
  command.operands = "CONFIG TRACE";
  command.fewest = command.most = 2;
  command.summary = "drives the memory channels of a machine alone, from a trace of loads and stores";
  command.options.add_options()  //
      ("set", po::value<std::vector<std::string>>()->value_name("section.key=value")->composing(),
       "change a parameter of the machine; may be repeated")                                            //
      ("out,o", po::value<std::string>()->value_name("DIR"), "write DIR/stats.json and DIR/host.json")  //
      ("timed", "send each request in the cycle that its third word says, not as soon as possible")     //
      ("quiet,q", "print errors only");
  add_timeline_options(command);
  command.details =
      "TRACE is text, one request a line: '0x12345680 R', 'LD 0x12345680', or numbers alone (cycles to wait, address\n"
      "of a load, address of a store). Addresses are decimal, or hex behind 0x; 'RH' or 'LDH' is a read with the\n"
      "row-buffer hint; '#' begins a comment. heddle run --memory-trace writes this form. The file may be\n"
      "compressed by gzip. Requests are whole lines\n"
      "(l1d.line_bytes, or l2.line_bytes with an L2), sent in order, one per channel and cycle, as soon as the "
      "channel\n"
      "has room.\n";
  command.completions = {{"@list configs", "@files"}, {"@files"}};
  command.run = dram;
  return command;
}

}  // namespace heddle::cli
