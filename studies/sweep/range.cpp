#include "studies/sweep/range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "tb/launch/section.hpp"

namespace heddle::studies::sweep {
namespace {

using tb::launch::Section;

constexpr std::size_t kMostValues = 100000;

std::vector<ParameterValue> stepped(const std::string& name, const Section& section, const tb::launch::Number& from,
                                    const tb::launch::Number& to) {
  const bool adds = section.has("step");
  const std::string key = adds ? "step" : "times";
  const tb::launch::Number step = section.number(key);
  if (!(step.real > (adds ? 0.0 : 1.0)) || !std::isfinite(step.real) || (!adds && from.real <= 0)) {
    throw InputError(section.where(adds || step.real <= 1 ? key : "from"),
                     adds ? section.name(key) + " must be above 0"
                          : fmt::format("the range of {} multiplies: from must be above 0 and times above 1", name));
  }
  const bool whole = from.is_integer && to.is_integer && step.is_integer;
  std::vector<ParameterValue> values;
  const auto add = [&](ParameterValue value) {
    values.push_back(std::move(value));
    if (values.size() > kMostValues) {
      throw InputError(section.where(), fmt::format("the range of {} has more than {} values", name, kMostValues));
    }
  };
  if (whole) {
    const tb::launch::Wide by = step.integer;
    for (tb::launch::Wide value = from.integer; value <= to.integer; value = adds ? value + by : value * by) {
      add(static_cast<std::int64_t>(value));
    }
    return values;
  }
  const double end = to.real + 1e-9 * std::abs(to.real);  // a step of 0.1 reaches its end
  double value = from.real;
  for (std::size_t i = 1; value <= end; ++i) {
    add(value);
    value = adds ? from.real + static_cast<double>(i) * step.real : value * step.real;
  }
  return values;
}

std::vector<ParameterValue> drawn(const std::string& name, const Section& section, const tb::launch::Number& from,
                                  const tb::launch::Number& to) {
  const std::uint64_t count = section.integer("random", 1, kMostValues);
  const auto refuse_count = [&] {
    throw InputError(section.where("random"), fmt::format("the range of {} has fewer than {} values", name, count));
  };
  Random random(section.integer("seed", 0, INT64_MAX, 1));
  if (from.is_integer && to.is_integer) {
    const tb::launch::Wide span = to.integer - from.integer;
    if (span < static_cast<tb::launch::Wide>(count) - 1) {
      refuse_count();
    }
    std::set<std::int64_t> values;  // sorted and distinct
    while (values.size() < count) {
      const auto offset = static_cast<tb::launch::Wide>(random.unit() * (static_cast<double>(span) + 1));
      values.insert(static_cast<std::int64_t>(from.integer + std::min(offset, span)));  // a double may be rounded up
    }
    return {values.begin(), values.end()};
  }
  std::set<double> values;
  const double span = to.real - from.real;
  for (std::uint64_t repeated = 0; values.size() < count;) {
    // Fractions hardly ever come twice, unless the range is so narrow that it holds few.
    if (!values.insert(from.real + random.unit() * span).second && ++repeated > count) {
      refuse_count();
    }
  }
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<ParameterValue> range_values(const std::string& name, const toml::table& table, const std::string& path) {
  const Section section(table, path, fmt::format("the range of {}", name),
                        {"from", "to", "step", "times", "random", "seed"});
  const auto bound = [&](std::string_view key) {
    const tb::launch::Number number = section.number(key);
    if (!std::isfinite(number.real)) {
      throw InputError(section.where(key), section.name(key) + " must be finite");
    }
    if (number.is_integer && number.integer > INT64_MAX) {
      throw InputError(section.where(key), section.name(key) + " must be below 2^63");
    }
    return number;
  };
  const tb::launch::Number from = bound("from");
  const tb::launch::Number to = bound("to");
  const int ways = (section.has("step") ? 1 : 0) + (section.has("times") ? 1 : 0) + (section.has("random") ? 1 : 0);
  if (ways != 1) {
    throw InputError(section.where(), fmt::format("the range of {} needs one of step, times and random", name));
  }
  if (from.real > to.real) {
    throw InputError(section.where("to"), fmt::format("the range of {} ends below its beginning", name));
  }
  return section.has("random") ? drawn(name, section, from, to) : stepped(name, section, from, to);
}

}  // namespace heddle::studies::sweep
