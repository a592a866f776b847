// The threads of a grid that are in no core, and which of them make the next warp (ODGS paper 3.5). Plain C++.
//
// Threads that stand at one PC and are as many as a warp has lanes are a full warp, in the order in which they came.
// Full re-formed warps go out first, in the order in which they became full, then new warps in the order of the grid,
// then the threads of the lowest PC, fewer than a warp has lanes. A new warp that is not full (the last one of a block)
// is threads at PC 0 like any others, so that small blocks fill warps together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "hw/core/places.hpp"
#include "hw/state/thread_home.hpp"

namespace heddle::hw {

class GlobalPool {
 public:
  struct Warp {
    enum class Kind : std::uint8_t { full, fresh, incomplete };
    Kind kind = Kind::full;
    std::uint32_t pc = 0;
    std::vector<Traveller> threads;  // full, incomplete: numbered by lane from 0 on
    ThreadHome* home = nullptr;      // fresh: whose threads they are; nobody has given them registers yet
  };

  explicit GlobalPool(unsigned width) : width_(width) {}

  void clear();
  // A warp of new threads, all lanes.
  void begin(ThreadHome& home) { fresh_.push_back(&home); }
  // A thread that stands at a PC and can go on.
  void add(std::uint32_t pc, Traveller thread);
  // The warp that goes out next; none: nobody is here.
  [[nodiscard]] std::optional<Warp> take();
  // Threads that are here, new ones too.
  [[nodiscard]] std::size_t threads() const { return threads_ + fresh_.size() * width_; }
  [[nodiscard]] bool has_warp() const { return threads_ != 0 || !fresh_.empty(); }

 private:
  [[nodiscard]] Warp warp_of(Warp::Kind kind, std::uint32_t pc, std::vector<Traveller> threads);

  const unsigned width_;
  std::map<std::uint32_t, std::vector<Traveller>> waiting_;  // by PC, fewer than a warp each
  std::deque<Warp> full_;
  std::deque<ThreadHome*> fresh_;
  std::size_t threads_ = 0;  // of waiting_ and full_
};

}  // namespace heddle::hw
