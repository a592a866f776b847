#include "studies/bench/builds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "os/files/temporary_folder.hpp"
#include "os/process/child_process.hpp"
#include "studies/bench/bench.hpp"
#include "tb/measure/json_text.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies {
namespace {

namespace json = boost::json;

// The running program itself, even when its file has been replaced by a later build meanwhile.
constexpr const char* kRunningProgram = "/proc/self/exe";

struct MissingBenchmark {};

// The rate of one benchmark, measured once by a program; throws InternalError with the reason when it has none, and
// MissingBenchmark when the program does not know it.
double rate_of(const std::string& program, const std::string& name, const BuildsOptions& options,
               const std::string& file) {
  std::vector<std::string> words{program, "bench", "--only", name, "--repeat", "1", "--json", file};
  if (options.quick) {
    words.emplace_back("--quick");
  }
  std::error_code none;
  std::filesystem::remove(file, none);  // what the other one has written
  const os::Finished finished = os::run_program(words);
  if (!finished.end.good()) {
    const std::string line = finished.err.substr(0, finished.err.find('\n'));
    if (finished.end.shell_code() == static_cast<int>(ExitCode::bad_input) &&
        line.find(kNoSuchBenchmark) != std::string::npos) {
      throw MissingBenchmark{};
    }
    throw InternalError(fmt::format("{}: {}", program == kRunningProgram ? "this build" : program,
                                    line.empty() ? finished.end.text() : line));
  }
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  boost::system::error_code error;
  const json::value root = json::parse(text, error);
  if (!error && root.is_object() && root.as_object().contains("benchmarks")) {
    const json::value& rows = root.at("benchmarks");
    if (rows.is_array() && rows.as_array().size() == 1 && rows.at(0).is_object()) {
      const json::value* const rate = rows.at(0).as_object().if_contains("rate");
      if (rate != nullptr && rate->is_number() && rate->to_number<double>() > 0) {
        return rate->to_number<double>();
      }
    }
  }
  throw InternalError(fmt::format("{} writes no figures that can be read", program));
}

BuildsRow compare(const std::string& other, const std::string& name, const BuildsOptions& options,
                  const std::string& file) {
  BuildsRow row;
  row.name = name;
  const std::array<std::string, 2> programs{kRunningProgram, other};
  std::array<double, 2> highest{};
  try {
    for (unsigned pair = 0; pair < options.pairs; ++pair) {
      if (options.progress) {
        options.progress(fmt::format("{}: pair {} of {}", name, pair + 1, options.pairs));
      }
      std::array<double, 2> rates{};
      for (unsigned turn = 0; turn < 2; ++turn) {
        const unsigned which = (pair + turn) % 2;
        rates[which] = rate_of(programs[which], name, options, file);
        highest[which] = std::max(highest[which], rates[which]);
      }
      row.ratios.push_back(rates[0] / rates[1]);
    }
    row.median = median(row.ratios);
    row.least_times = highest[0] / highest[1];
  } catch (const os::StartError& error) {
    throw InputError({"--compare"}, fmt::format("'{}' cannot be started: {}", other, error.reason()),
                     "name another build of heddle");
  } catch (const MissingBenchmark&) {
    row.missing = true;
  } catch (const InternalError& error) {
    row.failure = error.what();
  }
  return row;
}

}  // namespace

std::vector<BuildsRow> compare_builds(const std::string& other, const std::vector<std::string>& names,
                                      const BuildsOptions& options) {
  const os::TemporaryFolder folder;
  std::vector<BuildsRow> rows;
  rows.reserve(names.size());
  for (const std::string& name : names) {
    rows.push_back(compare(other, name, options, folder.path() / "bench.json"));
  }
  return rows;
}

std::string builds_table(const std::vector<BuildsRow>& rows, const std::string& other) {
  using Align = TextTable::Align;
  TextTable table({{"benchmark"},
                   {"median ratio", Align::right},
                   {"lowest", Align::right},
                   {"highest", Align::right},
                   {"of least times", Align::right},
                   {"pairs", Align::right}});
  std::string notes;
  std::vector<std::string> missing;
  for (const BuildsRow& row : rows) {
    if (row.missing) {
      missing.push_back(row.name);
      continue;
    }
    if (!row.failure.empty()) {
      table.add({row.name, "failed", "-", "-", "-", "-"});
      notes += fmt::format("  {}  FAILED: {}\n", row.name, row.failure);
      continue;
    }
    const auto [low, high] = std::minmax_element(row.ratios.begin(), row.ratios.end());
    table.add({row.name, fmt::format("{:.3f}", row.median), fmt::format("{:.3f}", *low), fmt::format("{:.3f}", *high),
               fmt::format("{:.3f}", row.least_times), fmt::format("{}", row.ratios.size())});
  }
  if (!missing.empty()) {
    notes += fmt::format("not compared, since {} does not have them: {}\n", other, join(missing));
  }
  return table.text() + fmt::format("\nrate of this build over that of {}, in turns: more than 1 is faster\n{}", other,
                                    notes.empty() ? "" : "\n" + notes);
}

std::string builds_json(const std::vector<BuildsRow>& rows, const std::string& other) {
  json::array list;
  for (const BuildsRow& row : rows) {
    list.push_back({{"name", row.name},
                    {"ratio", row.median},
                    {"ratio_of_least_times", row.least_times},
                    {"ratios", json::array(row.ratios.begin(), row.ratios.end())},
                    {"missing", row.missing},
                    {"failure", row.failure}});
  }
  return tb::json_text(json::object{{"schema", 1},
                                    {"heddle", json::string(tb::version())},
                                    {"compared_with", other},
                                    {"benchmarks", std::move(list)}});
}

}  // namespace heddle::studies
