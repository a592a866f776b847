// Open row (LWM report table 1, thesis table 5.1): a row stays open until another one of its bank is wanted.
#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class OpenRow final : public DramRowPolicy {
 public:
  explicit OpenRow(const Setup& /*setup*/) {}
  [[nodiscard]] bool close_after(const DramRequest& /*request*/, const RequestQueue& /*waiting*/) override {
    return false;
  }
};

const Register<DramRowPolicy, OpenRow> open_row_entry{"open",
                                                      "a row stays open until another row of its bank is wanted"};

}  // namespace

}  // namespace heddle::hw
