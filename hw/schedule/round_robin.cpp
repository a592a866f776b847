// Round robin: equal priority for every warp (LWM report 2.1 and table 1; thesis 2.1.1). The search starts behind the
// warp that was fetched last.
#include "hw/schedule/scheduler.hpp"

namespace heddle::hw {

namespace {

class RoundRobin final : public WarpScheduler {
 public:
  explicit RoundRobin(const Setup& setup) : groups_(setup.groups) {}

  std::optional<GroupId> pick(Cycle) override {
    const int found = next_set(groups_.ready(), groups_.size(), next_);
    if (found < 0) {
      return std::nullopt;
    }
    next_ = static_cast<unsigned>(found) + 1;
    return static_cast<GroupId>(found);
  }

 private:
  const GroupTable& groups_;
  unsigned next_ = 0;
};

const Register<WarpScheduler, RoundRobin> entry{"round-robin", "every ready warp in turn"};

}  // namespace

}  // namespace heddle::hw
