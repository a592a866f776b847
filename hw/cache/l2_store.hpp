// The store of an L2 slice (hw/cache/l2_slice.hpp): a Cache with the table of the role `l2`, which holds the lines of
// its channel only, for all cores. With `inclusive` it is a directory too: it keeps who has a copy of each line.
//
//   L2Store(name, parameters, clock, map, inclusive, waker)
//
// map: it counts lines by SliceMap::local, memory by address.
//
// What it sends on carries the MemoryExtension of the request that caused it (LineRequest::origin). In the protocol
// none a write-back store steps atomics on its line, and on a miss when the line has come; a write-through one gives up
// its copy and hands them on.
#pragma once

#include <functional>
#include <vector>

#include "hw/cache/cache.hpp"
#include "hw/map/slice_map.hpp"

namespace heddle::hw {

class L2Store final : public Cache {
 public:
  L2Store(const sc_core::sc_module_name& name, const CacheParameters& parameters, link::Clock clock,
          const SliceMap& map, bool inclusive, link::Waker& waker);

  // Inclusive, must be set: called when a line is given up, with the cores that may have copies (bit n: core n).
  std::function<void(std::uint64_t address, std::uint64_t holders)> line_given_up;

 private:
  void describe(const LineRequest& request, link::MemoryExtension& extension) const override;
  [[nodiscard]] std::uint64_t beyond(std::uint64_t line) const override { return map_.global(line); }
  // The core of a request gets a copy of a line, which has no place here when it was given up while it was on its way.
  void note_sharer(Frame frame, const LineRequest& request) override;
  void recall_sharers(Frame frame) override;

  const SliceMap& map_;
  std::vector<std::uint64_t> holders_;  // per frame: cores that have had the line; empty unless inclusive
};

}  // namespace heddle::hw
