// The blocks of a kernel with scratchpad whose threads the global scheduler may move after their last access to it
// (odgs.scratchpad = "after-last-access"; ODGS paper 3.8): which core a block begins in, and for how long it keeps its
// part of that core's scratchpad. Plain C++.
//
// A block begins whole: in a core that has a place for each of its warps and a free part of the scratchpad; of such
// cores in the one with the most free places, of equal ones in the next in turn. Its warps are bound to the core. When
// none is any more, because all have passed their last access or have no thread left, the part is free, although
// threads of the block may live on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace heddle::hw {

class BoundBlocks {
 public:
  struct Part {
    unsigned slot = 0;  // the block
    unsigned core = 0;
    unsigned number = 0;  // of the core's parts
  };

  // A launch begins. `slots`: numbers of blocks lie below; `parts`: of the scratchpad of each of `cores` cores; 0: the
  // launch has no use for it, and none of what follows is called but queued() and taken(). `warps`: of a block.
  void begin(unsigned slots, unsigned cores, unsigned parts, unsigned warps) {
    warps_ = warps;
    queue_.clear();
    next_core_ = 0;
    taken_ = 0;
    free_.assign(cores, std::vector<bool>(parts, true));
    blocks_.assign(parts == 0 ? 0 : slots, {});
  }
  // A block waits for its turn: first come, first served.
  void queue(unsigned slot) { queue_.push_back(slot); }
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  // Parts that are taken, of all cores.
  [[nodiscard]] std::size_t taken() const { return taken_; }

  // The first block of the queue begins, if a core can take it. `places`: free ones for warps, by core.
  [[nodiscard]] std::optional<Part> place(std::span<const unsigned> places) {
    if (queue_.empty()) {
      return std::nullopt;
    }
    const auto cores = static_cast<unsigned>(free_.size());
    std::optional<unsigned> best;
    for (unsigned tried = 0; tried != cores; ++tried) {
      const unsigned core = (next_core_ + tried) % cores;
      if (places[core] >= warps_ && first_free(core) && (!best || places[core] > places[*best])) {
        best = core;
      }
    }
    if (!best) {
      return std::nullopt;
    }
    next_core_ = (*best + 1) % cores;
    const Part part{queue_.front(), *best, *first_free(*best)};
    queue_.pop_front();
    free_[part.core][part.number] = false;
    ++taken_;
    blocks_[part.slot] = {part, warps_};
    return part;
  }
  // One of the block's warps is not bound any more. True: it was the last one, and the part is free.
  [[nodiscard]] bool past(unsigned slot) {
    Bound& block = blocks_[slot];
    if (block.warps == 0) {
      throw InternalError("a warp passes its last access to the scratchpad in a block that has passed it");
    }
    if (--block.warps != 0) {
      return false;
    }
    free_[block.part.core][block.part.number] = true;
    --taken_;
    return true;
  }
  // Warps of the block that are bound.
  [[nodiscard]] unsigned bound(unsigned slot) const { return slot < blocks_.size() ? blocks_[slot].warps : 0; }

 private:
  struct Bound {
    Part part;
    unsigned warps = 0;
  };
  [[nodiscard]] std::optional<unsigned> first_free(unsigned core) const {
    const auto found = std::find(free_[core].begin(), free_[core].end(), true);
    return found == free_[core].end() ? std::nullopt
                                      : std::optional(static_cast<unsigned>(found - free_[core].begin()));
  }

  unsigned warps_ = 0;
  unsigned next_core_ = 0;
  std::size_t taken_ = 0;
  std::deque<unsigned> queue_;
  std::vector<std::vector<bool>> free_;  // by core and part
  std::vector<Bound> blocks_;            // by slot
};

}  // namespace heddle::hw
