// The retirement hashes of threads (isa/retire.hpp).
#include <algorithm>
#include <cstring>

#include "hw/core/each_row.hpp"
#include "hw/core/writeback.hpp"
#include "isa/retire.hpp"

namespace heddle::hw {

void WriteBackStage::hash(const link::SubWarp& sub_warp, LaneMask lanes) {
  if (state_.launch->hashes == nullptr || lanes == 0) {
    return;
  }
  alignas(64) isa::LaneWord hashes;
  if (sub_warp.whole) {
    hash_group(state_.groups[sub_warp.group], sub_warp);
    return;
  }
  if (sub_warp.uniform) {
    const RowState& row = state_.rows[sub_warp.first_row];
    const std::size_t bytes = row.threads * sizeof(std::uint32_t);
    std::memcpy(hashes.data(), row.hashes, bytes);
    isa::retire(sub_warp.decoded->form, sub_warp.pc, lanes, sub_warp.values, sub_warp.address_low, hashes);
    std::memcpy(row.hashes, hashes.data(), bytes);
    return;
  }
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    hashes[lane] = state_.rows[sub_warp.row[lane]].hashes[sub_warp.home_of(lane)];
  }
  isa::retire(sub_warp.decoded->form, sub_warp.pc, lanes, sub_warp.values, sub_warp.address_low, hashes);
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    state_.rows[sub_warp.row[lane]].hashes[sub_warp.home_of(lane)] = hashes[lane];
  }
}

// An unconditional branch that was taken once for the whole warp retires in each of its threads; it has no result. A
// thread that is still in flight with an earlier instruction (relaxed issue) retires the branch after that one.
void WriteBackStage::hash_group(const Group& group, const link::SubWarp& sub_warp) {
  std::vector<LaneMask> own(group.rows(), 0);
  each_row(group, sub_warp, sub_warp.lanes, [&](unsigned row, LaneMask lanes) { own[row] |= lanes; });
  LateJump late{group.id, sub_warp.decoded, sub_warp.pc, {}};
  bool any_late = false;
  for (unsigned row = 0; row < group.rows(); ++row) {
    const LaneMask in_flight = overlaps_ ? group.busy[row] & ~own[row] : 0;
    hash_jump(group, row, group.active[row] & ~in_flight, *sub_warp.decoded, sub_warp.pc);
    late.rows.push_back(group.active[row] & in_flight);
    any_late = any_late || late.rows.back() != 0;
  }
  if (any_late) {
    late_jumps_.push_back(std::move(late));
  }
}

void WriteBackStage::hash_jump(const Group& group, unsigned row, LaneMask lanes,
                               const link::DecodedInstruction& decoded, std::uint32_t pc) {
  static const isa::LaneValues kNoValues{};
  static const isa::LaneWord kNoAddress{};
  const RowState& state = state_.rows[group.first_row + row];
  alignas(64) isa::LaneWord hashes;
  const std::size_t bytes = state.threads * sizeof(std::uint32_t);
  std::memcpy(hashes.data(), state.hashes, bytes);
  isa::retire(decoded.form, pc, lanes, kNoValues, kNoAddress, hashes);
  std::memcpy(state.hashes, hashes.data(), bytes);
}

// Threads of a row have completed: the branches that waited for them retire in them, in program order.
void WriteBackStage::retire_late_jumps(const Group& group, unsigned row, LaneMask lanes) {
  bool done = false;
  for (LateJump& late : late_jumps_) {
    if (late.group == group.id && (late.rows[row] & lanes) != 0) {
      hash_jump(group, row, late.rows[row] & lanes, *late.decoded, late.pc);
      late.rows[row] &= ~lanes;
      done = done || std::all_of(late.rows.begin(), late.rows.end(), [](LaneMask left) { return left == 0; });
    }
  }
  if (done) {
    std::erase_if(late_jumps_, [](const LateJump& late) {
      return std::all_of(late.rows.begin(), late.rows.end(), [](LaneMask left) { return left == 0; });
    });
  }
}

}  // namespace heddle::hw
