#include "hw/check/sound_machine.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "hw/check/machine.hpp"

namespace heddle::hw {

std::vector<std::string> faults_of(const Machine& machine) {
  std::vector<std::string> faults;
  Machine copy = machine;  // describe() takes a mutable machine
  for (const ParameterReference& parameter : parameters_of(copy)) {
    try {
      check_value(parameter);
    } catch (const InputError& error) {
      faults.emplace_back(error.what());
    }
  }
  if (faults.empty()) {
    for (const Contradiction& contradiction : check(machine)) {
      faults.push_back(contradiction.message);
    }
  }
  return faults;
}

void require_sound(const Machine& machine, const std::string& user) {
  const std::vector<std::string> faults = faults_of(machine);
  if (!faults.empty()) {
    throw InputError({}, fmt::format("{}: the machine makes no sense: {}", user, fmt::join(faults, "; ")));
  }
}

}  // namespace heddle::hw
