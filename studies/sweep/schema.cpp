#include "studies/sweep/schema.hpp"

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "hw/parameters/machine.hpp"
#include "studies/pages/report/schema.hpp"
#include "studies/sweep/exploration.hpp"
#include "studies/sweep/store.hpp"

namespace heddle::studies::sweep {
namespace {

namespace json = boost::json;

json::object reference_to(const std::string& definition) {
  return {{"$ref", "#/$defs/" + definition}};
}

json::object setting_schema(const RunSetting& setting) {
  json::object schema{{"type", json::string(setting.type)}};
  if (setting.type != "string") {
    schema["minimum"] = pages::limit_json(setting.low);
    schema["maximum"] = pages::limit_json(setting.high);
  }
  return schema;
}

// The ranges of an axis (range.hpp).
json::array range_schemas() {
  const json::object number{{"type", "number"}};
  const json::object count{{"type", "integer"}, {"minimum", 1}};
  const json::object seed{{"type", "integer"}, {"minimum", 0}};
  json::object random = pages::object_schema({{"random", count}, {"from", number}, {"to", number}, {"seed", seed}});
  random["required"] = json::array{"random", "from", "to"};
  return {pages::object_schema({{"from", number}, {"to", number}, {"step", number}}),
          pages::object_schema({{"from", number}, {"to", number}, {"times", number}}), std::move(random)};
}

json::object axis_schema(const std::string& name, std::string_view type) {
  json::array kinds{
      json::object{{"type", "array"}, {"items", reference_to(name)}, {"minItems", 1}, {"uniqueItems", true}}};
  if (type == "integer" || type == "number") {
    for (json::value& range : range_schemas()) {
      kinds.push_back(std::move(range));
    }
  }
  return {{"anyOf", std::move(kinds)}};
}

// A table of settings: `core.warp_size` below its section, or as one quoted key. `run`: with what is no parameter of
// the machine; `value` makes the schema of a name and its type.
template <class Value>
json::object table_schema(bool run, const Value& value) {
  json::object names;
  if (run) {
    for (const RunSetting& setting : run_settings()) {
      names[setting.name] = value(std::string(setting.name), setting.type);
    }
  }
  hw::Machine machine;
  json::object sections;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    names[parameter.path()] = value(parameter.path(), parameter.type_name());
    json::value& section = sections[parameter.section];
    if (section.is_null()) {
      section = json::object();
    }
    section.get_object()[parameter.key] = value(parameter.path(), parameter.type_name());
  }
  for (auto& [name, keys] : sections) {
    names[name] = pages::object_schema(std::move(keys.get_object()));
    names[name].get_object().erase("required");
  }
  json::object table = pages::object_schema(std::move(names));
  table.erase("required");
  return table;
}

json::object some_of(json::object properties) {
  json::object schema = pages::object_schema(std::move(properties));
  schema.erase("required");
  return schema;
}

}  // namespace

json::object exploration_schema() {
  json::object definitions;
  for (const RunSetting& setting : run_settings()) {
    definitions[setting.name] = setting_schema(setting);
  }
  hw::Machine machine;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    definitions[parameter.path()] = pages::parameter_schema(parameter);
  }
  const auto one = [](const std::string& name, std::string_view) { return reference_to(name); };
  const json::object text{{"type", "string"}};
  const json::object count{{"type", "integer"}, {"minimum", 1}};
  const json::object limit{{"type", "number"}, {"minimum", 0}};
  json::object sample = pages::object_schema({{"points", count}, {"seed", {{"type", "integer"}, {"minimum", 0}}}});
  sample["required"] = json::array{"points"};
  const json::object settings = table_schema(true, one);
  json::object kinds{
      {"description", text},
      {"set", table_schema(false, one)},
      {"axes", table_schema(true, axis_schema)},
      {"points", {{"type", "array"}, {"items", settings}}},
      {"constraints", {{"type", "array"}, {"items", text}}},
      {"sample", std::move(sample)},
      {"repetitions", count},
      {"limits", some_of({{"wall_seconds", limit}, {"cpu_seconds", limit}, {"memory_mib", limit}})},
      {"slurm",
       some_of({{"options", {{"type", "array"}, {"items", text}}}, {"runs_per_task", count}, {"at_a_time", count}})}};
  json::object properties;
  for (const std::string& key : exploration_keys()) {
    if (find_run_setting(key) != nullptr) {
      properties[key] = reference_to(key);
    } else if (const auto kind = kinds.find(key); kind != kinds.end()) {
      properties[key] = std::move(kind->value());
    } else {
      throw InternalError("the schema of explorations does not say what '" + key + "' is");
    }
  }
  json::object schema = pages::schema_of("an exploration file");
  for (auto& [key, value] : some_of(std::move(properties))) {
    schema[key] = std::move(value);
  }
  schema["$defs"] = std::move(definitions);
  return schema;
}

json::object results_schema() {
  const auto group_name = [](Column::Group group) {
    switch (group) {
      case Column::Group::statistic:
        return "statistic";
      case Column::Group::parameter:
        return "parameter";
      case Column::Group::detail:
        return "detail";
      case Column::Group::host:
        return "host";
      case Column::Group::run:
        break;
    }
    return "run";
  };
  json::object columns;
  for (const char* const name : {"sweep", "point", "repetition", "id"}) {
    columns[name] = {{"type", "integer"}, {"minimum", 1}};
  }
  columns["repetition"].get_object()["minimum"] = 0;
  for (const Column& column : run_columns()) {
    const char* const type = column.type == "INTEGER" ? "integer" : column.type == "REAL" ? "number" : "string";
    json::object schema{{"type", json::array{type, "null"}}, {"description", column.meaning}};
    if (!column.unit.empty()) {
      schema["x-unit"] = column.unit;
    }
    schema["x-group"] = group_name(column.group);
    columns[column.name] = std::move(schema);
  }
  json::object schema = pages::schema_of("a row of the results of a sweep");
  for (auto& [key, value] : pages::object_schema(std::move(columns))) {
    schema[key] = std::move(value);
  }
  return schema;
}

}  // namespace heddle::studies::sweep
