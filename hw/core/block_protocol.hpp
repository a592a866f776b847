// Between the grid dispatcher and a core: thread blocks and flushes. Non-blocking; each side looks at what it was told
// in a later cycle.
//
//   fw start_block  slot, index -> TLM_COMPLETED   the block's warps may be fetched from the next cycle on; `records`,
//                                                  where threads replay, are valid until block_done has been taken
//   fw flush                    -> TLM_ACCEPTED    bw flushed follows when memory has every store of the core
//   fw stop                     -> TLM_ACCEPTED    a fault ended the launch: the core does nothing from the next cycle
//                                                  on but empty its L1; bw stopped follows when nothing is outstanding
//   fw leave_grid               -> TLM_ACCEPTED    the grid's barrier is complete: the blocks that wait here go on
//   bw block_done   slot        -> TLM_COMPLETED   the block's last thread has exited
//   bw at_grid      slot        -> TLM_COMPLETED   the block has come to the grid's barrier, and other cores see its
//                                                  stores; `index` and `pc`: the first thread that waits
//   bw faulted                  -> TLM_COMPLETED   once; Core::fault() says what
#pragma once

#include <cstdint>
#include <span>
#include <tlm>

#include "hw/state/replay.hpp"
#include "isa/module.hpp"

namespace heddle::hw {

struct BlockCommand {
  enum class Kind : std::uint8_t {
    start_block,
    block_done,
    flush,
    flushed,
    stop,
    stopped,
    faulted,
    at_grid,
    leave_grid
  };
  Kind kind = Kind::start_block;
  unsigned core = 0;
  unsigned slot = 0;
  isa::Dim3 index;
  std::uint64_t linear = 0;               // block-linear index
  std::span<const ThreadRecord> records;  // of the block's threads, where they replay
  std::uint32_t pc = 0;
};
enum class BlockPhase : std::uint8_t { command };
struct BlockProtocol {
  using tlm_payload_type = BlockCommand;
  using tlm_phase_type = BlockPhase;
};
using BlockInitiatorSocket = ::tlm::tlm_initiator_socket<32, BlockProtocol>;
using BlockTargetSocket = ::tlm::tlm_target_socket<32, BlockProtocol>;

}  // namespace heddle::hw
