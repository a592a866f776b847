#include "tb/sweep/range.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "tb/launch/section.hpp"
#include "tb/random.hpp"

namespace heddle::tb::sweep {
namespace {

using launch::Section;

constexpr std::size_t kMostValues = 100000;

ParameterValue number_value(bool whole, double value) {
  return whole ? ParameterValue(static_cast<std::int64_t>(std::llround(value))) : ParameterValue(value);
}

std::vector<ParameterValue> stepped(const std::string& name, const Section& section, const launch::Number& from,
                                    const launch::Number& to) {
  const bool adds = section.has("step");
  const std::string key = adds ? "step" : "times";
  const launch::Number step = section.number(key);
  if (!(step.real > (adds ? 0.0 : 1.0)) || !std::isfinite(step.real) || (!adds && from.real <= 0)) {
    throw InputError(section.where(adds || step.real <= 1 ? key : "from"),
                     adds ? section.name(key) + " must be above 0"
                          : fmt::format("the range of {} multiplies: from must be above 0 and times above 1", name));
  }
  const bool whole = from.is_integer && to.is_integer && step.is_integer;
  std::vector<ParameterValue> values;
  constexpr double kSlack = 1 + 1e-9;  // a step of 0.1 reaches its end
  double value = from.real;
  for (std::size_t i = 1; value <= to.real + std::abs(to.real) * (kSlack - 1); ++i) {
    values.push_back(number_value(whole, value));
    if (values.size() > kMostValues) {
      throw InputError(section.where(), fmt::format("the range of {} has more than {} values", name, kMostValues));
    }
    value = adds ? from.real + static_cast<double>(i) * step.real : value * step.real;
  }
  return values;
}

std::vector<ParameterValue> drawn(const std::string& name, const Section& section, const launch::Number& from,
                                  const launch::Number& to) {
  const std::uint64_t count = section.integer("random", 1, kMostValues);
  const bool whole = from.is_integer && to.is_integer;
  const auto refuse_count = [&] {
    throw InputError(section.where("random"), fmt::format("the range of {} has fewer than {} values", name, count));
  };
  if (whole && to.real - from.real + 1 < static_cast<double>(count)) {
    refuse_count();
  }
  Random random(section.integer("seed", 0, INT64_MAX, 1));
  std::set<double> values;  // sorted and distinct
  const double span = to.real - from.real;
  for (std::uint64_t repeated = 0; values.size() < count;) {
    const double value = from.real + (whole ? std::floor(random.unit() * (span + 1)) : random.unit() * span);
    // Fractions hardly ever come twice, unless the range is so narrow that it holds few.
    if (!values.insert(value).second && !whole && ++repeated > count) {
      refuse_count();
    }
  }
  std::vector<ParameterValue> out;
  out.reserve(values.size());
  for (const double value : values) {
    out.push_back(number_value(whole, value));
  }
  return out;
}

}  // namespace

std::vector<ParameterValue> range_values(const std::string& name, const toml::table& table, const std::string& path) {
  const Section section(table, path, fmt::format("the range of {}", name),
                        {"from", "to", "step", "times", "random", "seed"});
  const auto bound = [&](std::string_view key) {
    const launch::Number number = section.number(key);
    if (!std::isfinite(number.real)) {
      throw InputError(section.where(key), section.name(key) + " must be finite");
    }
    return number;
  };
  const launch::Number from = bound("from");
  const launch::Number to = bound("to");
  const int ways = (section.has("step") ? 1 : 0) + (section.has("times") ? 1 : 0) + (section.has("random") ? 1 : 0);
  if (ways != 1) {
    throw InputError(section.where(), fmt::format("the range of {} needs one of step, times and random", name));
  }
  if (from.real > to.real) {
    throw InputError(section.where("to"), fmt::format("the range of {} ends below its beginning", name));
  }
  return section.has("random") ? drawn(name, section, from, to) : stepped(name, section, from, to);
}

}  // namespace heddle::tb::sweep
