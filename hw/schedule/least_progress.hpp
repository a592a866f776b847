// Least progress first, of warps and of fetch groups: what they share (thesis 9.2.2).
#pragma once

#include <cstdint>
#include <string>

#include "hw/parameters/machine.hpp"
#include "hw/state/group.hpp"

namespace heddle::hw {

struct LeastProgressParameters {
  static constexpr const char* kSection = "least_progress";
  static constexpr const char* kMeaning =
      "least progress first (core.scheduler, two_level.inner_scheduler or "
      "two_level.outer_scheduler = least-progress)";
  std::string since = "start";
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "since", since, Limits::one_of({"start", "barrier"}), "",
        "what of its progress() a warp is judged by. start: all of it, the progress register (thesis 9.2.2); barrier: "
        "what it has made since the barrier that released it last");
  }
};

// A warp's progress as LeastProgressParameters have it.
class ProgressOf {
 public:
  explicit ProgressOf(const CoreParameters& core)
      : since_barrier_(core.policies.of<LeastProgressParameters>().since == "barrier") {}
  [[nodiscard]] std::uint32_t operator()(const Group& group) const {
    return since_barrier_ ? group.progress - group.progress_before : group.progress;
  }

 private:
  bool since_barrier_;
};

}  // namespace heddle::hw
