// The references that are made from declarations: parameters and statistics, as terminal tables and as Markdown
// (docs/parameters.md and docs/statistics.md).
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "base/parameter.hpp"
#include "base/statistics.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::pages {

[[nodiscard]] std::string parameters_text(hw::Machine machine);
[[nodiscard]] std::string parameters_markdown(hw::Machine machine);

// `modules`: the counters of an elaborated GPU. Modules that differ by number only ("core0", "core1") are one row
// group.
[[nodiscard]] std::string statistics_text(const StatisticsRegistry& modules);
[[nodiscard]] std::string statistics_markdown(const StatisticsRegistry& modules);

// The signals of a machine's waves, one row for signals that differ by number only; and of all machines together, each
// as the first of some machines has it that cover every mechanism.
[[nodiscard]] std::string signals_text(const hw::Machine& machine);
[[nodiscard]] std::string signals_markdown();

// The references as JSON, for programs. Of signals: those of one machine, each by itself.
[[nodiscard]] boost::json::array parameters_json(hw::Machine machine);
[[nodiscard]] boost::json::object statistics_json(const StatisticsRegistry& modules);
[[nodiscard]] boost::json::array signals_json(const hw::Machine& machine);
// A parameter's value.
[[nodiscard]] boost::json::value value_json(const ParameterReference& parameter);

}  // namespace heddle::pages
