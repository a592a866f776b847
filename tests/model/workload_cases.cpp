#include "tests/model/workload_cases.hpp"
#include "hw/issue/discipline.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "tb/config/config.hpp"
#include "tb/device/code_options.hpp"
#include "tests/model/machines.hpp"
#include "tests/support/program.hpp"

namespace heddle::test {

const std::vector<std::string>& machine_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const hw::Machine& machine : machines()) {
      all.push_back("test-" + machine.name);
    }
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_SOURCE_DIR "/configs")) {
      if (entry.path().extension() == ".toml") {
        files.push_back(entry.path().stem().string());
      }
    }
    std::sort(files.begin(), files.end());
    // Whole GPUs, of which there is a cut, have too many cores to run everything.
    const std::vector<std::string> known = files;
    std::erase_if(files, [&known](const std::string& name) {
      return std::binary_search(known.begin(), known.end(), name + "-8sm");
    });
    all.insert(all.end(), files.begin(), files.end());
    return all;
  }();
  return names;
}

hw::Machine machine_at(std::size_t index) {
  hw::Machine machine = index < machines().size()
                            ? machines()[index]
                            : tb::read_machine(HEDDLE_SOURCE_DIR "/configs/" + machine_names()[index] + ".toml");
  machine.name = machine_names()[index];
  return machine;
}

hw::Machine machine_called(const std::string& name) {
  const auto found = std::find(machine_names().begin(), machine_names().end(), name);
  return found == machine_names().end() ? throw InternalError("no machine " + name)
                                        : machine_at(static_cast<std::size_t>(found - machine_names().begin()));
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry<tb::Workload>::instance().entries()) {
    names.push_back(name);
  }
  return names;
}

std::unique_ptr<tb::Workload> make_workload(const std::string& name, const hw::Machine& machine, double size,
                                            unsigned address_bits) {
  tb::WorkloadOptions options;
  options.scale = tb::Workload::test_scale() * size;
  options.code = tb::code_options(machine);
  options.core_threads = machine.core.threads;
  options.resident_threads = machine.core.threads;
  options.address_bits = address_bits;
  return tb::make_workload(name, options);
}

std::vector<std::tuple<std::string, std::size_t>> cases_in_turn(const std::vector<std::string>& workloads,
                                                                std::size_t count, bool usual) {
  std::vector<std::tuple<std::string, std::size_t>> cases;
  for (std::size_t workload = 0; workload != workloads.size() && (usual || wants_long_cases()); ++workload) {
    for (std::size_t machine = 0; machine != count; ++machine) {
      if ((machine % workloads.size() == workload) == usual) {
        cases.emplace_back(workloads[workload], machine);
      }
    }
  }
  return cases;
}

std::string case_name(const std::string& workload, const std::string& machine) {
  std::string name = workload + "_on_" + machine;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace heddle::test
