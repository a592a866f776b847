// Question 3 of a core: which threads of the group fill the lanes this cycle? One file per answer, in
// Registry<SubWarpFormer>. A former is asked once per cycle while an instruction is in the decode stage.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/registry.hpp"
#include "hw/core/group.hpp"

namespace heddle::hw {

// The threads of one sub-warp: lane l holds the thread of row `row[l]` of the group's mask.
struct SubWarpShape {
  LaneMask lanes = 0;
  bool uniform = true;  // every lane is of row first_row
  std::uint16_t first_row = 0;
  std::array<std::uint16_t, isa::kLanes> row{};  // valid where lanes is set and not uniform
};

class SubWarpFormer {
 public:
  struct Setup {
    unsigned simd_width;
    unsigned rows;  // rows of a group's mask at most
  };
  virtual ~SubWarpFormer() = default;
  // An instruction of a group begins. `active`: its active mask, one word per row; `guarded`: active and guard true.
  virtual void begin(const isa::Instruction& instruction, std::span<const LaneMask> active,
                     std::span<const LaneMask> guarded) = 0;
  // The next sub-warp. Every instruction yields at least one (without lanes if no thread takes part).
  virtual void next(SubWarpShape& shape) = 0;
  // The stall signal to fetch: threads remain, another sub-warp follows.
  [[nodiscard]] virtual bool more() const = 0;
};

}  // namespace heddle::hw
