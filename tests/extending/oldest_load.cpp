// The eight oldest warps may load, not counting those that wait for others: these may be held back behind them.
#include <algorithm>
#include <cstddef>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/load_limiter.hpp"

namespace heddle::hw {

namespace {

class OldestLoad final : public LoadLimiter {
 public:
  static void cost(const CostShape& shape, CostLines& lines) { cost_of_ages(shape, lines); }
  explicit OldestLoad(const Setup& setup) : groups_(setup.groups) {}

  [[nodiscard]] bool may_load(const Group& group, Cycle) override {
    const auto goes_before = [&](const Group& other) {
      return other.age < group.age && other.state != GroupState::free && other.state != GroupState::barrier &&
             other.state != GroupState::parked;
    };
    return std::count_if(groups_.all().begin(), groups_.all().end(), goes_before) < kLoaders;
  }

 private:
  static constexpr std::ptrdiff_t kLoaders = 8;
  const GroupTable& groups_;
};

const Register<LoadLimiter, OldestLoad> oldest_load_entry{"oldest-load", "the eight oldest warps may load"};

}  // namespace

}  // namespace heddle::hw
