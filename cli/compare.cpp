// heddle compare: several runs side by side, and why they differ.
#include "studies/pages/compare/compare.hpp"

#include <iostream>

#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "tb/measure/record.hpp"

namespace heddle::cli {
namespace {

int compare(const Arguments& arguments) {
  os::CommandFiles files;
  for (const std::string& run : arguments.words()) {
    files.reads("a run", tb::stats_path(run));
  }
  add_outputs(files, arguments, {"html"});
  files.check_writable();
  const std::vector<pages::ComparedRun> runs = pages::read_compared_runs(arguments.words());
  const std::string page = arguments.has("html") ? pages::compare_page(runs, arguments.command_line({}))
                                                 : "";  // refused before anything is printed
  if (!arguments.has("quiet")) {
    std::cout << pages::compare_text(runs);
  }
  if (arguments.has("html")) {
    os::write_file(arguments.text("html"), page);
    if (!arguments.has("quiet")) {
      std::cout << "\nwritten: " << arguments.text("html") << "\n";
    }
  }
  return 0;
}

}  // namespace

Command compare_command() {
  Command command;
  command.name = "compare";
  command.operands = "A B [C...]";
  command.fewest = 2;
  command.most = 64;
  command.summary = "explains by cause why runs take different numbers of cycles";
  command.options.add_options()  //
      ("html", po::value<std::string>()->value_name("FILE.html"), "write a page about them too")("quiet,q",
                                                                                                 "print errors only");
  command.details =
      "A, B, ...: output folders of heddle run --out, or their stats.json. Every run is compared with A. The cycles "
      "of\n"
      "the causes add up to the difference, and those of a cause's factors to the cause. Folders of heddle dram --out\n"
      "are compared with each other by their figures.\n";
  command.completions = {{"@files"}, {"@files"}, {"@files"}, {"@files"}};
  command.run = compare;
  return command;
}

}  // namespace heddle::cli
