// heddle reproduce: the papers' claims, ours beside theirs.
#include "studies/reproduce/reproduce.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "cli/progress.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "os/process/stopping.hpp"
#include "studies/reproduce/runner.hpp"
#include "tb/config/config.hpp"
#include "tb/config/search.hpp"
#include "tb/config/toml_text.hpp"

namespace heddle::cli {
namespace {

int list_claims(bool names) {
  TextTable table({{"id"}, {"paper"}, {"what"}, {"source"}});
  for (const std::string& id : studies::claim_ids()) {
    if (names) {
      std::cout << id << "\n";
      continue;
    }
    const auto& claim = Registry<studies::Claim>::instance().entries().at(id);
    const studies::ClaimText text = claim.make({})->text();
    table.add({id, text.paper, claim.description, text.source});
  }
  if (!names) {
    std::cout << table.text();
  }
  return 0;
}

// The energy tables that a claim's runs may be priced by.
std::vector<std::string> energy_tables() {
  std::vector<std::string> tables;
  for (const std::string& folder : tb::config_folders()) {
    std::error_code error;
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(folder) / "energy", error)) {
      tables.push_back(file.path().string());
    }
  }
  return tables;
}

// The pages that --markdown writes beside its file.
void add_paper_pages(os::CommandFiles& files, const Arguments& arguments) {
  if (!arguments.has("markdown")) {
    return;
  }
  const std::string overview = arguments.text("markdown");
  if (std::filesystem::path(overview).extension() != ".md") {
    throw InputError({"--markdown"},
                     fmt::format("writes pages into a folder of the file's name without .md, and '{}' does not end in "
                                 ".md",
                                 tb::excerpt(overview)),
                     "name the file so");
  }
  for (const std::string& page : studies::paper_page_paths(overview)) {
    files.writes("--markdown", page);
  }
  for (const std::string& picture : studies::paper_picture_paths(overview)) {
    files.writes("--markdown", picture);
  }
}

// What --verdicts adds to; none: its file is to be made.
std::optional<studies::OtherReproduction> kept_verdicts(const Arguments& arguments, const studies::Scaling& scaling) {
  std::error_code error;
  if (!arguments.has("verdicts") || !std::filesystem::exists(arguments.text("verdicts"), error)) {
    return std::nullopt;
  }
  const studies::OtherReproduction kept = studies::read_reproduction(arguments.text("verdicts"));
  if (kept.scaling != studies::scaling_text(scaling)) {
    throw InputError(
        {arguments.text("verdicts")},
        fmt::format("has verdicts at {}, and these will be at {}", kept.scaling, studies::scaling_text(scaling)),
        "give --verdicts another file");
  }
  return kept;
}

int reproduce(const Arguments& arguments) {
  if (arguments.has("list") || arguments.has("names")) {
    return list_claims(arguments.has("names"));
  }
  studies::ReproduceOptions options;
  options.ids = arguments.words();
  options.scaling.full = arguments.has("full");
  if (options.scaling.full && arguments.has("scale")) {
    throw InputError({"--scale"}, "contradicts --full", "give one of them");
  }
  std::optional<studies::OtherReproduction> beside;
  if (arguments.has("beside")) {
    if (!arguments.has("markdown")) {
      throw InputError({"--beside"}, "adds to --markdown FILE.md, which is not given");
    }
    beside = studies::read_reproduction(arguments.text("beside"));
  }
  options.scaling.factor = arguments.number("scale", 1.0, 1e-6, 16);
  options.runner.directory = arguments.text("out", "heddle-out/reproduce");
  options.runner.jobs =
      static_cast<unsigned>(arguments.whole("jobs", std::max(1U, std::thread::hardware_concurrency()), 1, 1024));
  options.runner.any_build = arguments.has("any-build");
  options.runner.stop = &os::stopped_by();
  const std::optional<studies::OtherReproduction> kept = kept_verdicts(arguments, options.scaling);
  const std::string& directory = options.runner.directory;
  os::CommandFiles files;
  if (beside) {
    files.reads("the other reproduction", arguments.text("beside"));
  }
  for (const tb::ConfigEntry& config : tb::list_configs()) {
    files.reads("a machine file", config.path);
  }
  files.reads_texts("an energy table", energy_tables);
  files.reads_texts("a kept result", [&] { return studies::kept_files(directory); });
  files.writes_in("--out", directory, {"reproduction.html", "reproduction.md", "reproduction.json"});
  add_outputs(files, arguments, {"markdown", "verdicts"});
  add_paper_pages(files, arguments);
  os::make_folder(directory);
  if (arguments.has("markdown")) {
    const std::filesystem::path page = studies::paper_page_paths(arguments.text("markdown")).front();
    os::make_folder(page.parent_path().string());
  }
  files.check_writable();
  ProgressLine line(true);
  options.runner.progress = [&](const std::string& text) { line.show(text); };
  os::catch_stopping_signals();
  const studies::Reproduction result = studies::reproduce(options);
  line.clear();
  os::write_file(directory + "/reproduction.html",
                 studies::reproduction_page(result, arguments.command_line({"scale", "full", "any-build"})));
  os::write_file(directory + "/reproduction.json", studies::reproduction_json(result));
  const std::string date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  if (arguments.has("verdicts") && !result.stopped) {
    os::write_file(arguments.text("verdicts"), studies::verdicts_json(studies::with_verdicts(kept, result, date)));
  }
  const studies::OtherReproduction* const other = beside ? &*beside : nullptr;
  os::write_file(directory + "/reproduction.md", studies::reproduction_report(result, date, other));
  std::cout << studies::reproduction_table(result)
            << fmt::format(
                   "\n{} at {}, {} of them kept from earlier, done in {:.0f} s.\nPage with figures: {}\n"
                   "As Markdown: {}\nAs data: {}\n",
                   counted(result.runs, "run"), studies::scaling_text(result.scaling), result.reused,
                   result.wall_seconds, directory + "/reproduction.html", directory + "/reproduction.md",
                   directory + "/reproduction.json");
  std::cout << studies::processor_time_text(result) << "\n";
  if (!result.other_builds.empty()) {
    std::cout << studies::other_builds_text(result) << "\n";
  }
  if (arguments.has("markdown") && !result.stopped) {
    for (const studies::MarkdownPage& page :
         studies::reproduction_pages(result, arguments.text("markdown"), date, other)) {
      os::write_file(page.path, page.text);
      std::cout << "Written: " << page.path << "\n";
    }
  }
  if (result.stopped) {
    std::cout << "Ended early; the same command goes on from here.\n";
    return kSignalExit + os::stopped_by();
  }
  return static_cast<int>(result.failed.empty() ? ExitCode::good : ExitCode::result_mismatch);
}

}  // namespace

Command reproduce_command() {
  Command command;
  command.name = "reproduce";
  command.operands = "[ID...]";
  command.most = 256;
  command.summary = "runs what the papers' claims need and shows our numbers beside theirs";
  command.options.add_options()  //
      ("scale", po::value<std::string>()->value_name("S"),
       "times each workload's size for the reproduction (default 1)")                                          //
      ("full", "the papers' input sizes")                                                                      //
      ("jobs,j", po::value<std::string>()->value_name("N"), "runs at a time (default: one per processor)")     //
      ("out,o", po::value<std::string>()->value_name("DIR"), "where to write (default heddle-out/reproduce)")  //
      ("markdown", po::value<std::string>()->value_name("FILE.md"),
       "for documents: write the overview to FILE.md, and a short page per paper into the folder FILE")  //
      ("beside", po::value<std::string>()->value_name("FILE.json"),
       "with --markdown: another reproduction.json, its verdicts beside these (another scale)")  //
      ("verdicts", po::value<std::string>()->value_name("FILE.json"),
       "add the verdicts to those in FILE.json, for --beside: a reproduction in portions")       //
      ("any-build", "take results that other builds left in DIR, too: pages and verdicts anew")  //
      ("list", "list the claims and end")                                                        //
      ("names", "list the claims' ids only and end");
  command.details =
      "Without an ID all claims are reproduced. Results are kept in DIR: the same command after an interruption goes\n"
      "on where it stopped, and a run that several claims share is done once. A run that fails is reported, and the\n"
      "rest goes on; the exit code is then 1. Verdicts do not change the exit code.\n"
      "DIR has everything afterwards: reproduction.html with the charts, reproduction.md with all tables, and\n"
      "reproduction.json.\n";
  command.completions = {{"$(\"${COMP_WORDS[0]}\" reproduce --names 2>/dev/null)"}};
  command.run = reproduce;
  return command;
}

}  // namespace heddle::cli
