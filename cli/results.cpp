// heddle results: what the database of a sweep holds.
#include "studies/results/results.hpp"

#include <fmt/format.h>

#include <iostream>
#include <limits>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "os/process/converter.hpp"
#include "studies/sweep/store.hpp"

namespace heddle::cli {
namespace {

namespace results = studies::results;

constexpr const char* kTerminal = "-";  // in a file's place
constexpr std::size_t kRows = 40;       // of a table, unless all are wanted

void write(const std::string& path, const std::string& contents) {
  if (path == kTerminal) {
    std::cout << contents;
    return;
  }
  os::write_file(path, contents);
  std::cout << "written: " << path << "\n";
}

std::vector<std::string> columns_of(studies::Database& database, const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    out.push_back(studies::results::find_column(database, list.substr(at, end - at), "--columns"));
    at = end + 1;
  }
  return out;
}

void plot(const Arguments& arguments, studies::Database& database, const studies::results::Sweep& sweep) {
  if (!arguments.has("svg") && !arguments.has("png")) {
    throw InputError({"--plot"}, "needs a file", "add --svg FILE or --png FILE");
  }
  studies::results::Plot plot;
  plot.figure = studies::results::find_column(database, arguments.text("plot"), "--plot", true);
  const auto axis = [&](const char* option) {
    return arguments.has(option)
               ? studies::results::find_column(database, arguments.text(option), std::string("--") + option)
               : std::string();
  };
  plot.x = arguments.has("x") ? axis("x") : sweep.axes.front().column;
  plot.by = axis("by");
  plot.y = axis("y");
  if (!plot.by.empty() && !plot.y.empty()) {
    throw InputError({"--y"}, "contradicts --by", "--by draws a line for each value, --y a map over two axes");
  }
  plot.figure_title = studies::results::axis_title(sweep, plot.figure);
  plot.x_title = studies::results::axis_title(sweep, plot.x);
  plot.by_title = plot.by.empty() ? "" : studies::results::axis_title(sweep, plot.by);
  plot.y_title = plot.y.empty() ? "" : studies::results::axis_title(sweep, plot.y);
  const std::string svg = studies::results::plot_svg(database, sweep, plot, arguments.text("where"));
  if (arguments.has("svg")) {
    write(arguments.text("svg"), svg);
  }
  if (arguments.has("png")) {
    const auto width = static_cast<unsigned>(arguments.whole("width", 1680, 16, 20000));
    os::Converter converter(arguments.text("png"), os::png_converter(width));
    converter.write(svg);
    converter.commit();
    std::cout << "written: " << arguments.text("png") << "\n";
  }
}

void refuse_together(const Arguments& arguments) {
  const char* chosen = nullptr;
  for (const char* option : {"sql", "pareto", "plot", "html"}) {
    if (arguments.has(option)) {
      if (chosen != nullptr) {
        throw InputError({std::string("--") + option}, fmt::format("contradicts --{}", chosen), "give one of them");
      }
      chosen = option;
    }
  }
  const auto needs = [&](const char* option, const char* other) {
    if (arguments.has(option) && !arguments.has(other)) {
      throw InputError({std::string("--") + option}, fmt::format("belongs to --{}", other));
    }
  };
  for (const char* option : {"x", "y", "by", "svg", "png"}) {
    needs(option, "plot");
  }
  needs("width", "png");
  if (arguments.has("sql") && (arguments.has("where") || arguments.has("columns") || arguments.has("sweep"))) {
    throw InputError({"--sql"}, "says all by itself", "leave out --where, --columns and --sweep");
  }
}

results::Names chosen_names(const Arguments& arguments) {
  const results::Names names = results::names_of(arguments.text("names", "own"));
  for (const char* option : {"sql", "plot", "html"}) {
    if (arguments.has("names") && arguments.has(option)) {
      throw InputError({"--names"}, fmt::format("contradicts --{}", option), "it names the columns of tables");
    }
  }
  return names;
}

// The database and what may lie beside it are not to be written over.
void check_results_files(const Arguments& arguments) {
  const std::string& database = arguments.words()[0];
  os::CommandFiles files;
  files.reads("the database", database);
  for (const char* const suffix : {"-wal", "-shm", "-journal"}) {
    files.reads("a part of the database", database + suffix);
  }
  for (const char* const option : {"csv", "html", "svg"}) {
    if (arguments.text(option) != kTerminal) {
      add_outputs(files, arguments, {option});
    }
  }
  add_outputs(files, arguments, {"png"});
  files.check_writable();
}

int show(const Arguments& arguments) {
  refuse_together(arguments);
  const results::Names names = chosen_names(arguments);
  check_results_files(arguments);
  studies::Database database(arguments.words()[0], studies::Database::Mode::read);
  studies::sweep::check_schema(database, false);
  const std::size_t most = arguments.has("all") ? std::numeric_limits<std::size_t>::max() : kRows;
  if (arguments.has("sql")) {
    const studies::SqlTable table = database.query_of_user(arguments.text("sql"), "--sql");
    if (arguments.has("csv")) {
      write(arguments.text("csv"), studies::results::csv(table));
    } else {
      std::cout << studies::results::table_text(table, most, true);
    }
    return 0;
  }
  const studies::results::Sweep sweep = studies::results::find_sweep(database, arguments.text("sweep"));
  const std::string where = arguments.text("where");
  const std::vector<std::string> columns = columns_of(database, arguments.text("columns"));
  if (arguments.has("plot")) {
    plot(arguments, database, sweep);
  } else if (arguments.has("html")) {
    write(arguments.text("html"),
          studies::results::results_page(database, sweep, where, arguments.command_line({"sweep", "where"})));
  } else if (arguments.has("pareto")) {
    const studies::SqlTable front = studies::results::pareto_front(
        database, sweep, studies::results::parse_goals(database, arguments.text("pareto")), where);
    if (arguments.has("csv")) {
      write(arguments.text("csv"), studies::results::csv(front, names));
    } else {
      std::cout << studies::results::table_text(front, most, false, names);
    }
  } else if (arguments.has("csv")) {
    write(arguments.text("csv"),
          studies::results::csv(studies::results::select(database, sweep, columns, where), names));
  } else {
    std::cout << studies::results::summary_text(database, sweep, columns, where, most, names);
  }
  return 0;
}

}  // namespace

Command results_command() {
  Command command;
  command.name = "results";
  command.operands = "DB";
  command.fewest = command.most = 1;
  command.summary = "shows what a sweep's database holds: tables, queries, Pareto fronts, plots";
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  command.options.add_options()                                                                          //
      ("sql", text("QUERY"), "a query of your own; it may only read")                                    //
      ("sweep", text("NAME|ID"), "which sweep (default: the last one)")                                  //
      ("where", text("CONDITION"), "only rows for which this SQL expression holds")                      //
      ("columns", text("A,B,..."), "what the table or the CSV file shows: statistics, parameters")       //
      ("names", text("own|nsight"), "columns by Nsight Compute's names, where a metric means the same")  //
      ("all", "every row, however many")                                                                 //
      ("csv", text("FILE"), "write what is selected as CSV; '-' for the terminal")                       //
      ("pareto", text("STAT:min|max,..."), "the designs that no other beats in these statistics")        //
      ("html", text("FILE"), "write one page: sortable table, parallel coordinates, plots")              //
      ("plot", text("STAT"), "draw a statistic, for papers")                                             //
      ("x", text("AXIS"), "... over this axis (default: the first)")                                     //
      ("by", text("AXIS"), "... with a line or bar for each value of this one")                          //
      ("y", text("AXIS"), "... as a map over two axes")                                                  //
      ("svg", text("FILE"), "... into this file")                                                        //
      ("png", text("FILE"), "... into this file, by rsvg-convert")                                       //
      ("width", text("N"), "... so many pixels wide (default 1680)");
  command.details =
      "Statistics and parameters go by their names (ipc, core.warp_size). The database may be in use by a sweep.\n"
      "Plots and Pareto fronts show means over the runs that an axis left out stands for: geometric ones where all\n"
      "figures are positive. docs/explorations.md describes the tables and columns.\n";
  command.completions = {{"@files"}};
  command.run = show;
  return command;
}

}  // namespace heddle::cli
