#include "hw/state/launch_bytes.hpp"

#include <bit>
#include <utility>

namespace heddle::hw {

std::optional<LaunchBytes::Shared> LaunchBytes::shared_byte(unsigned cores, const OfCore& of_core) {
  using enum Access;
  // What one core has done, and what another one must not do beside it.
  static constexpr std::pair<Access, Access> kConflicts[] = {
      {store, load}, {store, update}, {update, load}, {update, store}};
  std::optional<Shared> lowest;
  for (unsigned writer = 0; writer < cores; ++writer) {
    for (const auto& [number, mine] : of_core(writer).lines_) {
      if ((mine[1] | mine[2]) == 0 || (lowest && number > lowest->address / kLine)) {
        continue;
      }
      for (unsigned other = 0; other < cores; ++other) {
        const auto& lines = of_core(other).lines_;
        const auto theirs = other == writer ? lines.end() : lines.find(number);
        if (theirs == lines.end()) {
          continue;
        }
        for (const auto& [write, access] : kConflicts) {
          const std::uint64_t both =
              mine[static_cast<std::size_t>(write)] & theirs->second[static_cast<std::size_t>(access)];
          const std::uint64_t address = number * kLine + static_cast<unsigned>(std::countr_zero(both));
          if (both != 0 && (!lowest || address < lowest->address)) {
            lowest = Shared{address, writer, other, write, access};
          }
        }
      }
    }
  }
  return lowest;
}

}  // namespace heddle::hw
