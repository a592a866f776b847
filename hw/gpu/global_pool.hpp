// The threads of a grid that are in no core, and which of them make the next warp (ODGS paper 3.5). Plain C++.
//
// Threads that stand at one PC and are as many as a warp has lanes are a full warp, in the order in which they came.
// Full re-formed warps go out first, in the order in which they became full, then new warps in the order of the grid,
// then the threads of the lowest PC, fewer than a warp has lanes. A new warp that is not full (the last one of a block)
// is threads at PC 0 like any others, so that small blocks fill warps together.
//
// With owners (odgs.own_blocks) new warps belong to cores, and go there. A core without any takes new warps of one
// block, the latest, of the core that has most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "hw/core/warps/places.hpp"
#include "hw/state/thread_home.hpp"

namespace heddle::hw {

class GlobalPool {
 public:
  struct Warp {
    enum class Kind : std::uint8_t { full, fresh, incomplete };
    Kind kind = Kind::full;
    std::uint32_t pc = 0;
    std::vector<Traveller> threads;  // full, incomplete: numbered by lane from 0 on
    ThreadHome* home = nullptr;      // fresh: whose threads they are; they have no registers yet
  };

  // `owners`: of new warps; 1: they go to any core.
  GlobalPool(unsigned width, unsigned owners) : width_(width), fresh_(owners) {}

  void clear();
  // A warp of new threads, all lanes. `owner`: of its block, below `owners`.
  void begin(ThreadHome& home, unsigned owner) {
    fresh_[owner].push_back(&home);
    ++fresh_warps_;
  }
  // A thread that stands at a PC and can go on.
  void add(std::uint32_t pc, Traveller thread);
  // The warp that goes to a core next, `owner` among the owners. None: no thread is here, or threads that are fewer
  // than a warp has lanes, while the grid has more that will be here at once (`more`).
  [[nodiscard]] std::optional<Warp> take(unsigned owner, bool more = false);
  // Threads that are here, new ones too.
  [[nodiscard]] std::size_t threads() const { return threads_ + fresh_warps_ * width_; }
  [[nodiscard]] bool has_warp() const { return threads_ != 0 || fresh_warps_ != 0; }
  [[nodiscard]] std::size_t full_warps() const { return full_.size(); }
  [[nodiscard]] std::size_t fresh_warps() const { return fresh_warps_; }
  // Blocks whose new warps have changed owners, of all launches.
  [[nodiscard]] std::uint64_t stolen_blocks() const { return stolen_blocks_; }

 private:
  void steal(unsigned owner);
  [[nodiscard]] Warp warp_of(Warp::Kind kind, std::uint32_t pc, std::vector<Traveller> threads);

  const unsigned width_;
  std::map<std::uint32_t, std::vector<Traveller>> waiting_;  // by PC, fewer than a warp each
  std::deque<Warp> full_;
  std::vector<std::deque<ThreadHome*>> fresh_;  // by owner
  std::size_t fresh_warps_ = 0;
  std::uint64_t stolen_blocks_ = 0;
  std::size_t threads_ = 0;  // of waiting_ and full_
};

}  // namespace heddle::hw
