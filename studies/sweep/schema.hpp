// What an EXPLORATION.toml and the rows of a sweep's database hold, as JSON Schema (2020-12), from the declarations of
// settings, parameters and columns.
#pragma once

#include <boost/json/fwd.hpp>

namespace heddle::studies::sweep {

// The file's TOML as JSON.
[[nodiscard]] boost::json::object exploration_schema();
// A row of the view `results`: columns by name. "x-unit" and "x-group" say more of them.
[[nodiscard]] boost::json::object results_schema();

}  // namespace heddle::studies::sweep
