// No limit: every warp issues its loads when its turn comes.
#include "hw/schedule/load_limiter.hpp"

namespace heddle::hw {

Limits load_limiters() {
  return Limits::policy<Registry<LoadLimiter>>();
}

namespace {

class NoLimit final : public LoadLimiter {
 public:
  static constexpr Traits traits{.limits = false};
  explicit NoLimit(const Setup&) {}
};

const Register<LoadLimiter, NoLimit> no_limit_entry{"none", "every warp may issue loads"};

}  // namespace

}  // namespace heddle::hw
