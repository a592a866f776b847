// The global scheduler of ODGS (ODGS paper 3.5 and 3.8): it has the thread blocks of a launch, gives their warps to the
// cores, takes back warps that diverge or wait at a barrier, and forms full warps anew of threads at one PC
// (hw/gpu/global_pool.hpp). Blocks are logical: a warp goes to any core, and warps of one block may be in several.
//
//   blocks   target, BlockProtocol   thread blocks from the grid dispatcher; it answers block_done
//   core[i]  target, HomeProtocol    core i's messages, and messages for it (hw/core/warps/home_protocol.hpp)
//
// Places    a core has a place for a warp per register row, as far as its registers go. A free place is filled at once,
//           the core with the most free places first, of equal ones the next in turn. Oracle: any number of warps in a
//           cycle. A warp that is sent in cycle t is in its core in t + 1. Blocks come one per cycle; as long as more
//           come there are more full warps of new threads, and fewer threads than a warp has lanes stay here.
// Latency   a warp that comes back because it has diverged keeps its place empty, and its threads out of reach, for
//           odgs.handling_latency cycles. A warp that has exited or waits at a barrier gives its place back at once.
// Links     with odgs.link_bytes, the context of each warp (registers, predicates and PC of its threads) occupies its
//           core's link to or from here for as many cycles as it takes, one warp after the other.
// Barriers  threads that wait are counted and kept here. When the barrier completes they stand behind it, among all
//           others there; what it gives them is written where they go on.
// Scratchpad  with odgs.scratchpad = "after-last-access" blocks of kernels that use it begin here too, each as a whole
//           in one core (hw/gpu/bound_blocks.hpp), when there is no full re-formed warp to send; its warps are bound to
//           that core, and come here after their last access. Threads fewer than a warp has lanes do not wait for such
//           blocks. Bound threads wait at barriers where they are; they are counted here, so that a barrier takes a
//           cycle to be told here, and one to be told there. In other launches of such kernels blocks begin in the
//           cores.
// Faults    a barrier that names wrong counts, or that can never complete, is told to the dispatcher (raise).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/core/block_protocol.hpp"
#include "hw/core/warps/home_inbox.hpp"
#include "hw/core/warps/home_protocol.hpp"
#include "hw/divergence/odgs.hpp"
#include "hw/gpu/bound_blocks.hpp"
#include "hw/gpu/global_observer.hpp"
#include "hw/gpu/global_pool.hpp"
#include "hw/gpu/statistics.hpp"
#include "hw/state/launch.hpp"
#include "isa/fault.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/inbox.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

class GlobalScheduler final : public link::ClockedModule,
                              private link::NonBlockingTarget<HomeProtocol>,
                              private link::NonBlockingTarget<BlockProtocol> {
 public:
  GlobalScheduler(const sc_core::sc_module_name& name, const Machine& machine, link::Clock clock);

  BlockTargetSocket blocks;
  sc_core::sc_vector<HomeTargetSocket> core;

  // Blocks of the launch that it has room for at a time.
  [[nodiscard]] unsigned slots(const Launch& launch) const;
  // The launch's blocks begin here from now on; `replays`: their threads do not compute. `bound_blocks`: its kernel
  // uses the scratchpad, and so many blocks fit a core; 0: it does not. In no module's turn.
  // `blocks`: how many of them will come.
  void begin_launch(const Launch& launch, std::uint64_t blocks, bool replays, unsigned bound_blocks);
  // A launch's blocks begin in the cores.
  void launch_stays() { ++statistics_.staying_launches; }
  std::function<void(isa::Fault)> raise;

  [[nodiscard]] GlobalSchedulerStatistics& statistics() { return statistics_; }
  // Null: no observer.
  void observe(GlobalSchedulerObserver* observer) { observer_ = observer; }
  // Threads that are in no core.
  [[nodiscard]] std::size_t pool_threads() const { return pool_.threads(); }
  // Whom its blocks wait for, for deadlock messages; empty when they wait for none.
  [[nodiscard]] std::string describe_waiting() const;

 private:
  // A thread that waits at a barrier of its block, here.
  struct Waiting {
    unsigned barrier = 0;
    std::uint32_t pc = 0;  // behind it
    Traveller thread;
  };
  // Bound threads that wait in their core.
  struct WaitingInCore {
    unsigned barrier = 0;
    std::uint32_t pc = 0;  // of the barrier operation
    HomeThread first;
    unsigned threads = 0;
  };
  struct Block {
    bool used = false;
    BlockHome home;
    std::span<const ThreadRecord> records;
    std::vector<Waiting> waiting;
    std::vector<WaitingInCore> in_core;
    Cycle unbound = link::kNever;  // since then it has no part of a scratchpad any more
  };

  Cycle advance(Cycle now) override;
  ::tlm::tlm_sync_enum nb_transport_fw(HomeMessage& message, HomePhase& phase, sc_core::sc_time& delay) override;
  ::tlm::tlm_sync_enum nb_transport_fw(BlockCommand& command, BlockPhase& phase, sc_core::sc_time& delay) override;

  void show();
  void begin_block(const BlockCommand& command);
  void hear(HomeMessage& message, Cycle now);
  void come(HomeMessage& message);
  void wait(HomeMessage& message, Cycle now);
  void release(Block& block, Cycle now);
  void release_in_core(Block& block, unsigned barrier, BlockHome::Release& done);
  void pass(Block& block, Cycle now);
  void leave(BlockHome& home, unsigned threads, Cycle now);
  [[nodiscard]] Block& block_of(const BlockHome& home) { return blocks_[home.slot]; }
  [[nodiscard]] Traveller new_thread(ThreadHome& home, unsigned lane) const;
  void send_warps(Cycle now);
  [[nodiscard]] bool send_block(Cycle now);
  void send(GlobalPool::Warp warp, unsigned to, Cycle now);
  void send(HomeMessage message, unsigned to, Cycle now);
  void transmit(HomeMessage& message);
  [[nodiscard]] std::optional<unsigned> next_core();
  [[nodiscard]] std::uint64_t context_bytes(std::size_t threads) const;
  // The last cycle of a transfer over a link that is busy until `free`, and from then on.
  [[nodiscard]] Cycle transfer(Cycle now, std::size_t threads, Cycle& free);
  void look_for_stuck_barriers();
  [[nodiscard]] std::string describe(const Block& block) const;

  const Machine& machine_;
  const OdgsParameters parameters_;
  const Launch* launch_ = nullptr;
  std::uint64_t launch_blocks_ = 0;
  bool replays_ = false;
  unsigned places_per_core_ = 0;
  std::vector<unsigned> free_places_;  // by core
  unsigned next_core_ = 0;
  std::vector<Cycle> link_in_, link_out_;  // by core, busy until then
  GlobalPool pool_;
  BoundBlocks bound_;
  bool binds_ = false;  // the launch's kernel uses the scratchpad
  std::vector<Block> blocks_;
  std::uint64_t begun_ = 0;    // blocks of the launch that have begun
  std::size_t running_ = 0;    // and have not ended
  std::uint64_t live_ = 0;     // threads of blocks that have begun
  std::uint64_t waiting_ = 0;  // of those threads, how many wait at barriers
  link::Inbox<BlockCommand> told_;
  HomeInbox heard_;
  std::multimap<Cycle, HomeMessage> coming_;   // by the cycle in which the threads are here
  std::multimap<Cycle, HomeMessage> leaving_;  // by the cycle in which the link has carried them
  std::multimap<Cycle, unsigned> emptied_;     // places of cores, by the cycle from which on they can be filled
  bool stuck_ = false;
  Cycle counted_ = 0;  // pool_thread_cycles up to here
  GlobalSchedulerStatistics statistics_;
  GlobalSchedulerObserver* observer_ = nullptr;
  BlockCommand answer_;
};

}  // namespace heddle::hw
