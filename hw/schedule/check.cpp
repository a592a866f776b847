#include <fmt/format.h>

#include "hw/divergence/divergence.hpp"
#include "hw/schedule/scheduler.hpp"

namespace heddle::hw {

namespace {

// "\"dwf\"": the mechanisms that have what is asked for.
template <class Has>
std::string mechanisms(Has has) {
  std::string names;
  for (const auto& [name, entry] : Registry<Divergence>::instance().entries()) {
    if (has(entry.about.traits)) {
      names += (names.empty() ? "\"" : " or \"") + name + "\"";
    }
  }
  return names.empty() ? "a mechanism that has them" : "core.divergence = " + names;
}

}  // namespace

void check_scheduler(const Machine& machine, const char* key, const std::string& name,
                     std::vector<Contradiction>& found) {
  const WarpScheduler::Traits& wants = about<WarpScheduler>(name).traits;
  const Divergence::Traits& has = about<Divergence>(machine.core.divergence).traits;
  const auto refuse = [&](const char* what, const std::string& needed) {
    found.push_back({key, fmt::format("{} = \"{}\" {}; it needs {}", key, name, what, needed)});
  };
  if (wants.needs_merge_points && !has.counts_merge_points) {
    refuse("chooses between warps by the re-convergence points that their threads have passed",
           mechanisms([](const Divergence::Traits& traits) { return traits.counts_merge_points; }));
  } else if (wants.needs_warp_pool && !has.warp_pool) {
    refuse("chooses between dynamic warps by the PCs at which they stand",
           mechanisms([](const Divergence::Traits& traits) { return traits.warp_pool; }));
  }
}

}  // namespace heddle::hw
