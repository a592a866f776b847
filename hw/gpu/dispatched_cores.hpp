// What the grid dispatcher asks of a GPU's cores, beside what it tells them and hears of them by BlockProtocol.
#pragma once

#include <optional>

#include "hw/core/block_protocol.hpp"
#include "hw/core/launch_protocol.hpp"
#include "hw/state/core_statistics.hpp"
#include "hw/state/launch.hpp"
#include "isa/fault.hpp"
#include "tlm/cycle.hpp"

namespace heddle::hw {

// Cores by number; the calls are those of Core (hw/core/core.hpp).
class DispatchedCores {
 public:
  virtual ~DispatchedCores() = default;
  [[nodiscard]] virtual unsigned count() const = 0;
  [[nodiscard]] virtual BlockTargetSocket& blocks(unsigned core) = 0;
  [[nodiscard]] virtual LaunchTargetSocket& launches(unsigned core) = 0;
  // Retired in all launches.
  [[nodiscard]] virtual std::uint64_t warp_instructions(unsigned core) const = 0;
  [[nodiscard]] virtual std::uint64_t thread_instructions(unsigned core) const = 0;
  [[nodiscard]] virtual bool quiet(unsigned core) const = 0;
  [[nodiscard]] virtual const std::optional<isa::Fault>& fault(unsigned core) const = 0;
};

}  // namespace heddle::hw
