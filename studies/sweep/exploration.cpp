#include "studies/sweep/exploration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tb/measure/energy/energy.hpp"
#include "tb/measure/energy/power.hpp"

namespace heddle::studies::sweep {

namespace fs = std::filesystem;

const std::vector<RunSetting>& run_settings() {
  constexpr double kLargest = 9.2e18;
  static const std::vector<RunSetting> settings = {
      {"config", "string"},
      {"workload", "string"},
      {"scale", "number", 1.0, 1e-6, 16},
      {"seed", "integer", std::int64_t{1}, 0, kLargest},
      {"max_cycles", "integer", std::int64_t{0}, 0, kLargest},
      {"address_bits", "integer", std::int64_t{32}, 32, 64},
      {"energy", "string", std::string()},
      {kTemperature, "number", 0.0, tb::kColdest, tb::kHottest},
      {"power_interval", "integer", static_cast<std::int64_t>(tb::PowerSteps::kDefault), 1, kLargest}};
  return settings;
}

const RunSetting* find_run_setting(std::string_view name) {
  const auto found = std::find_if(run_settings().begin(), run_settings().end(),
                                  [&](const RunSetting& setting) { return setting.name == name; });
  return found == run_settings().end() ? nullptr : &*found;
}

std::vector<std::string> Exploration::varied() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const std::vector<Setting>& settings : list) {
    for (const Setting& setting : settings) {
      add(setting.name);
    }
  }
  for (const Axis& axis : axes) {
    add(axis.name);
  }
  return names;
}

std::string Exploration::folder() const {
  return fs::path(path).parent_path().string();
}

bool is_launch_file(std::string_view workload) {
  return workload.ends_with(".toml");
}

const std::string* launch_file_of(const Exploration& exploration, const std::vector<Setting>& listed) {
  constexpr std::string_view kName = "workload";
  const auto launch_file = [](const ParameterValue& value) {
    const auto& workload = std::get<std::string>(value);
    return is_launch_file(workload) ? &workload : nullptr;
  };
  for (const std::vector<Setting>* const settings : {&listed, &exploration.base}) {
    for (const Setting& setting : *settings) {
      if (setting.name == kName) {
        return launch_file(setting.value);  // what a listed point sets, the base does not
      }
    }
  }
  for (const Axis& axis : exploration.axes) {
    for (std::size_t i = 0; axis.name == kName && i < axis.values.size(); ++i) {
      if (const std::string* const found = launch_file(axis.values[i])) {
        return found;
      }
    }
  }
  return nullptr;
}

void scale_all(Exploration& exploration, double factor) {
  for (const std::vector<Setting>& listed : exploration.list) {
    if (const std::string* const launch = launch_file_of(exploration, listed)) {
      throw InputError({"--scale"}, fmt::format("applies to workloads; '{}' says its size itself", *launch),
                       "leave it out, or make an exploration of the workloads alone");
    }
  }
  const auto scaled = [&](ParameterValue& value, const SourceLocation& where) {
    const double scale = std::get<double>(value) * factor;
    const RunSetting& limits = *find_run_setting("scale");
    if (!(scale >= limits.low && scale <= limits.high)) {
      throw InputError(where, fmt::format("scale {} times {} is not between {} and {}", value_text(value), factor,
                                          limits.low, limits.high));
    }
    value = scale;
  };
  const auto each = [&](std::vector<Setting>& settings) {
    bool found = false;
    for (Setting& setting : settings) {
      if (setting.name == "scale") {
        scaled(setting.value, setting.where);
        found = true;
      }
    }
    return found;
  };
  bool axis_scales = false;
  for (Axis& axis : exploration.axes) {
    for (std::size_t i = 0; axis.name == "scale" && i < axis.values.size(); ++i) {
      scaled(axis.values[i], axis.places[i]);
      axis_scales = true;
    }
  }
  for (std::vector<Setting>& settings : exploration.list) {
    each(settings);
  }
  if (!each(exploration.base) && !axis_scales) {
    exploration.base.push_back({"scale", 1.0, {exploration.path}});
    scaled(exploration.base.back().value, exploration.base.back().where);
  }
  exploration.text += fmt::format("# --scale {}\n", factor);
}

std::string workload_of(const Exploration& exploration, const std::string& value) {
  if (!is_launch_file(value) || fs::path(value).is_absolute()) {
    return value;
  }
  return (fs::path(exploration.folder()) / value).lexically_normal().string();
}

std::string value_text(const ParameterValue& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

Scalar scalar_of(const ParameterValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return *number;
  }
  if (const auto* truth = std::get_if<bool>(&value)) {
    return *truth;
  }
  return std::get<std::string>(value);
}

Scalar scalar_of(const ParameterReference& parameter) {
  return std::visit(
      [](const auto* field) -> Scalar {
        using Field = std::remove_cv_t<std::remove_pointer_t<decltype(field)>>;
        if constexpr (std::is_arithmetic_v<Field> && !std::is_same_v<Field, bool>) {
          return static_cast<double>(*field);
        } else {
          return *field;
        }
      },
      parameter.field);
}

}  // namespace heddle::studies::sweep
