#include "studies/results/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "studies/sweep/store.hpp"
#include "tb/measure/summary.hpp"

namespace heddle::studies::results {
namespace {

const std::vector<std::string> kUsual = {
    "cycles", "ipc", "simd_efficiency", "idle_share", "l1d_hit_rate", "dram_row_hit_rate", "dram_bus_utilisation"};

// Shown beside them where an energy table has priced a run.
const std::vector<std::string> kUsualEnergy = {"energy_total", "energy_delay_product"};

struct KnownColumn {
  std::string name;
  std::string type;
};

std::vector<KnownColumn> columns_of(Database& database) {
  std::vector<KnownColumn> out;
  for (const auto& row : database.query("SELECT name, type FROM pragma_table_info('results')").rows) {
    out.push_back({sql_text(row[0]), sql_text(row[1])});
  }
  return out;
}

// A database of an earlier build has no energy.
bool is_priced(Database& database, const Sweep& sweep) {
  const std::vector<KnownColumn> known = columns_of(database);
  const std::string& column = kUsualEnergy.front();
  return std::any_of(known.begin(), known.end(), [&](const KnownColumn& one) { return one.name == column; }) &&
         !database
              .query(fmt::format("SELECT 1 FROM results WHERE sweep = ?1 AND {} IS NOT NULL LIMIT 1", sql_name(column)),
                     {sweep.id})
              .rows.empty();
}

std::string list_of(const std::vector<std::string>& columns) {
  std::string out;
  for (const std::string& column : columns) {
    out += (out.empty() ? "" : ", ") + sql_name(column);
  }
  return out;
}

std::string cell(const SqlValue& value, bool exact) {
  if (const auto* real = std::get_if<double>(&value); real != nullptr && !exact) {
    return fmt::format("{:.4g}", *real);
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole != nullptr && !exact) {
    return *whole < 0 ? fmt::format("{}", *whole) : grouped(static_cast<std::uint64_t>(*whole));
  }
  constexpr std::size_t kWidest = 60;
  std::string text = sql_text(value);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return columns(text) <= kWidest ? text : text.substr(0, kWidest - 3) + "...";
}

// A parameter's value is no count: 1024, not 1,024.
bool is_statistic(const std::string& column) {
  return std::any_of(sweep::run_columns().begin(), sweep::run_columns().end(), [&](const sweep::Column& known) {
    return known.name == column && known.group == sweep::Column::Group::statistic;
  });
}

}  // namespace

bool Axis::is_input() const {
  return column == "workload" || column == "scale" || column == "seed" || column == "max_cycles";
}

Sweep find_sweep(Database& database, const std::string& word) {
  const SqlTable all =
      database.query("SELECT id, name, description, version, build, points, started, finished FROM sweeps ORDER BY id");
  const std::vector<SqlValue>* found = nullptr;
  std::vector<std::string> names;
  for (const std::vector<SqlValue>& row : all.rows) {
    names.push_back(sql_text(row[1]));
    if (word.empty() || word == sql_text(row[0]) || word == sql_text(row[1])) {
      found = &row;
    }
  }
  if (found == nullptr) {
    throw InputError({database.path()},
                     all.rows.empty() ? "holds no sweep yet" : fmt::format("holds no sweep '{}'", word),
                     all.rows.empty() ? "" : suggest(word, names, "there are: " + join(names)));
  }
  Sweep sweep;
  sweep.id = std::get<std::int64_t>((*found)[0]);
  sweep.name = sql_text((*found)[1]);
  sweep.description = sql_text((*found)[2]);
  sweep.version = sql_text((*found)[3]);
  sweep.build = sql_text((*found)[4]);
  sweep.points = std::get<std::int64_t>((*found)[5]);
  sweep.started = sql_text((*found)[6]);
  sweep.finished = sql_text((*found)[7]);
  for (const auto& row :
       database.query("SELECT name, column FROM axes WHERE sweep = ?1 ORDER BY position", {sweep.id}).rows) {
    const Axis axis{sql_text(row[0]), sql_text(row[1])};
    const SqlTable values = database.query(
        fmt::format("SELECT count(DISTINCT {}) FROM results WHERE sweep = ?1", sql_name(axis.column)), {sweep.id});
    if (std::get<std::int64_t>(values.rows[0][0]) > 1) {
      sweep.axes.push_back(axis);
    }
  }
  if (sweep.axes.empty()) {
    sweep.axes.push_back({"workload", "workload"});
  }
  for (const auto& row :
       database.query("SELECT status, count(*) FROM results WHERE sweep = ?1 GROUP BY status", {sweep.id}).rows) {
    sweep.by_status[sql_text(row[0])] = std::get<std::int64_t>(row[1]);
  }
  return sweep;
}

std::string unit_of(const std::string& column) {
  for (const sweep::Column& known : sweep::run_columns()) {
    if (known.name == column) {
      return known.unit == "share" ? "" : known.unit;
    }
  }
  return {};
}

std::string axis_title(const Sweep& sweep, const std::string& column) {
  const auto axis =
      std::find_if(sweep.axes.begin(), sweep.axes.end(), [&](const Axis& one) { return one.column == column; });
  std::string title = column == "ipc" ? "IPC" : column;
  if (axis != sweep.axes.end()) {
    title = axis->name;
  } else {
    std::replace(title.begin(), title.end(), '_', ' ');
  }
  const std::string unit = unit_of(column);
  return unit.empty() || title.ends_with(unit) ? title : title + " (" + unit + ")";
}

Names names_of(const std::string& value) {
  if (value != "own" && value != "nsight") {
    throw InputError({"--names"}, fmt::format("there are no names '{}'", value), "known: own, nsight");
  }
  return value == "own" ? Names::own : Names::nsight;
}

std::string shown_name(const std::string& column, Names names) {
  const std::string_view metric = names == Names::nsight ? tb::nsight_metric(column) : std::string_view{};
  return metric.empty() ? column : std::string(metric);
}

std::vector<std::string> nsight_columns() {
  std::vector<std::string> out;
  for (const tb::SummaryDeclaration& declaration : tb::summary_declarations()) {
    if (!declaration.nsight.empty()) {
      out.push_back(declaration.name);
    }
  }
  return out;
}

std::string find_column(Database& database, const std::string& word, const std::string& place, bool numeric) {
  const std::vector<KnownColumn> known = columns_of(database);
  std::string name = sweep::column_name(word);
  for (const std::string& column : nsight_columns()) {
    name = tb::nsight_metric(column) == word ? column : name;
  }
  std::vector<std::string> names;
  for (const KnownColumn& column : known) {
    if (column.name == name && numeric && column.type == "TEXT") {
      throw InputError({place}, fmt::format("'{}' is no number", word));
    }
    if (column.name == name) {
      return name;
    }
    names.push_back(column.name);
  }
  throw InputError({place}, fmt::format("there is no statistic or parameter '{}'", word),
                   suggest(name, names, "docs/explorations.md says which columns there are"));
}

SqlTable select(Database& database, const Sweep& sweep, const std::vector<std::string>& columns,
                const std::string& condition) {
  if (!condition.empty()) {  // an expression by itself: one that closes our parenthesis is none
    static_cast<void>(database.query_of_user("SELECT 1 FROM results WHERE\n" + condition + "\nLIMIT 0", "--where"));
  }
  const std::string where = condition.empty() ? "" : " AND (\n" + condition + "\n)";
  return database.query_of_user(fmt::format("SELECT {} FROM results WHERE sweep = {}{} ORDER BY point, repetition",
                                            columns.empty() ? "*" : list_of(columns), sweep.id, where),
                                "--where");
}

std::string csv(const SqlTable& table, Names names) {
  std::string out;
  const auto line = [&](const auto& cells, const auto& text) {
    bool first = true;
    for (const auto& value : cells) {
      std::string word = text(value);
      out += first ? "" : ",";
      first = false;
      if (word.find_first_of(",\"\r\n") == std::string::npos) {
        out += word;
        continue;
      }
      out += '"';
      for (const char c : word) {
        out += c == '"' ? "\"\"" : std::string(1, c);
      }
      out += '"';
    }
    out += '\n';
  };
  line(table.columns, [names](const std::string& name) { return shown_name(name, names); });
  for (const std::vector<SqlValue>& row : table.rows) {
    line(row, [](const SqlValue& value) { return sql_text(value); });
  }
  return out;
}

std::string table_text(const SqlTable& table, std::size_t most, bool exact, Names names) {
  std::vector<TextTable::Column> heads;
  std::vector<bool> plain;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool words = std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<SqlValue>& row) {
      return std::holds_alternative<std::string>(row[i]);
    });
    heads.push_back({shown_name(table.columns[i], names), words ? TextTable::Align::left : TextTable::Align::right});
    plain.push_back(exact || !is_statistic(table.columns[i]));
  }
  TextTable out(heads);
  for (std::size_t row = 0; row < std::min(most, table.rows.size()); ++row) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const SqlValue& value = table.rows[row][i];
      cells.push_back(cell(value, plain[i]));
    }
    out.add(std::move(cells));
  }
  std::string text = out.text();
  if (table.rows.size() > most) {
    text += fmt::format("and {} more; --all shows them\n", counted(table.rows.size() - most, "row"));
  }
  return text;
}

std::string summary_text(Database& database, const Sweep& sweep, const std::vector<std::string>& columns,
                         const std::string& condition, std::size_t most, Names names) {
  std::int64_t there = 0;
  std::string states;
  for (const auto& [status, count] : sweep.by_status) {
    there += count;
    states += fmt::format("{}{} {}", states.empty() ? "" : ", ", count, status);
  }
  std::string out =
      fmt::format("{}{}{}\n{} of {}: {}; {}\n", sweep.name, sweep.description.empty() ? "" : ": ", sweep.description,
                  there, counted(static_cast<std::uint64_t>(sweep.points), "run"), states.empty() ? "none yet" : states,
                  sweep.finished.empty() ? "incomplete" : "complete since " + sweep.finished);
  std::vector<std::string> shown;
  for (const Axis& axis : sweep.axes) {
    shown.push_back(axis.column);
  }
  const bool all_done = sweep.by_status.size() == 1 && sweep.by_status.count("done") == 1;
  if (!all_done) {
    shown.emplace_back("status");
  }
  std::vector<std::string> wanted = !columns.empty() ? columns : names == Names::nsight ? nsight_columns() : kUsual;
  if (columns.empty() && is_priced(database, sweep)) {
    wanted.insert(wanted.end(), kUsualEnergy.begin(), kUsualEnergy.end());
  }
  for (const std::string& column : wanted) {
    if (std::find(shown.begin(), shown.end(), column) == shown.end()) {
      shown.push_back(column);
    }
  }
  if (!all_done && columns.empty()) {
    shown.emplace_back("message");
  }
  SqlTable table = select(database, sweep, shown, condition);
  return out + "\n" + table_text(table, most, false, names);
}

std::optional<double> number(const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return *real;
  }
  return std::nullopt;
}

double mean(const std::vector<double>& values) {
  const bool positive = std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
  double sum = 0;
  for (const double value : values) {
    sum += positive ? std::log(value) : value;
  }
  sum /= static_cast<double>(values.size());
  if (values.size() == 1) {
    return values.front();
  }
  // Without the last digits, in which logarithms make equal means differ.
  return std::stod(fmt::format("{:.12g}", positive ? std::exp(sum) : sum));
}

}  // namespace heddle::studies::results
