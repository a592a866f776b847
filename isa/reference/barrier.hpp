// The barriers of one block. The rules here are the whole project's; the core model follows them too:
//
// - A barrier counts threads. The threads of a warp that execute the instruction (active, guard true) arrive together.
// - bar.sync and bar.red block the whole warp, also when only some of its threads arrived: paths that the warp has put
//   aside wait until the release. bar.arrive blocks no thread.
// - A barrier completes when the number of threads that have arrived equals the expected count: the given count, or
//   without one the block's live threads (threads that have not exited; an exit can complete a barrier). All its
//   waiters go on, and the barrier is as new.
// - bar.red combines the predicate of every thread that arrived with the same instruction kind.
// - bar.grid is a barrier of all live threads of the grid, in a cooperative launch. A block has come to it when all its
//   live threads have; it completes when every block has. A block that has ended can never come.
//
// Mismatches, each a fault: barriers other than 0 to 15, threads of one warp at different barriers or with different
// counts, more arrivals than the count, different counts or different reductions at one barrier before it completes,
// and a block in which every remaining warp waits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "isa/instruction.hpp"

namespace heddle::isa::reference {

inline constexpr unsigned kBarriers = 16;
inline constexpr unsigned kGridBarrier = kBarriers;  // what bar.grid stands for among a block's barriers

// "barrier 3", "the grid's barrier".
[[nodiscard]] std::string barrier_name(unsigned id);
// What is wrong when every block of a grid has either come to the grid's barrier or ended, and some have ended.
[[nodiscard]] std::string grid_stuck(std::uint64_t waiting, std::uint64_t ended);
// What is wrong when bar.grid is executed in a launch that is not cooperative.
inline constexpr const char* kNotCooperative =
    "the kernel waits for its whole grid, whose blocks need not all be resident: the launch was not cooperative";

class Barriers {
 public:
  struct State {
    std::uint32_t arrived = 0;
    std::uint32_t count = 0;       // 0: the block's live threads
    std::uint32_t true_count = 0;  // bar.red: arrived threads whose predicate is true
    Op op = Op::BAR_SYNC;          // BAR_SYNC for bar.sync and bar.arrive, else the reduction
  };

  void clear() { states_ = {}; }
  [[nodiscard]] const State& state(unsigned id) const { return states_[id]; }

  // Threads arrive. The text says what is wrong; empty when nothing is.
  [[nodiscard]] std::string arrive(Op op, std::uint32_t id, std::uint32_t count, std::uint32_t threads,
                                   std::uint32_t true_threads);
  // A barrier that is complete, lowest number first, given the block's live threads; it is reset, its last state left
  // in `done`.
  [[nodiscard]] std::optional<unsigned> complete(std::uint32_t live_threads, State& done);
  // The block, of which so many threads live, has come to the grid's barrier; and goes on behind it.
  [[nodiscard]] bool at_grid(std::uint32_t live_threads) const {
    return states_[kGridBarrier].arrived != 0 && states_[kGridBarrier].arrived >= live_threads;
  }
  void leave_grid() { states_[kGridBarrier] = State{}; }

 private:
  std::array<State, kBarriers + 1> states_;  // the last one: the grid's, as far as the block is concerned
};

// What bar.red yields in every thread that waited: the count, or 0/1 for and/or.
[[nodiscard]] std::uint32_t reduced(const Barriers::State& done);

}  // namespace heddle::isa::reference
