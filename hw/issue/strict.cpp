// Strict barrel processing: a warp that has been selected is not selected again until it has completed (LWM report 2.1,
// thesis 2.1.1); a warp of several sub-warps, until all of them have completed (LWM report 3.1.1). No dependency
// checking is needed.
#include "hw/issue/discipline.hpp"

namespace heddle::hw {

namespace {

class Strict final : public IssueDiscipline {
 public:
  static constexpr Traits traits{.overlaps = false};

  explicit Strict(const Setup&) {}
  [[nodiscard]] bool release(const Group& group, const isa::Instruction&) const override {
    return group.flight().done();
  }
};

const Register<IssueDiscipline, Strict> strict_entry{"strict", "barrel: not before its instruction has completed"};

}  // namespace

}  // namespace heddle::hw
