#include "studies/pages/report/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/error.hpp"
#include "hw/parameters/machine.hpp"
#include "studies/pages/report/module_groups.hpp"
#include "tb/measure/record.hpp"

namespace heddle::pages {
namespace {

namespace json = boost::json;

json::object typed(const char* type) {
  return {{"type", type}};
}
json::object count_schema() {
  return {{"type", "integer"}, {"minimum", 0}};
}
json::object list_of(json::object items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}
json::object map_of(json::object values) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}
json::object or_none(const char* type) {
  return {{"type", json::array{type, "null"}}};
}
json::object one_of(std::initializer_list<json::value_ref> values) {
  return {{"enum", json::array(values)}};
}
json::object index_schema() {
  json::object index = list_of(count_schema());
  index["minItems"] = index["maxItems"] = 3;
  return index;
}
// Properties that need not be there.
json::object with_optional(json::object object, const json::object& properties) {
  for (const auto& [name, schema] : properties) {
    object["properties"].get_object()[name] = schema;
  }
  return object;
}

json::object schema_for(const std::uint64_t&) {
  return count_schema();
}
json::object schema_for(const double&) {
  return typed("number");
}
json::object schema_for(const std::string&) {
  return typed("string");
}
json::object schema_for(const std::vector<std::uint64_t>&) {
  return list_of(count_schema());
}
json::object schema_for(const tb::IdleByCause&) {
  json::object causes;
  for (const hw::IdleCauseInfo& cause : hw::kIdleCauses) {
    json::object& schema = causes[cause.name].emplace_object();
    schema = count_schema();
    schema["description"] = json::string(cause.meaning);
  }
  return object_schema(std::move(causes));
}

json::object declared(json::object schema, std::string_view unit, std::string_view meaning) {
  schema["description"] = meaning;
  if (!unit.empty()) {
    schema["x-unit"] = unit;
  }
  return schema;
}

json::object machine_schema() {
  hw::Machine machine;
  json::object sections;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    json::value& section = sections[parameter.section];
    if (section.is_null()) {
      section = json::object();
    }
    section.get_object()[parameter.key] = parameter_schema(parameter);
  }
  for (auto& [name, section] : sections) {
    section = object_schema(std::move(section.get_object()));
  }
  return object_schema({{"name", typed("string")},
                        {"description", typed("string")},
                        {"parameters", object_schema(std::move(sections))}});
}

json::object summary_schema() {
  json::object figures;
  const tb::Summary summary;
  summary.describe([&](std::string_view name, const auto& field, std::string_view unit, std::string_view definition) {
    figures[name] = declared(schema_for(field), unit, definition);
  });
  return object_schema(std::move(figures));
}

// "gpu.core<n>" as a regular expression. What a core has once each of its sub-cores has where there are several.
std::string expression_of(const std::string& pattern) {
  constexpr std::string_view kNumber = "<n>";
  constexpr std::string_view kCore = "gpu.core<n>";
  std::string out = "^";
  std::size_t at = 0;
  if (pattern.starts_with(kCore)) {
    out += "gpu\\.core[0-9]+(\\.sub[0-9]+)?";
    at = kCore.size();
  }
  for (; at < pattern.size(); ++at) {
    if (pattern.compare(at, kNumber.size(), kNumber) == 0) {
      out += "[0-9]+";
      at += kNumber.size() - 1;
    } else {
      out += pattern[at] == '.' ? std::string("\\.") : std::string(1, pattern[at]);
    }
  }
  return out + "$";
}

json::object modules_schema(const StatisticsRegistry& modules) {
  constexpr std::string_view kGpu = "gpu.";
  constexpr std::string_view kChannel = "gpu.dram<n>";
  std::vector<ModuleGroup> groups = module_groups(modules);
  for (std::size_t i = 0, known = groups.size(); i != known; ++i) {
    if (groups[i].pattern == kChannel) {  // heddle dram has the channels alone
      groups.push_back({groups[i].pattern.substr(kGpu.size()), groups[i].counters});
    }
  }
  groups.push_back(replay_counters());
  json::object patterns;
  for (const ModuleGroup& group : groups) {
    json::object counters;
    for (const ModuleGroup::Counter& counter : group.counters) {
      counters[counter.name] =
          declared(counter.several ? list_of(count_schema()) : count_schema(), counter.unit, counter.meaning);
    }
    patterns[expression_of(group.pattern)] = object_schema(std::move(counters));
  }
  return {{"type", "object"}, {"patternProperties", std::move(patterns)}, {"additionalProperties", false}};
}

json::object selection_schema() {
  const json::object estimate = {{"type", json::array{"number", "null"}}};
  json::object kernel = with_optional(object_schema({{"simulated", count_schema()},
                                                     {"interpreted", count_schema()},
                                                     {"cycles", count_schema()},
                                                     {"thread_instructions", count_schema()},
                                                     {"thread_instructions_interpreted", count_schema()},
                                                     {"estimated_cycles", estimate}}),
                                      {{"simulated_in_part", count_schema()},
                                       {"blocks", count_schema()},
                                       {"blocks_simulated", count_schema()},
                                       {"blocks_differing", count_schema()},
                                       {"whole_because", typed("string")}});
  return with_optional(object_schema({{"from_launch", count_schema()},
                                      {"skip", list_of(typed("string"))},
                                      {"sample", count_schema()},
                                      {"estimated_cycles", estimate},
                                      {"kernels", map_of(std::move(kernel))}}),
                       {{"sample_blocks", count_schema()}});
}

json::object energy_schema() {
  const json::object number = typed("number");
  const json::object text = typed("string");
  const json::object activity = object_schema({{"count", count_schema()}, {"pj_per_count", number}, {"pj", number}});
  const json::object kind = object_schema({{"source", text},
                                           {"pj", number},
                                           {"activities", map_of(activity)},
                                           {"units", count_schema()},
                                           {"leakage_mw", number},
                                           {"leakage_pj", number}});
  const json::object kernel =
      object_schema({{"kernel", text}, {"launches", count_schema()}, {"cycles", count_schema()}, {"pj", number}});
  const json::object power =
      object_schema({{"interval_cycles", count_schema()}, {"peak_mw", number}, {"kernels", list_of(kernel)}});
  const json::object module = object_schema({{"kind", text}, {"pj", number}, {"leakage_pj", number}});
  return with_optional(object_schema({{"table", text},
                                      {"description", text},
                                      {"pj", number},
                                      {"nanoseconds", number},
                                      {"average_mw", number},
                                      {"delay_product", number},
                                      {"kinds", map_of(kind)},
                                      {"modules", map_of(module)}}),
                       {{"celsius", number}, {"power", power}});
}

json::object launches_schema() {
  return list_of(object_schema({{"kernel", typed("string")},
                                {"grid", index_schema()},
                                {"block", index_schema()},
                                {"dynamic_shared", count_schema()},
                                {"stream", count_schema()},
                                {"begin", count_schema()},
                                {"end", count_schema()},
                                {"cycles", count_schema()},
                                {"warp_instructions", count_schema()},
                                {"thread_instructions", count_schema()},
                                {"complete", typed("boolean")}}));
}

json::object stray_schema() {
  return list_of(object_schema({{"kernel", typed("string")},
                                {"pc", count_schema()},
                                {"source", typed("string")},
                                {"count", count_schema()},
                                {"block", index_schema()},
                                {"thread", index_schema()},
                                {"address", typed("string")},
                                {"bytes", count_schema()},
                                {"detail", typed("string")}}));
}

}  // namespace

const std::vector<FileKey>& stats_keys() {
  static const std::vector<FileKey> keys = {
      {{"schema"}, fmt::format("version of this layout: {}", tb::kStatisticsSchema)},
      {{"heddle"}, "version of the program"},
      {{"machine"}, "`name`, `description`, and `parameters`: every parameter by section and key (see parameters.md)"},
      {{"workload"}, "the workload's name, or the LAUNCH.toml as named on the command line"},
      {{"threads"}, "threads of the largest launch"},
      {{"scale", "seed"}, "size of the input and seed of its generator; null for a LAUNCH.toml"},
      {{"address_bits"}, "pointer size of the compiled kernel, 32 or 64"},
      {{"warp_sizes"},
       "threads of a warp by kernel, for kernels that ran with other warps than `core.warp_size` (see ptx.md)"},
      {{"complete"},
       "false when the run was stopped by a fault, a limit or an interrupt: the figures are those so far"},
      {{"stop_reason"}, "why it was stopped; empty when complete"},
      {{"out_of_bounds_loads"},
       "where loads read 0 (`core.load_trap` = false), by instruction: `count`, place of the first"},
      {{"verdict"}, "`result` (\"correct\", \"wrong\" or \"not checked\") and `detail`: what was compared"},
      {{"summary"}, "the figures of the whole run, below"},
      {{"modules"}, "every module's own counters by hierarchical name, below"},
      {{"fast_forward"},
       "only with `--from-launch`, `--skip`, `--sample` and its kin: launches by kernel (see user-guide.md)",
       false},
      {{"device_used"}, "only of a CUDA program of which no call has come to the run: false", false},
      {{"launches"},
       "only of a CUDA program (`heddle exec`): kernel, grid, block, cycles... of each (see cuda.md)",
       false},
      {{"energy"},
       "only with `--energy`: by kind of unit, in pJ, from the table's figures (see user-guide.md)",
       false}};
  return keys;
}

json::object stats_schema(const StatisticsRegistry& modules) {
  json::object kinds{{"schema", one_of({tb::kStatisticsSchema})},
                     {"heddle", typed("string")},
                     {"machine", machine_schema()},
                     {"workload", typed("string")},
                     {"threads", count_schema()},
                     {"scale", or_none("number")},
                     {"seed", or_none("integer")},
                     {"address_bits", one_of({32, 64})},
                     {"warp_sizes", map_of(count_schema())},
                     {"complete", typed("boolean")},
                     {"stop_reason", typed("string")},
                     {"out_of_bounds_loads", stray_schema()},
                     {"verdict", object_schema({{"result", one_of({"correct", "wrong", "not checked"})},
                                                {"detail", typed("string")}})},
                     {"summary", summary_schema()},
                     {"modules", modules_schema(modules)},
                     {"fast_forward", selection_schema()},
                     {"device_used", one_of({false})},
                     {"launches", launches_schema()},
                     {"energy", energy_schema()}};
  json::object always;
  json::object sometimes;
  for (const FileKey& key : stats_keys()) {
    for (const std::string& name : key.names) {
      const auto kind = kinds.find(name);
      if (kind == kinds.end()) {
        throw InternalError("the schema of stats.json does not say what '" + name + "' is");
      }
      (key.always ? always : sometimes)[name] = declared(std::move(kind->value().get_object()), "", key.meaning);
      kinds.erase(kind);
    }
  }
  if (!kinds.empty()) {
    throw InternalError(fmt::format("stats.json has no '{}'", std::string_view(kinds.begin()->key())));
  }
  json::object schema = schema_of("stats.json");
  for (auto& [key, value] : with_optional(object_schema(std::move(always)), sometimes)) {
    schema[key] = std::move(value);
  }
  return schema;
}

json::object host_schema() {
  json::object properties{{"schema", one_of({tb::kStatisticsSchema})}, {"date", typed("string")}};
  const tb::HostCost none;
  tb::HostCost::describe(none, [&](const char* name, auto value, const char* unit, const char* meaning) {
    properties[name] = declared(schema_for(value), unit, meaning);
  });
  for (const char* const rate :
       {"cycles_per_second", "warp_instructions_per_second", "thread_instructions_per_second"}) {
    properties[rate] = declared(typed("number"), "", "simulated, per CPU second of simulation");
  }
  json::object schema = schema_of("host.json");
  for (auto& [key, value] : object_schema(std::move(properties))) {
    schema[key] = std::move(value);
  }
  return schema;
}

json::object schema_of(std::string_view title) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
}

json::object object_schema(json::object properties) {
  json::array required;
  for (const auto& [name, schema] : properties) {
    required.push_back(json::value(name));
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

json::object parameter_schema(const ParameterReference& parameter) {
  json::object schema = typed(json::string(parameter.type_name()).c_str());
  if (std::holds_alternative<std::string*>(parameter.field)) {
    if (parameter.limits.choices && !parameter.limits.list) {
      const std::vector<std::string> choices = parameter.limits.choices();
      schema["enum"] = json::array(choices.begin(), choices.end());
    }
  } else if (!std::holds_alternative<bool*>(parameter.field)) {
    schema["minimum"] = limit_json(parameter.limits.low);
    if (!std::isinf(parameter.limits.high)) {
      schema["maximum"] = limit_json(parameter.limits.high);
    }
    if (parameter.limits.must_be_power_of_two) {
      schema["x-power-of-two"] = true;
    }
  }
  return declared(std::move(schema), parameter.unit, parameter.meaning);
}

json::value limit_json(double limit) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  return std::floor(limit) == limit && std::abs(limit) <= kExact ? json::value(static_cast<std::int64_t>(limit))
                                                                 : json::value(limit);
}

}  // namespace heddle::pages
