// Why the functional units of a core were idle in a cycle. Each idle cycle has exactly one cause, so the causes add up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle::hw {

// HEDDLE_IDLE_CAUSE(Enumerator, "name", "meaning"): the one declaration.
#define HEDDLE_IDLE_CAUSES(HEDDLE_IDLE_CAUSE)                                                                        \
  HEDDLE_IDLE_CAUSE(no_work, "no_work",                                                                              \
                    "no thread block is resident: before the first, or while others have the last")                  \
  HEDDLE_IDLE_CAUSE(memory, "memory", "no warp was ready and most of them waited for lines from memory")             \
  HEDDLE_IDLE_CAUSE(barrier, "barrier", "no warp was ready and most of them waited at a barrier")                    \
  HEDDLE_IDLE_CAUSE(reconvergence, "reconvergence",                                                                  \
                    "no warp was ready and most of them waited for others: block-wide branch, re-convergence")       \
  HEDDLE_IDLE_CAUSE(pipeline, "pipeline", "no warp was ready and most of them were in the pipeline (barrel issue)")  \
  HEDDLE_IDLE_CAUSE(icache, "icache", "fetch waited for the instruction cache: a miss, or a hit of several cycles")  \
  HEDDLE_IDLE_CAUSE(memory_port, "memory_port", "the memory stage was still sending the lines of an earlier access") \
  HEDDLE_IDLE_CAUSE(mshrs_full, "mshrs_full", "the memory stage waited: every MSHR of the L1 was in use")            \
  HEDDLE_IDLE_CAUSE(targets_full, "targets_full",                                                                    \
                    "the memory stage waited: the MSHR of the line that it wants had no target free")                \
  HEDDLE_IDLE_CAUSE(write_buffer_full, "write_buffer_full",                                                          \
                    "the memory stage waited: the write buffer of the L1 was full")                                  \
  HEDDLE_IDLE_CAUSE(line_order, "line_order",                                                                        \
                    "the memory stage waited: stores to the line go before its atomic or volatile load")             \
  HEDDLE_IDLE_CAUSE(pending_full, "pending_full",                                                                    \
                    "the memory stage waited: core.pending_accesses accesses waited already")                        \
  HEDDLE_IDLE_CAUSE(memory_queue, "memory_queue",                                                                    \
                    "no warp was ready and most of them had an access for which the memory queue had no place")      \
  HEDDLE_IDLE_CAUSE(scratchpad, "scratchpad",                                                                        \
                    "the memory stage was serialising a bank conflict of scratchpad or private memory")              \
  HEDDLE_IDLE_CAUSE(constants, "constants",                                                                          \
                    "the memory stage was asking for the different addresses of a load of constants, one by one")    \
  HEDDLE_IDLE_CAUSE(complex, "complex",                                                                              \
                    "most warps waited for complex operations, or an operation found its unit or lanes busy")        \
  HEDDLE_IDLE_CAUSE(register_banks, "register_banks",                                                                \
                    "operands waited for ports of register banks, which earlier instructions had")                   \
  HEDDLE_IDLE_CAUSE(predicated_off, "predicated_off", "an instruction passed whose guard was false in every lane")   \
  HEDDLE_IDLE_CAUSE(throttled, "throttled",                                                                          \
                    "no warp was ready and most of them had a load that the load limiter held back")                 \
  HEDDLE_IDLE_CAUSE(flush, "flush",                                                                                  \
                    "every thread block is done, and the caches write what is left of their stores to memory")

enum class IdleCause : std::uint8_t {
#define HEDDLE_IDLE_CAUSE(enumerator, name, meaning) enumerator,
  HEDDLE_IDLE_CAUSES(HEDDLE_IDLE_CAUSE)
#undef HEDDLE_IDLE_CAUSE
};

struct IdleCauseInfo {
  std::string_view name;
  std::string_view meaning;
};
inline constexpr std::array kIdleCauses = {
#define HEDDLE_IDLE_CAUSE(enumerator, name, meaning) IdleCauseInfo{name, meaning},
    HEDDLE_IDLE_CAUSES(HEDDLE_IDLE_CAUSE)
#undef HEDDLE_IDLE_CAUSE
};
inline constexpr std::size_t kIdleCauseCount = kIdleCauses.size();

// The L1 or the memory stage had no room for an access.
[[nodiscard]] constexpr bool is_want_of_room(IdleCause cause) {
  return cause == IdleCause::mshrs_full || cause == IdleCause::targets_full || cause == IdleCause::write_buffer_full ||
         cause == IdleCause::line_order || cause == IdleCause::pending_full;
}
// For lines from memory, or for the memory stage to send its accesses.
[[nodiscard]] constexpr bool waits_for_memory(IdleCause cause) {
  return cause == IdleCause::memory || cause == IdleCause::memory_port || cause == IdleCause::memory_queue ||
         is_want_of_room(cause);
}

}  // namespace heddle::hw
