// What the database of explorations holds, looked at: selections, tables, Pareto fronts, plots, a page. Schema and
// words: docs/explorations.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "studies/database/sqlite.hpp"

namespace heddle::studies::results {

struct Axis {
  std::string name;    // "core.warp_size"
  std::string column;  // "core_warp_size"
  [[nodiscard]] bool is_input()
      const;  // of the runs' work rather than of the design: workload, scale, seed, max_cycles
};

struct Sweep {
  std::int64_t id = 0;
  std::string name;
  std::string description;
  std::string version;
  std::string build;
  std::int64_t points = 0;  // runs in all
  std::string started;
  std::string finished;                           // empty: incomplete
  std::vector<Axis> axes;                         // that have more than one value, or the workload if none has
  std::map<std::string, std::int64_t> by_status;  // of the runs that are there
};

// The sweep of this name or number, the last one for an empty word. Throws InputError: no sweeps, no such sweep.
[[nodiscard]] Sweep find_sweep(Database& database, const std::string& word);

// What stands on an axis that shows a column: a parameter by its path, a statistic by its words, with the unit of its
// declaration: "core.warp_size (threads)". Without a unit of its own (names, shares, ratios) nothing is added.
[[nodiscard]] std::string axis_title(const Sweep& sweep, const std::string& column);
// The unit alone; empty: none.
[[nodiscard]] std::string unit_of(const std::string& column);

// By which names statistics go in tables: their own, or those of Nsight Compute where a metric means the same.
enum class Names { own, nsight };
// Which ones an option's value means, at --names: own, nsight. Throws InputError for another.
[[nodiscard]] Names names_of(const std::string& value);
[[nodiscard]] std::string shown_name(const std::string& column, Names names);
// The statistics that have such a name, in the order of the summary.
[[nodiscard]] std::vector<std::string> nsight_columns();

// A column of the view results by a user's word: its name, Nsight's, or a parameter's path. Throws InputError at
// `place` with the nearest name. `numeric`: one that is text is refused too.
[[nodiscard]] std::string find_column(Database& database, const std::string& word, const std::string& place,
                                      bool numeric = false);

// The sweep's rows in the order of its points. `condition` is an SQL expression in a user's words, empty for all rows;
// it is refused, at --where, when it does more than read.
[[nodiscard]] SqlTable select(Database& database, const Sweep& sweep, const std::vector<std::string>& columns,
                              const std::string& condition);

// RFC 4180, lines ending in "\n", with a header.
[[nodiscard]] std::string csv(const SqlTable& table, Names names = Names::own);

// An aligned table for the terminal, `most` rows of it; numbers with four significant digits unless `exact`.
[[nodiscard]] std::string table_text(const SqlTable& table, std::size_t most, bool exact, Names names = Names::own);

// Head line, axes, and the table of `columns`, or where that is empty of the usual statistics, or of those that have a
// name in Nsight Compute.
[[nodiscard]] std::string summary_text(Database& database, const Sweep& sweep, const std::vector<std::string>& columns,
                                       const std::string& condition, std::size_t most, Names names = Names::own);

// A number of a row; nothing for NULL and texts.
[[nodiscard]] std::optional<double> number(const SqlValue& value);

// Of positive numbers the geometric mean, else the arithmetic one, to twelve digits. `values` is not empty.
[[nodiscard]] double mean(const std::vector<double>& values);

// ---- Pareto front
struct Goal {
  std::string column;
  bool high = false;  // better when higher
};
// "ipc:max,cycles:min". Throws InputError at --pareto.
[[nodiscard]] std::vector<Goal> parse_goals(Database& database, const std::string& text);

// The designs (values of the axes that are no input) that no other design beats or equals in every goal while it is
// better in one. A design's figure is the mean over its runs; it counts when all inputs that any design has were done.
// Columns: the design's axes, the goals, and the number of runs. Sorted by the first goal, best first.
[[nodiscard]] SqlTable pareto_front(Database& database, const Sweep& sweep, const std::vector<Goal>& goals,
                                    const std::string& condition);
// Rows of `figures` (one value per goal) that are on the front.
[[nodiscard]] std::vector<std::size_t> pareto_indices(const std::vector<std::vector<double>>& figures,
                                                      const std::vector<Goal>& goals);

// ---- Plots for papers
struct Plot {
  std::string figure;  // column, vertical axis (or colour, with y)
  std::string x;       // column, horizontal axis
  std::string by;      // column: one line or bar per value; may be empty
  std::string y;       // column: a map of coloured fields over x and y instead; may be empty
  std::string figure_title, x_title, by_title, y_title;
};
// One self-contained SVG without style sheets or scripts, as word processors, LaTeX and rsvg-convert read it. A point
// is the mean over the runs that are done. Throws InputError when there is nothing to draw.
[[nodiscard]] std::string plot_svg(Database& database, const Sweep& sweep, const Plot& plot,
                                   const std::string& condition);

// ---- The page
// `command`: how it was called.
[[nodiscard]] std::string results_page(Database& database, const Sweep& sweep, const std::string& condition,
                                       const std::string& command);

}  // namespace heddle::studies::results
