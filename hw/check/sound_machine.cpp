#include "hw/check/sound_machine.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "hw/check/machine.hpp"

namespace heddle::hw {

void require_sound(const Machine& machine, const std::string& user) {
  std::string faults;
  for (const Contradiction& contradiction : check(machine)) {
    faults += (faults.empty() ? "" : "; ") + contradiction.message;
  }
  if (!faults.empty()) {
    throw InputError({}, fmt::format("{}: the machine makes no sense: {}", user, faults));
  }
}

}  // namespace heddle::hw
