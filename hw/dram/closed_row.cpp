// Closed row: a row is closed after an access, at once or as soon as no waiting request is for it.
#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class ClosedRow final : public DramRowPolicy {
 public:
  explicit ClosedRow(const Setup& /*setup*/) {}
  [[nodiscard]] bool close_after(const DramRequest& request, const RequestQueue& waiting) override {
    for (const DramRequest& other : waiting) {
      if (other.location.bank == request.location.bank && other.location.row == request.location.row) {
        return false;
      }
    }
    return true;
  }
};

class AlwaysClosedRow final : public DramRowPolicy {
 public:
  explicit AlwaysClosedRow(const Setup& /*setup*/) {}
  [[nodiscard]] bool close_after(const DramRequest& /*request*/, const RequestQueue& /*waiting*/) override {
    return true;
  }
};

const Register<DramRowPolicy, ClosedRow> closed{"closed", "a row is closed after the last waiting access to it"};
const Register<DramRowPolicy, AlwaysClosedRow> always{"closed-always", "a row is closed after every access"};

}  // namespace

}  // namespace heddle::hw
