// The page of an exploration: its rows as JSON, drawn by studies/pages/page/exploration.js.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>

#include "studies/pages/page/data_page.hpp"
#include "studies/results/results.hpp"
#include "studies/sweep/store.hpp"

namespace heddle::studies::results {
namespace {

namespace json = boost::json;

json::value to_json(const SqlValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return *whole;
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return *real;
  }
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? json::value() : json::value(*text);
}

}  // namespace

std::string results_page(Database& database, const Sweep& shown, const std::string& condition,
                         const std::string& command) {
  std::vector<std::string> columns = {"point", "repetition", "status", "message"};
  json::array described;
  json::array axes;
  std::set<std::string> taken(columns.begin(), columns.end());
  for (const Axis& axis : shown.axes) {
    axes.push_back(json::object{
        {"name", axis.name}, {"column", axis.column}, {"unit", unit_of(axis.column)}, {"input", axis.is_input()}});
    if (taken.insert(axis.column).second) {
      columns.push_back(axis.column);
    }
  }
  std::set<std::string> there;
  for (const auto& row : database.query("SELECT name FROM pragma_table_info('runs')").rows) {
    there.insert(sql_text(row.front()));
  }
  for (const sweep::Column& column : sweep::run_columns()) {
    const bool figure = column.group == sweep::Column::Group::statistic || column.name == "host_wall_seconds" ||
                        column.name == "host_peak_memory_bytes";
    if (figure && column.type != "TEXT" && there.count(column.name) != 0 && taken.insert(column.name).second) {
      columns.push_back(column.name);
      described.push_back(
          json::object{{"column", column.name}, {"unit", unit_of(column.name)}, {"meaning", column.meaning}});
    }
  }
  const SqlTable table = select(database, shown, columns, condition);
  json::array rows;
  rows.reserve(table.rows.size());
  for (const std::vector<SqlValue>& row : table.rows) {
    json::array cells;
    cells.reserve(row.size());
    for (const SqlValue& value : row) {
      cells.push_back(to_json(value));
    }
    rows.push_back(std::move(cells));
  }
  json::array names;
  for (const std::string& column : columns) {
    names.push_back(json::value(column));
  }
  const json::object data{{"command", command},
                          {"name", shown.name},
                          {"description", shown.description},
                          {"version", shown.version},
                          {"build", shown.build},
                          {"started", shown.started},
                          {"finished", shown.finished},
                          {"points", shown.points},
                          {"condition", condition},
                          {"axes", std::move(axes)},
                          {"figures", std::move(described)},
                          {"columns", std::move(names)},
                          {"rows", std::move(rows)}};
  return pages::data_page({shown.name, json::serialize(data), {"exploration.js"}});
}

}  // namespace heddle::studies::results
