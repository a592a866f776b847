// The barriers of one block. The rules here are those of the whole project; the core model follows them too:
//
// - A barrier counts threads. The threads of a warp that execute the instruction (active, guard true) arrive together.
// - bar.sync and bar.red block the whole warp, also when only some of its threads arrived: paths that the warp has put
//   aside wait until the release. bar.arrive blocks nobody.
// - A barrier completes when the number of threads that have arrived equals the expected count: the given count, or
//   without one the block's live threads (those that have not exited; an exit can complete a barrier). All its waiters
//   go on, and the barrier is as new.
// - bar.red combines the predicate of every thread that arrived with the same instruction kind.
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

 private:
  std::array<State, kBarriers> states_;
};

// What bar.red yields in every thread that waited: the count, or 0/1 for and/or.
[[nodiscard]] std::uint32_t reduced(const Barriers::State& done);

}  // namespace heddle::isa::reference
