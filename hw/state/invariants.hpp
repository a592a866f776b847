// What must hold in every cycle of a core, checked where assertions are compiled in (no NDEBUG: the presets debug and
// asan-ubsan), and free where they are not:
//   - each active thread of an instruction is in exactly one sub-warp (in none, if it was packed and its guard is
//     false)
//   - no thread is in two sub-warps in flight
//   - a register bank serves one thread per port and cycle
//   - the masks of a divergence mechanism partition the threads that it holds (Divergence::inconsistency)
// A violation is an error of the model: InternalError, exit code 4.
#pragma once

#include <span>
#include <vector>

#include "hw/state/group.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

#ifdef NDEBUG
inline constexpr bool kCheckInvariants = false;
#else
inline constexpr bool kCheckInvariants = true;
#endif

class Invariants {
 public:
  Invariants(unsigned rows, unsigned simd_width) : in_flight_(rows, 0), last_read_(simd_width, link::kNever) {}

  void reset();
  // The former has formed a sub-warp.
  void formed(const link::SubWarp& sub_warp);
  // The last sub-warp of an instruction: threads formed and threads left out (guard false) make up the active ones.
  // One mask per row of the group.
  static void all_formed(const Group& group, std::span<const LaneMask> active, std::span<const LaneMask> formed,
                         std::span<const LaneMask> left_out);
  // A sub-warp's registers are read. A displaced one reads a perfect register file, which has a port per thread.
  void read(const link::SubWarp& sub_warp, link::Cycle now);
  void retired(const link::SubWarp& sub_warp);
  // All three at once, of threads in lanes of their own register row that were read in a cycle; `was_formed`: the last
  // two.
  void passed(std::uint32_t pc, unsigned row, LaneMask lanes, link::Cycle read_at, bool was_formed);

 private:
  void begin(std::uint32_t pc, unsigned row, unsigned lane);
  void read(std::uint32_t pc, unsigned bank, link::Cycle now);

  std::vector<LaneMask> in_flight_;     // by register row, register lanes
  std::vector<link::Cycle> last_read_;  // by bank
};

}  // namespace heddle::hw
