#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "studies/results/results.hpp"

namespace heddle::studies::results {
namespace {

bool better(double a, double b, const Goal& goal) {
  return goal.high ? a > b : a < b;
}

// At least as good in every goal and better in one.
bool beats(const std::vector<double>& a, const std::vector<double>& b, const std::vector<Goal>& goals) {
  bool any = false;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    if (better(b[i], a[i], goals[i])) {
      return false;
    }
    any = any || better(a[i], b[i], goals[i]);
  }
  return any;
}

}  // namespace

std::vector<Goal> parse_goals(Database& database, const std::string& text) {
  std::vector<Goal> goals;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::size_t colon = word.rfind(':');
    const std::string way = colon == std::string::npos ? "" : word.substr(colon + 1);
    if (way != "min" && way != "max") {
      throw InputError({"--pareto"}, fmt::format("'{}' says neither :min nor :max", word),
                       "write STAT:min or STAT:max, separated by commas");
    }
    const std::string column = find_column(database, word.substr(0, colon), "--pareto", true);
    if (std::any_of(goals.begin(), goals.end(), [&](const Goal& goal) { return goal.column == column; })) {
      throw InputError({"--pareto"}, fmt::format("'{}' is there twice", column));
    }
    goals.push_back({column, way == "max"});
    at = end + 1;
  }
  return goals;
}

std::vector<std::size_t> pareto_indices(const std::vector<std::vector<double>>& figures,
                                        const std::vector<Goal>& goals) {
  // In the order of the first goals only an earlier one can beat a later one, and one on the front then does.
  std::vector<std::size_t> order(figures.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    for (std::size_t i = 0; i < goals.size(); ++i) {
      if (figures[a][i] != figures[b][i]) {
        return better(figures[a][i], figures[b][i], goals[i]);
      }
    }
    return false;
  });
  std::vector<std::size_t> front;
  for (const std::size_t candidate : order) {
    if (std::none_of(front.begin(), front.end(),
                     [&](std::size_t on) { return beats(figures[on], figures[candidate], goals); })) {
      front.push_back(candidate);
    }
  }
  return front;
}

SqlTable pareto_front(Database& database, const Sweep& sweep, const std::vector<Goal>& goals,
                      const std::string& condition) {
  std::vector<std::string> columns = {"status"};
  std::size_t design_axes = 0;
  for (const bool input : {false, true}) {
    for (const Axis& axis : sweep.axes) {
      if (axis.is_input() == input) {
        columns.push_back(axis.column);
        design_axes += input ? 0 : 1;
      }
    }
  }
  const std::size_t first_goal = columns.size() + 1;
  columns.emplace_back("repetition");
  for (const Goal& goal : goals) {
    columns.push_back(goal.column);
  }
  struct Design {
    std::vector<std::vector<double>> values;  // by goal
    std::set<std::vector<SqlValue>> inputs;
  };
  std::map<std::vector<SqlValue>, Design> designs;
  std::set<std::vector<SqlValue>> inputs;
  const auto begin_of_inputs = static_cast<std::ptrdiff_t>(1 + design_axes);
  for (const std::vector<SqlValue>& row : select(database, sweep, columns, condition).rows) {
    if (sql_text(row[0]) != "done") {
      continue;
    }
    std::vector<double> values;
    for (std::size_t i = 0; i < goals.size(); ++i) {
      if (const auto value = number(row[first_goal + i])) {
        values.push_back(*value);
      }
    }
    if (values.size() < goals.size()) {
      continue;
    }
    Design& design = designs[{row.begin() + 1, row.begin() + begin_of_inputs}];
    const std::vector<SqlValue> input(row.begin() + begin_of_inputs,
                                      row.begin() + static_cast<std::ptrdiff_t>(first_goal));
    inputs.insert(input);
    if (design.inputs.insert(input).second) {
      design.values.resize(goals.size());
      for (std::size_t i = 0; i < goals.size(); ++i) {
        design.values[i].push_back(values[i]);
      }
    }
  }
  std::vector<const std::pair<const std::vector<SqlValue>, Design>*> complete;
  std::vector<std::vector<double>> figures;
  for (const auto& entry : designs) {
    if (entry.second.inputs.size() == inputs.size()) {
      complete.push_back(&entry);
      std::vector<double>& means = figures.emplace_back();
      for (const std::vector<double>& values : entry.second.values) {
        means.push_back(mean(values));
      }
    }
  }
  if (complete.empty()) {
    throw InputError({"--pareto"}, "no design has done all workloads and has these figures");
  }
  SqlTable out;
  out.columns.assign(columns.begin() + 1, columns.begin() + begin_of_inputs);
  for (const Goal& goal : goals) {
    out.columns.push_back(goal.column);
  }
  out.columns.emplace_back("runs");
  for (const std::size_t index : pareto_indices(figures, goals)) {
    std::vector<SqlValue>& row = out.rows.emplace_back(complete[index]->first);
    row.insert(row.end(), figures[index].begin(), figures[index].end());
    row.emplace_back(static_cast<std::int64_t>(inputs.size()));
  }
  return out;
}

}  // namespace heddle::studies::results
