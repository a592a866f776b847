// The parameters of global warp re-formation (hw/divergence/global_warps.cpp in the cores,
// hw/gpu/global_scheduler.hpp beside them).
#pragma once

#include <cstdint>
#include <string>

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
  unsigned rank_after = 0;
  unsigned rank_loss = 256;
  unsigned local_paths = 0;
  unsigned local_wait = 256;
  bool own_blocks = false;
  std::string scratchpad = "off";
  [[nodiscard]] bool after_last_access() const { return scratchpad == "after-last-access"; }
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
    visit("rank_after", rank_after, Limits::between(0, 1'000'000), "times",
          "that a core leaves a divergent branch to the stack, to learn what that loses, before it decides whether "
          "the branch sends warps away (ODGS paper 3.8: statistics gathered at run time); 0: every branch does");
    visit("rank_loss", rank_loss, Limits::between(0, 1'000'000), "thread instructions",
          "that threads of a warp miss on average up to the re-convergence point, from which on a branch sends warps "
          "away; one that loses less stays the stack's");
    visit("local_paths", local_paths, Limits::between(0, 1024), "paths",
          "of diverged warps that wait in their core for threads at their PC in other lanes, and run on there when "
          "they fill a warp, before the oldest leaves for the pool (ODGS paper 3.8: local optimizations first); 0: "
          "all leave at once");
    visit("local_wait", local_wait, Limits::between(1, 1'000'000), "cycles",
          "that they wait there at most, as seen when an instruction of the core completes");
    visit("own_blocks", own_blocks, Limits::any(), "",
          "new warps of a block go to one core, the blocks to the cores in turn; a core without any takes those of a "
          "block of the core that has most (ODGS paper 3.4: work stealing)");
    visit("scratchpad", scratchpad, Limits::one_of({"off", "after-last-access"}), "",
          "kernels that use the scratchpad: off, their threads stay in their cores, with re-convergence stacks; "
          "after-last-access, a warp can leave from its last access on, which the compiler marks (ODGS paper 3.8)");
  }
};

// What travels with a thread: its registers, predicates and PC.
[[nodiscard]] constexpr std::uint64_t context_bytes(unsigned registers) {
  return std::uint64_t{4} * registers + (isa::kPredicates + 7) / 8 + 4;
}

}  // namespace heddle::hw
