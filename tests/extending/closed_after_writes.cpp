// A row is closed after a write, and stays open after a read.
#include "hw/dram/policy.hpp"

namespace heddle::hw {

namespace {

class ClosedAfterWrites final : public DramRowPolicy {
 public:
  explicit ClosedAfterWrites(const Setup&) {}
  [[nodiscard]] bool close_after(const DramRequest& request, const RequestQueue&) override { return request.write; }
};

const Register<DramRowPolicy, ClosedAfterWrites> closed_after_writes_entry{"closed-after-writes",
                                                                           "a row is closed after a write"};

}  // namespace

}  // namespace heddle::hw
