// The baseline: a sub-warp is one row of the active mask, threads whose guard is false included (their lanes stay
// idle), so nothing is packed. A warp wider than the SIMD unit takes one cycle per row that has an active thread.
#include "hw/subwarp/former.hpp"

namespace heddle::hw {

namespace {

class Rows final : public SubWarpFormer {
 public:
  explicit Rows(const Setup&) {}

  void begin(const isa::Instruction&, std::span<const LaneMask> active, std::span<const LaneMask>) override {
    active_ = active;
    row_ = 0;
    advance();
  }

  void next(SubWarpShape& shape) override {
    shape.uniform = true;
    const bool none = row_ == active_.size();  // no thread at all: one empty sub-warp
    shape.first_row = static_cast<std::uint16_t>(none ? 0 : row_);
    shape.lanes = none ? 0 : active_[row_];
    if (!none) {
      ++row_;
      advance();
    }
  }

  [[nodiscard]] bool more() const override { return row_ < active_.size(); }

 private:
  void advance() {
    while (row_ < active_.size() && active_[row_] == 0) {
      ++row_;
    }
  }

  std::span<const LaneMask> active_;
  std::size_t row_ = 0;
};

const Register<SubWarpFormer, Rows> entry{"rows", "one row of the active mask per cycle; no packing"};

}  // namespace

}  // namespace heddle::hw
