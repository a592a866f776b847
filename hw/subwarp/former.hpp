// Question 3 of a core: which threads of the group fill the lanes this cycle? One file per answer, in
// Registry<SubWarpFormer>. A former is asked once per cycle while an instruction is in the decode stage. The copy of
// the active mask that it clears as threads go (LWM report 3.1.1 and figure 7; thesis 4.2.1 and figure 4.5) is handed
// to it: formers keep no state.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/registry.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/group.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

// The threads of one sub-warp: lane l holds the thread of row `row[l]` of the group's mask and column `home[l]`.
struct SubWarpShape {
  LaneMask lanes = 0;
  bool uniform = true;     // every lane is of row first_row; implies that no thread is displaced
  bool displaced = false;  // some thread is in another lane than its column's
  std::uint16_t first_row = 0;
  std::array<std::uint16_t, isa::kLanes> row{};  // valid where lanes is set and not uniform
  std::array<std::uint8_t, isa::kLanes> home{};  // valid where lanes is set and displaced
  // What `row` says, row by row, if the former knows: as in SubWarp::rows, of the group's mask. 0: it does not say.
  std::uint8_t row_count = 0;
  std::array<link::RowLanes, link::SubWarp::kMostRows> rows{};
  // Some more of its lanes are of a row that none was of before.
  void add_row(std::uint16_t number, LaneMask of) {
    if (row_count < rows.size()) {
      rows[row_count] = {number, of};
    }
    ++row_count;
  }
  // After the last one: whether there were too many.
  void end_rows() { row_count = row_count <= rows.size() ? row_count : 0; }
};

class SubWarpFormer {
 public:
  struct Setup {
    unsigned simd_width;
    unsigned rows;  // rows of a group's mask at most
    const CoreParameters& core;
  };
  // What a former does (hw/parameters/policy.hpp).
  struct Traits {
    // Threads of several rows share a sub-warp, so that a thread whose guard is false is no candidate (thesis 5.2.1);
    // false: it keeps its lane.
    bool packs = false;
    // A thread may run in another lane than the one in whose register bank it lives.
    bool displaces = true;
    // Of a group of one row, all candidates become one sub-warp, each in its lane.
    bool keeps_row = false;
  };
  using About = PolicyAbout<Traits, CorePolicies>;
  virtual ~SubWarpFormer() = default;
  // The instruction takes one sub-warp, however many threads there are.
  [[nodiscard]] virtual bool forms_one(const isa::Instruction& instruction) const {
    (void)instruction;
    return false;
  }
  // Forms the next sub-warp. `candidates`: the threads to be formed, one mask per row; threads taken are cleared.
  // `pending`: threads of the same instruction that are no candidates yet, because an earlier instruction of theirs is
  // still in flight. False: no sub-warp can be formed in this cycle.
  [[nodiscard]] virtual bool form(const isa::Instruction& instruction, std::span<LaneMask> candidates,
                                  std::span<const LaneMask> pending, SubWarpShape& shape) const = 0;
};

// By rows: the lowest row with candidates and nothing pending.
[[nodiscard]] bool form_row(std::span<LaneMask> candidates, std::span<const LaneMask> pending, SubWarpShape& shape);
// Accesses memory beyond the core's scratchpad.
[[nodiscard]] bool accesses_global_memory(const isa::Instruction& instruction);

}  // namespace heddle::hw
