#include "studies/correlate/correlation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <type_traits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hw/state/idle_cause.hpp"
#include "studies/pages/page/data_page.hpp"
#include "tb/measure/summary.hpp"

namespace heddle::studies {
namespace {

namespace json = boost::json;

std::string text_of(const json::object& object, const char* key) {
  const json::value* const found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

double number_of(const json::value* value) {
  return value != nullptr && value->is_number() ? value->to_number<double>() : NAN;
}

[[noreturn]] void refuse_results(const std::string& path) {
  throw InputError({path}, "this is no file of results of hardware/measure",
                   "give what measure writes (hardware/README.md)");
}

// The median of the first measurement of the clock.
double clock_of(const json::object& file) {
  const json::value* const clocks = file.if_contains("clock");
  if (clocks == nullptr || !clocks->is_array()) return NAN;
  for (const json::value& clock : clocks->as_array()) {
    const json::object* const object = clock.if_object();
    const json::value* const mhz = object == nullptr ? nullptr : object->if_contains("mhz");
    if (mhz != nullptr && mhz->is_object()) return number_of(mhz->as_object().if_contains("median"));
  }
  return NAN;
}

Measurements::Row row_of(const json::object& row, double clock_mhz) {
  Measurements::Row out{text_of(row, "name"), text_of(row, "group"),  text_of(row, "unit"),
                        text_of(row, "key"),  text_of(row, "status"), text_of(row, "source")};
  const double value = number_of(row.if_contains("value"));
  const std::string of = text_of(row, "of");
  // The host's clock is no matter of the machine.
  const bool is_time = of == "ns";
  if (!(value > 0) || (of != "cycles" && !is_time) || (is_time && !(clock_mhz > 0))) return out;
  const json::value* const rate = row.if_contains("rate");
  const double cycles_per_ns = clock_mhz / 1000;
  const bool is_rate = rate != nullptr && rate->is_bool() && rate->as_bool();
  out.value = !is_time ? value : is_rate ? value / cycles_per_ns : value * cycles_per_ns;
  out.has_value = true;
  if (is_time) out.unit += ", in cycles";
  return out;
}

double pearson(const std::vector<const Compared*>& kernels) {
  const auto count = static_cast<double>(kernels.size());
  double mean_x = 0, mean_y = 0, xy = 0, xx = 0, yy = 0;
  for (const Compared* kernel : kernels) {
    mean_x += std::log(kernel->hardware) / count;
    mean_y += std::log(kernel->machine) / count;
  }
  for (const Compared* kernel : kernels) {
    const double x = std::log(kernel->hardware) - mean_x;
    const double y = std::log(kernel->machine) - mean_y;
    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  constexpr double kAlike = 1e-18;
  return kernels.size() < 2 || xx < kAlike || yy < kAlike ? NAN : xy / std::sqrt(xx * yy);
}

Deviation deviation_of(const std::string& name, const std::vector<const Compared*>& kernels) {
  Deviation out;
  out.of = name;
  out.kernels = kernels.size();
  double logarithms = 0;
  for (const Compared* kernel : kernels) {
    const double error = std::fabs(kernel->error());
    out.mean_error += error / static_cast<double>(kernels.size());
    out.worst_error = std::max(out.worst_error, error);
    logarithms += std::log(kernel->machine / kernel->hardware);
  }
  out.ratio = std::exp(logarithms / static_cast<double>(kernels.size()));
  out.correlation = pearson(kernels);
  return out;
}

// FNV-1a, whose remainder is even enough for a draw.
bool is_held_out(const std::string& name, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ULL ^ (seed * 0x9e37'79b9'7f4a'7c15ULL);
  for (const char letter : name) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100'0000'01b3ULL;
  }
  return (hash >> 20U) % 3 == 0;
}

double slope_of(const std::vector<Series::Point>& points, double Series::Point::*figure) {
  double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
  for (const Series::Point& point : points) {
    mean_x += std::log(point.size) / static_cast<double>(points.size());
    mean_y += std::log(point.*figure) / static_cast<double>(points.size());
  }
  for (const Series::Point& point : points) {
    xy += (std::log(point.size) - mean_x) * (std::log(point.*figure) - mean_y);
    xx += (std::log(point.size) - mean_x) * (std::log(point.size) - mean_x);
  }
  return xy / xx;
}

std::vector<Series> series_of(const std::vector<Compared>& kernels) {
  std::map<std::string, Series> found;
  for (const Compared& kernel : kernels) {
    const std::size_t slash = kernel.name.rfind('/');
    if (kernel.held_out || slash == std::string::npos) continue;
    char* end = nullptr;
    const char* const number = kernel.name.c_str() + slash + 1;
    const double size = std::strtod(number, &end);
    if (end == number || *end != '\0' || !(size > 0)) continue;
    Series& series = found[kernel.name.substr(0, slash)];
    series.points.push_back({size, kernel.hardware, kernel.machine});
  }
  std::vector<Series> out;
  for (auto& [name, series] : found) {
    std::sort(series.points.begin(), series.points.end(),
              [](const Series::Point& a, const Series::Point& b) { return a.size < b.size; });
    if (series.points.size() < 2) continue;
    series.name = name;
    series.hardware_slope = slope_of(series.points, &Series::Point::hardware);
    series.machine_slope = slope_of(series.points, &Series::Point::machine);
    out.push_back(std::move(series));
  }
  return out;
}

// The sources of published figures among those that were compared, each once.
std::vector<std::string> sources_of(const Correlation& correlation) {
  std::vector<std::string> out;
  for (const Compared& kernel : correlation.kernels) {
    if (!kernel.source.empty() && std::find(out.begin(), out.end(), kernel.source) == out.end()) {
      out.push_back(kernel.source);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string correlation_cell(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.4f}", value);
}

std::string csv_cell(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

bool any_counters(const Correlation& correlation) {
  return std::any_of(correlation.kernels.begin(), correlation.kernels.end(),
                     [](const Compared& one) { return !one.held_out && !one.counters.empty(); });
}

// A counter of the summary by its column's name; NaN: it has none.
double counter_of(const json::object& counters, const std::string& column) {
  constexpr std::string_view kIdle = "idle_cycles_";
  if (const json::value* const found = counters.if_contains(column)) return number_of(found);
  const json::value* const causes = counters.if_contains("idle_cycles_by_cause");
  return causes == nullptr || !column.starts_with(kIdle)
             ? NAN
             : number_of(causes->as_object().if_contains(column.substr(kIdle.size())));
}

// Columns of counters, and what heads them.
std::vector<std::pair<std::string, std::string>> counter_columns(bool nsight) {
  std::vector<std::pair<std::string, std::string>> out;
  const tb::Summary figures;
  figures.describe([&](std::string_view name, const auto& field, std::string_view, std::string_view) {
    using Field = std::remove_cvref_t<decltype(field)>;
    const std::string_view metric = tb::nsight_metric(name);
    if (nsight) {
      if (!metric.empty()) out.emplace_back(name, metric);
    } else if constexpr (std::is_arithmetic_v<Field>) {
      out.emplace_back(name, name);
    } else if constexpr (std::is_same_v<Field, tb::IdleByCause>) {
      for (const hw::IdleCauseInfo& cause : hw::kIdleCauses) {
        out.emplace_back(fmt::format("idle_cycles_{}", cause.name), fmt::format("idle_cycles_{}", cause.name));
      }
    }
  });
  return out;
}

}  // namespace

std::string Compared::idle_causes() const {
  const json::value* const causes = counters.if_contains("idle_cycles_by_cause");
  const double idle = counters.empty() ? 0 : number_of(counters.if_contains("idle_cycles"));
  const double share = counters.empty() ? 0 : number_of(counters.if_contains("idle_share"));
  if (causes == nullptr || !(idle > 0) || !(share > 0)) return {};
  std::vector<std::pair<double, std::string>> most;
  for (const auto& cause : causes->as_object()) most.emplace_back(-number_of(&cause.value()), cause.key());
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string out;
  for (std::size_t i = 0; i != std::min<std::size_t>(2, most.size()); ++i) {
    if (most[i].first < 0) {
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", percent(-most[i].first / idle * share), most[i].second);
    }
  }
  return out;
}

Measurements read_measurements(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) throw InputError({path}, "the file cannot be read", "look at its name");
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* const object = error ? nullptr : value.if_object();
  if (object == nullptr || number_of(object->if_contains("format")) != 1) refuse_results(path);
  const json::value* const rows = object->if_contains("rows");
  const json::value* const device = object->if_contains("device");
  if (rows == nullptr || !rows->is_array() || device == nullptr || !device->is_object()) refuse_results(path);
  Measurements out;
  out.path = path;
  out.campaign = text_of(*object, "campaign");
  out.device = text_of(device->as_object(), "name");
  out.clock_mhz = clock_of(*object);
  for (const json::value& row : rows->as_array()) {
    if (!row.is_object() || text_of(row.as_object(), "name").empty()) refuse_results(path);
    out.rows.push_back(row_of(row.as_object(), out.clock_mhz));
  }
  return out;
}

Correlation correlate(const Measurements& hardware, const Measurements& machine,
                      std::optional<std::uint64_t> hold_out) {
  if (hardware.campaign != machine.campaign) {
    throw InputError({machine.path},
                     fmt::format("these are results of the campaign '{}', those of {} of '{}'", machine.campaign,
                                 hardware.path, hardware.campaign),
                     "measure both by one campaign");
  }
  std::map<std::string, const Measurements::Row*> found;
  for (const Measurements::Row& row : machine.rows) found[row.name] = &row;
  Correlation out;
  std::vector<std::string> groups;
  for (const Measurements::Row& row : hardware.rows) {
    const auto other = found.find(row.name);
    const auto leave_out = [&](const std::string& reason) { out.missing.push_back(row.name + ": " + reason); };
    if (!row.has_value) {
      leave_out(fmt::format("the hardware has no figure ({})", row.status));
    } else if (other == found.end()) {
      leave_out("the machine was not measured");
    } else if (!other->second->has_value) {
      leave_out(fmt::format("the machine has no figure ({})", other->second->status));
    } else if (row.source.empty() && other->second->key != row.key) {
      leave_out("the item has changed between both measurements");
    } else {
      out.kernels.push_back({row.name, row.group, row.unit, row.source, row.value, other->second->value,
                             hold_out && is_held_out(row.name, *hold_out), other->second->counters});
      if (std::find(groups.begin(), groups.end(), row.group) == groups.end()) groups.push_back(row.group);
    }
  }
  if (out.kernels.empty()) {
    throw InputError({machine.path}, fmt::format("no kernel has a figure here and in {}", hardware.path),
                     "measure both by the same items");
  }
  std::stable_sort(out.kernels.begin(), out.kernels.end(),
                   [](const Compared& a, const Compared& b) { return std::fabs(a.error()) > std::fabs(b.error()); });
  std::vector<const Compared*> all;
  for (const Compared& kernel : out.kernels) all.push_back(&kernel);
  for (const std::string& group : groups) {
    std::vector<const Compared*> members;
    std::copy_if(all.begin(), all.end(), std::back_inserter(members),
                 [&](const Compared* kernel) { return kernel->group == group; });
    out.groups.push_back(deviation_of(group, members));
  }
  out.groups.push_back(deviation_of("all", all));
  for (const bool held_out : {false, true}) {
    std::vector<const Compared*> members;
    std::copy_if(all.begin(), all.end(), std::back_inserter(members),
                 [&](const Compared* kernel) { return kernel->held_out == held_out; });
    if (hold_out && !members.empty()) {
      out.groups.push_back(deviation_of(held_out ? "held out" : "looked at", members));
    }
  }
  out.series = series_of(out.kernels);
  return out;
}

std::string correlation_text(const Correlation& correlation, const Measurements& hardware,
                             const Measurements& machine) {
  using Align = TextTable::Align;
  TextTable groups({{"group"},
                    {"kernels", Align::right},
                    {"mean error", Align::right},
                    {"worst", Align::right},
                    {"machine / hardware", Align::right},
                    {"correlation", Align::right}});
  for (const Deviation& one : correlation.groups) {
    groups.add({one.of, std::to_string(one.kernels), percent(one.mean_error), percent(one.worst_error),
                fmt::format("{:.3f}", one.ratio), correlation_cell(one.correlation)});
  }
  std::vector<TextTable::Column> columns = {
      {"kernel"}, {"hardware", Align::right}, {"machine", Align::right}, {"error", Align::right}, {"unit"}};
  const bool counted_ones = any_counters(correlation);
  if (counted_ones) columns.push_back({"idle for most of it"});
  TextTable kernels(std::move(columns));
  std::size_t held_out = 0;
  for (const Compared& one : correlation.kernels) {
    if (one.held_out) {
      ++held_out;
      continue;
    }
    std::vector<std::string> row = {one.name, fmt::format("{:.6g}", one.hardware), fmt::format("{:.6g}", one.machine),
                                    fmt::format("{:+.1f} %", 100 * one.error()), one.unit};
    if (counted_ones) row.push_back(one.idle_causes());
    kernels.add(std::move(row));
  }
  std::string out = fmt::format("{} beside {}, campaign {}\n\n{}\n{}", machine.device, hardware.device,
                                hardware.campaign, groups.text(), kernels.text());
  if (held_out != 0) out += fmt::format("\nheld out, and not listed: {}\n", counted(held_out, "kernel"));
  if (!correlation.series.empty()) {
    TextTable slopes({{"over its last number"},
                      {"kernels", Align::right},
                      {"exponent, hardware", Align::right},
                      {"machine", Align::right}});
    for (const Series& one : correlation.series) {
      slopes.add({one.name, std::to_string(one.points.size()), fmt::format("{:.3f}", one.hardware_slope),
                  fmt::format("{:.3f}", one.machine_slope)});
    }
    out += "\n" + slopes.text();
  }
  for (const std::string& source : sources_of(correlation)) {
    out += fmt::format("\npublished, not measured here: {}\n", source);
  }
  if (!correlation.missing.empty()) {
    out += fmt::format("\nleft out: {}\n", counted(correlation.missing.size(), "kernel"));
    for (const std::string& one : correlation.missing) out += "  " + one + "\n";
  }
  return out;
}

std::string correlation_csv(const Correlation& correlation, bool nsight) {
  std::string out = "kernel,group,unit,hardware,machine,error";
  std::vector<std::pair<std::string, std::string>> columns;
  if (any_counters(correlation)) columns = counter_columns(nsight);
  for (const auto& [column, head] : columns) out += "," + head;
  out += '\n';
  for (const Compared& one : correlation.kernels) {
    if (one.held_out) continue;
    out += fmt::format("{},{},{},{:.9g},{:.9g},{:.6g}", csv_cell(one.name), csv_cell(one.group), csv_cell(one.unit),
                       one.hardware, one.machine, one.error());
    for (const auto& [column, head] : columns) {
      const double value = counter_of(one.counters, column);
      out += std::isnan(value) ? "," : fmt::format(",{}", value);
    }
    out += '\n';
  }
  return out;
}

std::string correlation_page(const Correlation& correlation, const Measurements& hardware, const Measurements& machine,
                             const std::string& command) {
  json::array groups, kernels, series, missing, sources;
  for (const Deviation& one : correlation.groups) {
    groups.push_back(json::object{{"of", one.of},
                                  {"kernels", one.kernels},
                                  {"mean_error", one.mean_error},
                                  {"worst_error", one.worst_error},
                                  {"ratio", one.ratio},
                                  {"correlation", std::isnan(one.correlation) ? json::value() : one.correlation}});
  }
  for (const Compared& one : correlation.kernels) {
    if (one.held_out) continue;
    kernels.push_back(json::object{{"name", one.name},
                                   {"group", one.group},
                                   {"unit", one.unit},
                                   {"hardware", one.hardware},
                                   {"machine", one.machine},
                                   {"error", one.error()},
                                   {"idle", one.idle_causes()}});
  }
  for (const Series& one : correlation.series) {
    json::array points;
    for (const Series::Point& point : one.points) {
      points.push_back(json::object{{"size", point.size}, {"hardware", point.hardware}, {"machine", point.machine}});
    }
    series.push_back(json::object{{"name", one.name},
                                  {"points", std::move(points)},
                                  {"hardware_slope", one.hardware_slope},
                                  {"machine_slope", one.machine_slope}});
  }
  for (const std::string& one : correlation.missing) missing.push_back(json::value(one));
  for (const std::string& one : sources_of(correlation)) sources.push_back(json::value(one));
  const json::object data{{"command", command},           {"hardware", hardware.device},
                          {"machine", machine.device},    {"campaign", hardware.campaign},
                          {"groups", std::move(groups)},  {"kernels", std::move(kernels)},
                          {"series", std::move(series)},  {"missing", std::move(missing)},
                          {"sources", std::move(sources)}};
  return pages::data_page(
      {fmt::format("{} beside {}", machine.device, hardware.device), json::serialize(data), {"correlate.js"}});
}

}  // namespace heddle::studies
