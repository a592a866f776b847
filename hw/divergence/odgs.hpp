// The parameters of global warp re-formation (hw/divergence/global_warps.cpp in the cores,
// hw/gpu/global_scheduler.hpp beside them).
#pragma once

#include <cstdint>

#include "base/parameter.hpp"
#include "isa/instruction.hpp"

namespace heddle::hw {

struct OdgsParameters {
  static constexpr const char* kSection = "odgs";
  static constexpr const char* kMeaning = "warps re-formed from the threads of the whole grid (core.divergence = odgs)";
  unsigned handling_latency = 0;
  unsigned link_bytes = 0;
  unsigned pool = 32768;
  unsigned short_branch = 0;
  unsigned moves_per_1024 = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "handling_latency", handling_latency, Limits::between(0, 100'000), "cycles",
        "from a warp's departure until its place takes another one and its threads can be re-formed (ODGS paper 3.8)");
    visit("link_bytes", link_bytes, Limits::between(0, 65536), "bytes",
          "context that a core's link to the global scheduler carries per cycle each way, warp after warp; 0: no "
          "limit, as "
          "in the ODGS paper");
    visit("pool", pool, Limits::between(1024, 4'194'304), "threads",
          "threads of blocks that have begun, beyond those that the cores have places for: blocks begin while there is "
          "room "
          "for all of their threads");
    visit(
        "short_branch", short_branch, Limits::between(0, 100'000), "instructions",
        "a forward branch whose re-convergence point is at most so many instructions on is left to a stack in the warp "
        "(ODGS paper 3.8); 0: none");
    visit("moves_per_1024", moves_per_1024, Limits::between(0, 1024), "warps",
          "warps that may leave a core at divergent branches in 1024 cycles; beyond them the stack resolves branches "
          "(ODGS "
          "paper 3.8); 0: any number");
  }
};

// What travels with a thread: its registers, predicates and PC.
[[nodiscard]] constexpr std::uint64_t context_bytes(unsigned registers) {
  return std::uint64_t{4} * registers + (isa::kPredicates + 7) / 8 + 4;
}

}  // namespace heddle::hw
