// Question 5 of a core: how do lane addresses become transactions? One file per answer, in Registry<Coalescer>.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/registry.hpp"
#include "hw/parameters/policy.hpp"
#include "isa/instruction.hpp"

namespace heddle::hw {

using isa::LaneMask;

// The addresses of one access of a sub-warp. Local memory is interleaved by 32-bit words over the threads, so a wide
// local access has several pieces per lane; any other access has one. An aligned piece never crosses a line.
struct LaneAddresses {
  using Piece = std::array<std::uint64_t, isa::kLanes>;
  LaneMask lanes = 0;
  unsigned pieces = 1;
  unsigned piece_bytes = 4;
  std::array<Piece, 4> address;
};

// One cache line and the lanes that have a piece in it.
struct LineAccess {
  std::uint64_t line = 0;  // address, aligned
  LaneMask lanes = 0;
};

class Coalescer {
 public:
  struct Setup {
    unsigned line_bytes;
  };
  struct Traits {
    // The sub-warps of an instruction wait in the memory stage for each other, and loads and stores of theirs that fall
    // into the same line become one request (hw/core/memory/gathering.hpp).
    bool gathers = false;
  };
  using About = PolicyAbout<Traits, CorePolicies>;
  virtual ~Coalescer() = default;
  // The lines of one sub-warp: appends the distinct lines to `lines` (cleared first) in the order in which they are
  // sent.
  virtual void coalesce(const LaneAddresses& addresses, std::vector<LineAccess>& lines) const = 0;
};

}  // namespace heddle::hw
