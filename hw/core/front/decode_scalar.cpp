// Scalar instructions: one lane executes for its warp (thesis 9.2.1).
#include <algorithm>
#include <bit>
#include <optional>

#include "hw/core/front/decode.hpp"

namespace heddle::hw {

namespace {

// A warp's operands as its threads have them, all rows.
class OperandsOfWarp final : public WarpOperands {
 public:
  OperandsOfWarp(RegisterArray& registers, const Group& group) : registers_(registers), group_(group) {}

  [[nodiscard]] bool same_word(unsigned reg) const override {
    std::optional<std::uint32_t> first;
    for (unsigned row = 0; row < group_.rows(); ++row) {
      if (group_.active[row] == 0) {
        continue;
      }
      const isa::LaneWord& values = registers_.word(group_.first_row + row, reg);
      first = first ? first : values[static_cast<unsigned>(std::countr_zero(group_.active[row]))];
      std::uint32_t differs = 0;
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        differs |= (values[lane] ^ *first) & (0U - ((group_.active[row] >> lane) & 1U));
      }
      if (differs != 0) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool same_predicate(unsigned reg) const override {
    bool some = false;
    bool all = true;
    for (unsigned row = 0; row < group_.rows(); ++row) {
      const LaneMask value = registers_.predicate(group_.first_row + row, reg) & group_.active[row];
      some = some || value != 0;
      all = all && value == group_.active[row];
    }
    return all || !some;
  }

 private:
  RegisterArray& registers_;
  const Group& group_;
};

}  // namespace

// One lane executes for the warp if all its living threads are active, so that no thread is left that needs the old
// value of the register written; once nothing of it is in flight, so that its operands are known. It does not wait for
// memory, but takes a sub-warp per row then.
DecodeStage::Scalar DecodeStage::is_scalar(const Group& group) const {
  LaneMask any_active = 0;
  for (unsigned row = 0; row < group.rows(); ++row) {
    if (group.active[row] != state_.rows[group.first_row + row].present()) {
      return Scalar::no;
    }
    any_active |= group.active[row];
  }
  if (any_active == 0 || !scalar_->same_operands(*present_, OperandsOfWarp(registers_, group))) {
    return Scalar::no;
  }
  bool in_flight = false;
  for (const InFlight& flight : group.flights) {
    const bool done = flight.formed == flight.completed;
    in_flight = in_flight || !done;
    if (!done && flight.waiting != 0) {
      return Scalar::no;
    }
  }
  return in_flight ? Scalar::later : Scalar::now;
}

// One sub-warp of one thread, the first.
void DecodeStage::form_scalar(link::SubWarp& sub_warp, Group& group) {
  std::fill(pending_.begin(), pending_.end(), 0);
  any_pending_ = false;
  unsigned rows = 0;
  SubWarpShape shape;
  for (unsigned row = group.rows(); row-- > 0;) {
    if (group.active[row] != 0) {
      ++rows;
      shape.first_row = static_cast<std::uint16_t>(row);
      shape.lanes = group.active[row] & (0U - group.active[row]);
    }
  }
  ++state_.statistics.scalar_instructions;
  state_.statistics.scalar_sub_warps_saved += rows - 1;
  scalar_candidate_ = false;
  hand_on(sub_warp, group, shape, true);
}

}  // namespace heddle::hw
