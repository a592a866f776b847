// Who hears, as part of the machine, which lines a core's L1 lacks, gets and gives up, and for whom. (Who only watches
// is a CacheObserver.)
#pragma once

#include <cstdint>

#include "tlm/cycle.hpp"

namespace heddle::hw {

class LineListener {
 public:
  virtual ~LineListener() = default;
  // A load of the group has missed the line: it has to come, and was not under way. Volatile loads, which never hit,
  // are not told.
  virtual void missed(std::uint64_t /*line*/, std::uint32_t /*group*/, link::Cycle /*now*/) {}
  // The frame holds a line that this group missed first from now on.
  virtual void installed(std::uint32_t /*frame*/, std::uint32_t /*group*/) {}
  // Another line takes the frame from `line`. Lines that are dropped otherwise (flush, recall) are not told.
  virtual void evicted(std::uint32_t /*frame*/, std::uint64_t /*line*/) {}
};

}  // namespace heddle::hw
