// The values of an axis that is written as a range: { from, to } with step (adds), times (multiplies) or random (so
// many values of the range, seeded).
#pragma once

#include <toml++/toml.h>
#include <string>
#include <vector>

#include "base/parameter.hpp"

namespace heddle::studies::sweep {

// In ascending order. `name`: of the axis, `path`: of the file. Throws InputError for ranges that make no sense or have
// more than 100,000 values.
[[nodiscard]] std::vector<ParameterValue> range_values(const std::string& name, const toml::table& table,
                                                       const std::string& path);

}  // namespace heddle::studies::sweep
