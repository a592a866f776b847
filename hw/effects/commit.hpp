// What the threads of an instruction keep of it when it retires: registers, the retirement hash (isa/retire.hpp), and
// that it is counted. When that happens, and what becomes of the group, is not looked at here.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "hw/parameters/execution_time.hpp"
#include "hw/registers/register_array.hpp"
#include "hw/state/core_state.hpp"
#include "isa/retire.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

// Whether the instruction has results for registers.
[[nodiscard]] inline bool has_results(const link::DecodedInstruction& decoded) {
  return decoded.form.words != 0 || decoded.form.predicates();
}

// The results of a sub-warp's instruction, for some of its lanes, where they belong.
void write_results(RegisterArray& registers, const link::SubWarp& sub_warp, LaneMask lanes);

// Counts `active` functional units that have worked in the present cycle, or when the sub-warp was at the units. Who
// observes has been told then.
inline void count_units(CoreState& state, unsigned active) {
  ++state.statistics.fu_active[active];
  state.statistics.idle[static_cast<std::size_t>(IdleCause::predicated_off)] += active == 0 ? 1 : 0;
}

// Folds what threads of one home have executed, lane for lane, into their hashes, if those are wanted.
void fold_few(const ThreadHome& home, const link::DecodedInstruction& decoded, std::uint32_t pc, LaneMask lanes,
              const isa::LaneValues& values, const isa::LaneWord& address);  // of a home of fewer than kLanes
inline void fold(const ThreadHome& home, const link::DecodedInstruction& decoded, std::uint32_t pc, LaneMask lanes,
                 const isa::LaneValues& values, const isa::LaneWord& address) {
  if (home.threads != isa::kLanes) [[unlikely]] {
    fold_few(home, decoded, pc, lanes, values, address);
  } else if (home.hashes != nullptr) {
    isa::retire(decoded.form, pc, lanes, values, address, home.hashes);
  }
}

class Retirement {
 public:
  explicit Retirement(CoreState& state);
  void reset() {
    late_jumps_.clear();
    held_.clear();
  }

  // The registers and hashes of the lanes that execute. `registers`: null where it writes none.
  void results(const link::SubWarp& sub_warp, RegisterArray* registers);
  // Of a scalar instruction (SubWarp::scalar): what its one lane has computed is every active thread's. The register
  // file keeps it once; the model writes it where each thread looks.
  void results_for_warp(link::SubWarp& sub_warp, RegisterArray& registers);
  void count(const link::SubWarp& sub_warp);
  // Counts an instruction in `working` lanes that stands for itself alone.
  void count(const link::DecodedInstruction& decoded, unsigned working) {
    CoreStatistics& statistics = state_.statistics;
    ++statistics.warp_instructions;
    statistics.lane_instructions += working;
    statistics.float_lane_instructions += decoded.floating_point ? working : 0;
    statistics.thread_instructions += working;
    if (decoded.unit == isa::Unit::tensor && working != 0) [[unlikely]] {
      statistics.tensor_multiply_adds += tensor_multiply_adds(decoded.instruction);
    }
    state_.last_retirement = state_.now;
  }
  // A sub-warp has completed: the branches that waited for its threads retire in them, in program order.
  void completed(const link::SubWarp& sub_warp) {
    if (!late_jumps_.empty()) {
      retire_late_jumps(sub_warp);
    }
  }
  // A sub-warp of the group has been counted as completed (InFlight::completed).
  void completed(GroupId group) {
    if (group < held_.size() && !held_[group].empty()) {
      fold_held(group);
    }
  }

 private:
  void hash(const link::SubWarp& sub_warp, LaneMask lanes);
  void fold_in(const link::SubWarp& sub_warp, LaneMask lanes, const std::vector<LaneMask>& active);
  void fold_held(GroupId group);
  void hash_group(const Group& group, const std::vector<LaneMask>& group_active, const link::SubWarp& sub_warp);
  void hash_jump(const Group& group, unsigned row, LaneMask lanes, const link::DecodedInstruction& decoded,
                 std::uint32_t pc);
  void retire_late_jumps(const link::SubWarp& sub_warp);

  CoreState& state_;
  const bool overlaps_;      // IssueDiscipline::Traits
  const bool out_of_order_;  // likewise: stalls_on_use
  // Of an instruction that has completed before an earlier one of its group: what its threads' hashes are to get in
  // program order.
  struct Held {
    link::SubWarp sub_warp;
    std::uint64_t number = 0;  // InFlight::number
    LaneMask lanes = 0;
    std::vector<LaneMask> active;  // the group's, by row
  };
  std::vector<std::vector<std::unique_ptr<Held>>> held_;  // by group
  std::vector<std::unique_ptr<Held>> spare_;              // hold nothing
  // An unconditional branch that has not retired yet in these threads of its group, one mask per row.
  struct LateJump {
    GroupId group;
    const link::DecodedInstruction* decoded;
    std::uint32_t pc;
    std::vector<LaneMask> rows;
    [[nodiscard]] bool done() const {
      return std::all_of(rows.begin(), rows.end(), [](LaneMask left) { return left == 0; });
    }
  };
  std::vector<LateJump> late_jumps_;
  std::vector<LaneMask> in_flight_;  // of a jump that retires: threads in which it is late, by row
};

}  // namespace heddle::hw
