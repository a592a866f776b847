#include "studies/sweep/inputs.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>

#include "tb/config/config.hpp"
#include "tb/config/search.hpp"
#include "tb/launch/launch_inputs.hpp"
#include "tb/measure/energy/energy.hpp"

namespace heddle::studies::sweep {
namespace {

// The values that points give to a setting which names files: "config", "workload" or "energy".
using Named = std::map<std::string, std::set<std::string>>;

Named named_by(const Exploration& exploration) {
  Named named;
  const auto add = [&](const std::string& name, const ParameterValue& value) {
    if (const auto* const text = std::get_if<std::string>(&value); text != nullptr && !text->empty()) {
      named[name].insert(*text);
    }
  };
  for (const Setting& setting : exploration.base) {
    add(setting.name, setting.value);
  }
  for (const std::vector<Setting>& listed : exploration.list) {
    for (const Setting& setting : listed) {
      add(setting.name, setting.value);
    }
  }
  for (const Axis& axis : exploration.axes) {
    for (const ParameterValue& value : axis.values) {
      add(axis.name, value);
    }
  }
  return named;
}

}  // namespace

void add_inputs(os::CommandFiles& files, const Exploration& exploration) {
  files.reads("the exploration", exploration.path);
  Named named = named_by(exploration);
  for (const std::string& config : named["config"]) {
    files.reads_all("a machine file", tb::machine_files(tb::find_config_from(config, exploration.folder(), {})));
  }
  for (const std::string& table : named["energy"]) {
    files.reads("an energy table", tb::find_energy_table(table, exploration.folder()));
  }
  for (const std::string& workload : named["workload"]) {
    if (is_launch_file(workload)) {
      tb::add_inputs(files, std::make_shared<tb::LaunchFile>(tb::LaunchFile::read(workload_of(exploration, workload))));
    }
  }
}

}  // namespace heddle::studies::sweep
