// The references that are made from declarations, as JSON.
#include <boost/json.hpp>
#include <cmath>

#include "base/parameter.hpp"
#include "hw/state/idle_cause.hpp"
#include "hw/waves/gpu_waves.hpp"
#include "studies/pages/report/module_groups.hpp"
#include "studies/pages/report/reference.hpp"
#include "studies/pages/report/schema.hpp"
#include "tb/measure/summary.hpp"

namespace heddle::pages {
namespace {

namespace json = boost::json;

const char* summary_type(const std::uint64_t&) {
  return "integer";
}
const char* summary_type(const double&) {
  return "number";
}
const char* summary_type(const std::string&) {
  return "string";
}
const char* summary_type(const std::vector<std::uint64_t>&) {
  return "integers";
}
const char* summary_type(const tb::IdleByCause&) {
  return "integers by cause";
}

json::object group_json(const ModuleGroup& group) {
  json::array counters;
  for (const ModuleGroup::Counter& counter : group.counters) {
    counters.push_back(json::object{{"name", counter.name},
                                    {"type", counter.several ? "integers" : "integer"},
                                    {"unit", counter.unit},
                                    {"meaning", counter.meaning}});
  }
  return {{"module", group.pattern}, {"counters", std::move(counters)}};
}

}  // namespace

json::array parameters_json(hw::Machine machine) {
  json::array out;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    json::object one{
        {"path", parameter.path()}, {"section", parameter.section},   {"section_meaning", parameter.section_meaning},
        {"key", parameter.key},     {"type", parameter.type_name()},  {"default", value_json(parameter)},
        {"unit", parameter.unit},   {"range", parameter.range_text()}};
    if (parameter.limits.choices) {
      json::array choices;
      for (const std::string& choice : parameter.limits.choices()) {
        choices.push_back(json::object{
            {"name", choice}, {"meaning", parameter.limits.about ? parameter.limits.about(choice) : std::string()}});
      }
      one["choices"] = std::move(choices);
      one["list"] = parameter.limits.list;
    } else if (parameter.type_name() == "integer" || parameter.type_name() == "number") {
      one["low"] = limit_json(parameter.limits.low);
      one["high"] = std::isinf(parameter.limits.high) ? json::value(nullptr) : limit_json(parameter.limits.high);
      one["power_of_two"] = parameter.limits.must_be_power_of_two;
    }
    one["meaning"] = parameter.meaning;
    out.push_back(std::move(one));
  }
  return out;
}

json::value value_json(const ParameterReference& parameter) {
  return std::visit([](const auto* field) { return json::value(*field); }, parameter.field);
}

json::object statistics_json(const StatisticsRegistry& modules) {
  json::array summary;
  const tb::Summary figures;
  figures.describe([&](std::string_view name, const auto& field, std::string_view unit, std::string_view definition) {
    json::object one{{"name", name}, {"type", summary_type(field)}, {"unit", unit}, {"meaning", definition}};
    if (const std::string_view metric = tb::nsight_metric(name); !metric.empty()) {
      one["nsight"] = metric;
    }
    summary.push_back(std::move(one));
  });
  json::array causes;
  for (const hw::IdleCauseInfo& cause : hw::kIdleCauses) {
    causes.push_back(json::object{{"name", cause.name}, {"meaning", cause.meaning}});
  }
  json::array groups;
  for (const ModuleGroup& group : module_groups(modules)) {
    groups.push_back(group_json(group));
  }
  return {{"summary", std::move(summary)},
          {"idle_causes", std::move(causes)},
          {"modules", std::move(groups)},
          {"dram_alone", group_json(replay_counters())}};
}

json::array signals_json(const hw::Machine& machine) {
  json::array out;
  const hw::GpuWaves waves(machine);
  for (const link::Signal& signal : waves.catalogue().signals()) {
    json::object one{{"path", signal.path()},
                     {"group", link::kSignalGroups[static_cast<std::size_t>(signal.group)].name},
                     {"kind", link::name_of(signal.type.kind)},
                     {"width", signal.type.width},
                     {"meaning", signal.meaning}};
    if (signal.type.enumeration != nullptr) {
      const std::vector<std::string>& values = signal.type.enumeration->values;
      one["values"] = json::array(values.begin(), values.end());
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace heddle::pages
