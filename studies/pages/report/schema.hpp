// What stats.json and host.json hold, as JSON Schema (2020-12), from the declarations of figures, counters and
// parameters. Units are in "x-unit".
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameter.hpp"
#include "base/statistics.hpp"

namespace heddle::pages {

// Of stats.json, in order: keys of one meaning together.
struct FileKey {
  std::vector<std::string> names;
  std::string meaning;
  bool always = true;  // false: only of some runs
};
[[nodiscard]] const std::vector<FileKey>& stats_keys();

// `modules`: the counters of a GPU with every kind of module.
[[nodiscard]] boost::json::object stats_schema(const StatisticsRegistry& modules);
[[nodiscard]] boost::json::object host_schema();

// The first keys of a schema: dialect and title.
[[nodiscard]] boost::json::object schema_of(std::string_view title);
// An object of these properties and no others; all of them are required.
[[nodiscard]] boost::json::object object_schema(boost::json::object properties);
// What a parameter may be.
[[nodiscard]] boost::json::object parameter_schema(const ParameterReference& parameter);
// A limit as a number without a fraction, where it is one.
[[nodiscard]] boost::json::value limit_json(double limit);

}  // namespace heddle::pages
