// The retirement hashes of threads (isa/retire.hpp).
#include <algorithm>
#include <cstring>

#include "base/set_bits.hpp"
#include "hw/core/execute/writeback.hpp"
#include "hw/core/warps/each_row.hpp"
#include "isa/retire.hpp"

namespace heddle::hw {

namespace {

// Folds what the lanes of a sub-warp, or of a row, have executed into the hashes of their threads, all of them of one
// home, lane for lane.
void fold(const ThreadHome& home, const link::DecodedInstruction& decoded, std::uint32_t pc, LaneMask lanes,
          const isa::LaneValues& values, const isa::LaneWord& address) {
  if (home.threads == isa::kLanes) {  // usual
    isa::retire(decoded.form, pc, lanes, values, address, home.hashes);
    return;
  }
  alignas(64) isa::LaneWord hashes;
  const std::size_t bytes = home.threads * sizeof(std::uint32_t);
  std::memcpy(hashes.data(), home.hashes, bytes);
  isa::retire(decoded.form, pc, lanes, values, address, hashes);
  std::memcpy(home.hashes, hashes.data(), bytes);
}

// Folds what a sub-warp of several rows has executed; false: some row is not a home's alone, and nothing has happened.
bool fold_rows(const std::vector<RowThreads>& rows, const link::SubWarp& sub_warp, LaneMask lanes) {
  std::array<std::uint32_t*, link::SubWarp::kMostRows> of_row;
  for (unsigned index = 0; index != sub_warp.row_count; ++index) {
    const ThreadHome* const home = rows[sub_warp.rows[index].row].whole();
    if (home == nullptr || home->threads != isa::kLanes) {
      return false;
    }
    of_row[index] = home->hashes;
  }
  alignas(64) isa::LaneWord hashes;
  const auto part = [&](unsigned index, LaneMask& taken) {
    taken = sub_warp.rows[index].lanes & lanes;
    return of_row[index];
  };
  isa::vectors::gather(sub_warp.row_count, part, hashes.data());
  isa::retire(sub_warp.decoded->form, sub_warp.pc, lanes, sub_warp.values, sub_warp.address_low, hashes);
  for (unsigned index = 0; index != sub_warp.row_count; ++index) {
    isa::vectors::blend(of_row[index], hashes.data(), sub_warp.rows[index].lanes & lanes);
  }
  return true;
}

// Folds what lanes have executed into the hashes of threads of any home: thread_of(lane) says which.
template <class ThreadOf>
void fold_each(ThreadOf thread_of, const link::DecodedInstruction& decoded, std::uint32_t pc, LaneMask lanes,
               const isa::LaneValues& values, const isa::LaneWord& address) {
  alignas(64) isa::LaneWord hashes;
  for (const unsigned lane : set_bits(lanes)) {
    hashes[lane] = thread_of(lane).hash();
  }
  isa::retire(decoded.form, pc, lanes, values, address, hashes);
  for (const unsigned lane : set_bits(lanes)) {
    thread_of(lane).hash() = hashes[lane];
  }
}

}  // namespace

void WriteBackStage::hash(const link::SubWarp& sub_warp, LaneMask lanes) {
  if (state_.launch->hashes == nullptr || lanes == 0) {
    return;
  }
  if (sub_warp.whole && !sub_warp.scalar) {
    hash_group(state_.groups[sub_warp.group], sub_warp);
    return;
  }
  if (const ThreadHome* const home = sub_warp.uniform ? state_.rows[sub_warp.first_row].whole() : nullptr) {
    fold(*home, *sub_warp.decoded, sub_warp.pc, lanes, sub_warp.values, sub_warp.address_low);
    return;
  }
  if (sub_warp.row_count != 0 && fold_rows(state_.rows, sub_warp, lanes)) {
    return;
  }
  fold_each([&](unsigned lane) { return state_.thread_at(sub_warp, lane); }, *sub_warp.decoded, sub_warp.pc, lanes,
            sub_warp.values, sub_warp.address_low);
}

// An unconditional branch that was taken once for the whole warp retires in each of its threads; it has no result. A
// thread that is still in flight with an earlier instruction (relaxed issue) retires the branch after that one.
void WriteBackStage::hash_group(const Group& group, const link::SubWarp& sub_warp) {
  in_flight_.assign(group.rows(), 0);
  bool any_late = false;
  if (overlaps_) {
    std::copy(group.busy.begin(), group.busy.end(), in_flight_.begin());
    each_row(group, sub_warp, sub_warp.lanes, [&](unsigned row, LaneMask lanes) { in_flight_[row] &= ~lanes; });
  }
  for (unsigned row = 0; row < group.rows(); ++row) {
    const LaneMask active = group.active[row];
    if (const LaneMask now = active & ~in_flight_[row]; now != 0) {
      hash_jump(group, row, now, *sub_warp.decoded, sub_warp.pc);
    }
    in_flight_[row] &= active;
    any_late = any_late || in_flight_[row] != 0;
  }
  if (any_late) {
    late_jumps_.push_back({group.id, sub_warp.decoded, sub_warp.pc, in_flight_});
  }
}

void WriteBackStage::hash_jump(const Group& group, unsigned row, LaneMask lanes,
                               const link::DecodedInstruction& decoded, std::uint32_t pc) {
  static const isa::LaneValues kNoValues{};
  static const isa::LaneWord kNoAddress{};
  const RowThreads& threads = state_.rows[group.first_row + row];
  if (const ThreadHome* const home = group.dynamic ? nullptr : threads.whole()) {
    fold(*home, decoded, pc, lanes, kNoValues, kNoAddress);
    return;
  }
  fold_each([&](unsigned lane) { return state_.thread_at(group.row_of(row, lane), group.home_of(lane)); }, decoded, pc,
            lanes, kNoValues, kNoAddress);
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
