// heddle bench: how fast the model simulates on this host.
#include "studies/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/split.hpp>
#include <charconv>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "cli/progress.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "studies/bench/builds.hpp"

namespace heddle::cli {
namespace {

// "1,2,4"
std::vector<unsigned> numbers(const Arguments& arguments, const std::string& option) {
  constexpr unsigned kMost = 256;
  std::vector<unsigned> all;
  std::istringstream text(arguments.text(option));
  for (std::string word; std::getline(text, word, ',');) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number == 0 || number > kMost) {
      throw InputError({"--" + option}, fmt::format("'{}' is no number from 1 to {}", word, kMost),
                       "give numbers with commas: 1,2,4");
    }
    all.push_back(number);
  }
  return all;
}

// One host thread, and twice as many again and again up to the host's processors, at least 2.
studies::ThreadAxes thread_axes(const Arguments& arguments) {
  studies::ThreadAxes axes;
  if (arguments.has("cores")) {
    axes.cores = numbers(arguments, "cores");
  }
  if (arguments.has("threads")) {
    axes.threads = numbers(arguments, "threads");
    return axes;
  }
  for (unsigned threads = 1; threads <= std::max(2U, std::thread::hardware_concurrency()); threads *= 2) {
    axes.threads.push_back(threads);
  }
  return axes;
}

std::vector<std::string> names_of(const std::vector<studies::Benchmark>& list) {
  std::vector<std::string> names;
  names.reserve(list.size());
  for (const studies::Benchmark& benchmark : list) {
    names.push_back(benchmark.name);
  }
  return names;
}

// "nqueens,lanes-add": these workloads alone, in the list's order.
void keep_only(std::vector<studies::Benchmark>& list, const std::string& wanted) {
  const std::vector<std::string> names = names_of(list);
  std::vector<std::string> kept;
  boost::split(kept, wanted, [](char c) { return c == ','; });
  for (const std::string& name : kept) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw InputError({"--only"}, fmt::format("{} '{}'", studies::kNoSuchBenchmark, name),
                       suggest(name, names, "known: " + join(names)));
    }
  }
  std::erase_if(list, [&](const studies::Benchmark& benchmark) {
    return std::find(kept.begin(), kept.end(), benchmark.name) == kept.end();
  });
}

int compare_with(const Arguments& arguments, const std::vector<studies::Benchmark>& list,
                 const studies::BuildsOptions& options, ProgressLine& line) {
  const std::string other = arguments.text("compare");
  const std::vector<studies::BuildsRow> rows = studies::compare_builds(other, names_of(list), options);
  line.clear();
  std::cout << studies::builds_table(rows, other);
  if (arguments.has("json")) {
    os::write_file(arguments.text("json"), studies::builds_json(rows, other));
    std::cout << "\nwritten: " << arguments.text("json") << "\n";
  }
  const bool failed =
      std::any_of(rows.begin(), rows.end(), [](const studies::BuildsRow& row) { return !row.failure.empty(); });
  return failed ? static_cast<int>(ExitCode::internal_error) : 0;
}

int bench(const Arguments& arguments) {
  const bool quick = arguments.has("quick");
  studies::BenchOptions options;
  options.repetitions = static_cast<unsigned>(arguments.whole("repeat", quick ? 1 : 5, 1, 1000));
  options.effort = quick ? 0.1 : 1.0;
  ProgressLine line(true);
  options.progress = [&](const std::string& text) { line.show(text); };
  std::vector<studies::Benchmark> list;
  if (!arguments.has("cores") && !arguments.has("threads")) {
    list = studies::benchmarks(options.effort);
  }
  for (studies::Benchmark& benchmark : studies::thread_benchmarks(thread_axes(arguments), options.effort)) {
    list.push_back(std::move(benchmark));
  }
  if (arguments.has("only")) {
    keep_only(list, arguments.text("only"));
  }
  os::CommandFiles files;
  if (arguments.has("compare")) {
    files.reads("the other build", arguments.text("compare"));
  }
  add_outputs(files, arguments, {"json"});
  files.check_writable();
  if (arguments.has("compare")) {
    return compare_with(arguments, list, {options.repetitions, quick, options.progress}, line);
  }
  const studies::BenchResult result = studies::run_bench(list, options);
  line.clear();
  std::cout << studies::bench_table(result);
  if (arguments.has("json")) {
    os::write_file(arguments.text("json"), studies::bench_json(result));
    std::cout << "\nwritten: " << arguments.text("json") << "\n";
  }
  for (const studies::BenchRow& row : result.rows) {
    if (!row.failure.empty()) {
      return static_cast<int>(ExitCode::internal_error);
    }
  }
  return 0;
}

}  // namespace

Command bench_command() {
  Command command;
  command.name = "bench";
  command.summary = "measures how fast the model simulates on this host";
  command.options.add_options()                                                         //
      ("quick", "a tenth of the work, once")                                            //
      ("repeat", po::value<std::string>()->value_name("N"), "repetitions (default 5)")  //
      ("cores", po::value<std::string>()->value_name("N,..."),
       "only what several host threads gain, on machines of so many cores (default 28)")  //
      ("threads", po::value<std::string>()->value_name("N,..."),
       "the same, by so many host threads (default 1, 2, 4... up to the host's processors)")  //
      ("only", po::value<std::string>()->value_name("NAME,..."), "these benchmarks alone")    //
      ("compare", po::value<std::string>()->value_name("PROGRAM"),
       "another build of heddle: run both in turns, and print the ratios of their rates")  //
      ("json", po::value<std::string>()->value_name("FILE"), "also write the figures as JSON");
  command.run = bench;
  return command;
}

}  // namespace heddle::cli
