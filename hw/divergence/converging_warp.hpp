// The threads of one warp that are scheduled independently and meet at convergence barriers: what NVIDIA's GPUs have
// done since Volta. Sources: patent US 10,067,768 (application US 2016/0019066), "Execution of divergent threads using
// a convergence barrier", and Shoushtary, Tubella, González, "Control Flow Management in Modern GPUs" (arXiv
// 2407.02944, 2024). Plain C++.
//
// The live threads of the warp are in sets: the threads of a set stand at one PC and are in one state. One set runs;
// the others wait to run, for each other, or at a barrier of their block. Threads at one PC that may run are one set.
//
//   parting    At a branch that parts the running set, its threads set a convergence barrier at the compiler's
//              re-convergence PC, or join the one that is there: the barrier remembers its threads.
//   meeting    A thread of a barrier that comes to its PC waits there, until every thread of it waits or has exited.
//              Then they go on as one set. Re-convergence PCs post-dominate their branches, so that barriers never wait
//              for each other in a circle.
//   picking    When the running set waits, has exited or lets others run, the set that began to wait for its turn last
//              runs, as with a stack, and sets that have let others run come after all others, the first of them first.
//   yielding   Where the compiler has marked a branch (isa::Instruction::yields: it leads back in a loop that ends by
//              what other threads write), threads let others run after so many rounds in which no thread of the warp
//              has got on. Threads that let others run are as good as waiting for every convergence barrier (claim 1:
//              "each thread of the participating threads is in either the blocked state or the yielded state"): if no
//              other set may run, barriers go on without them.
//   warp.sync  Threads wait until all live lanes that they name wait in a warp.sync and name the same. A convergence
//              barrier whose threads wait for threads in a warp.sync, which wait for them, goes on without these, once
//              no set of the warp can run otherwise.
//
// Neither text says which path of a branch is first, how often a thread goes round before it yields, or what a barrier
// costs that finds no register: Rules has these. Registers: a compiler keeps a barrier that finds none in registers of
// the threads (BMOV). Here the barrier that was set first makes room, and comes back when its threads meet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/state/core_statistics.hpp"
#include "hw/state/group.hpp"
#include "isa/instruction.hpp"
#include "isa/semantics.hpp"

namespace heddle::hw {

class ConvergingWarp {
 public:
  struct Rules {
    unsigned registers = 16;   // barriers of a warp that registers hold
    unsigned yield_after = 4;  // rounds
    bool taken_first = false;  // at a branch the threads that take it go first
  };
  // Threads that run, and where; none: no thread of the warp can go on.
  struct Path {
    LaneMask lanes = 0;
    std::uint32_t pc = 0;
  };

  void begin(LaneMask threads);

  // What the set that runs has done, its next PC being the next instruction's unless said otherwise. Each returns what
  // runs next.
  [[nodiscard]] Path step(Path running, ConvergenceStatistics& count);
  // `taken`: the threads that take the branch.
  [[nodiscard]] Path branch(Path running, const isa::Instruction& branch, LaneMask taken, const Rules& rules,
                            ConvergenceStatistics& count);
  [[nodiscard]] Path exit(Path running, LaneMask exited, ConvergenceStatistics& count);
  // Threads wait at a barrier of the block.
  [[nodiscard]] Path wait(Path running, LaneMask arrivals, ConvergenceStatistics& count);
  // Threads wait for the lanes that they name.
  [[nodiscard]] Path sync(Path running, LaneMask lanes, const isa::LaneWord& members, ConvergenceStatistics& count);

  // Threads that have waited at a barrier of the block may run.
  void release(LaneMask lanes);
  // No set runs: one may now.
  [[nodiscard]] Path pick(ConvergenceStatistics& count);
  // A set has been picked and has not run yet; more threads may run now.
  [[nodiscard]] Path pick_again(Path picked, ConvergenceStatistics& count);
  // No thread could go on when it was last asked for.
  [[nodiscard]] bool idle() const { return idle_; }

  // The next PC behind that of the running set, along its code, at which some of its threads wait.
  [[nodiscard]] std::uint32_t next_stop(Path running) const;
  // Barriers put aside or taken back since it was last asked.
  [[nodiscard]] unsigned moved() {
    const unsigned moves = moves_;
    moves_ = 0;
    return moves;
  }

  // ---- for tests, waves and messages
  enum class State : std::uint8_t { ready, yielded, meeting, syncing, at_barrier };
  struct Set {
    LaneMask lanes = 0;
    std::uint32_t pc = 0;
    State state = State::ready;
    LaneMask members = 0;  // of State::syncing
    friend bool operator==(const Set&, const Set&) = default;
  };
  struct Barrier {
    std::uint32_t pc = 0;
    LaneMask threads = 0;
    bool in_register = true;
    friend bool operator==(const Barrier&, const Barrier&) = default;
  };
  [[nodiscard]] LaneMask live() const { return live_; }
  [[nodiscard]] const std::vector<Set>& sets() const { return sets_; }              // but for the one that runs
  [[nodiscard]] const std::vector<Barrier>& barriers() const { return barriers_; }  // that was set first first
  [[nodiscard]] LaneMask in(State state) const;
  [[nodiscard]] bool waits_at_block() const { return in(State::at_barrier) != 0; }
  // Why what it holds does not fit the running set; empty: it does.
  [[nodiscard]] std::string inconsistency(LaneMask running) const;
  [[nodiscard]] std::string describe() const;

 private:
  void put(Set set);
  void set_barrier(std::uint32_t pc, LaneMask lanes, const Rules& rules, ConvergenceStatistics& count);
  void take_back(Barrier& barrier, ConvergenceStatistics& count);
  void put_aside_one(const Barrier* but, ConvergenceStatistics& count);
  [[nodiscard]] LaneMask meeting_at(std::uint32_t pc) const;
  // Some threads of a set are no longer in it.
  void take(std::size_t set, LaneMask lanes);
  [[nodiscard]] LaneMask open(std::size_t barrier, ConvergenceStatistics& count);
  [[nodiscard]] bool arrives(Path& running, ConvergenceStatistics& count);
  [[nodiscard]] Path settle(Path running, ConvergenceStatistics& count);
  [[nodiscard]] Path pick_set(ConvergenceStatistics& count);
  [[nodiscard]] bool open_without(State state, std::uint64_t& counter);
  void release_syncs();
  [[nodiscard]] bool goes_round(std::uint32_t pc, const isa::Instruction& branch, const Rules& rules);
  // A thread has come to a PC: it has got on if that is outside the loops in which threads go round.
  void comes_to(std::uint32_t pc);
  void gets_on();

  LaneMask live_ = 0;
  std::vector<Set> sets_;  // that began to wait first first
  std::vector<Barrier> barriers_;
  unsigned registers_ = 0;  // of Rules
  unsigned moves_ = 0;
  // Marked branches taken since a thread got on, and the code that those loops span.
  unsigned rounds_ = 0;
  std::uint32_t first_ = ~std::uint32_t{0}, last_ = 0;
  bool idle_ = false;
};

}  // namespace heddle::hw
