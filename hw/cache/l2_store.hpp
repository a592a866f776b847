// The store of an L2 slice (hw/cache/l2_slice.hpp): a Cache with the table of the role `l2`, which holds the lines of
// its channel only, for all cores. It can be a directory too: it keeps which cores have a copy of each line.
//
//   L2Store(name, parameters, clock, map, sharers, waker)
//
// map: it counts lines by SliceMap::local, memory by address. sharers: cores whose copies it knows; 0: it is no
// directory.
//
// What it sends on carries the MemoryExtension of the request that caused it (LineRequest::origin). In the protocol
// none a write-back store steps atomics on its line, and on a miss when the line has come; a write-through one gives up
// its copy and hands them on.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "hw/cache/cache.hpp"
#include "hw/cache/home.hpp"
#include "hw/map/slice_map.hpp"

namespace heddle::hw {

class L2Store final : public Cache {
 public:
  L2Store(const sc_core::sc_module_name& name, const CacheParameters& parameters, link::Clock clock,
          const SliceMap& map, unsigned sharers, link::Waker& waker,
          const std::string& protocol = GpuParameters{}.coherence);

  // Must be set in a directory: called when a line is given up, for each core that may have a copy, in order.
  std::function<void(std::uint64_t address, unsigned core)> line_given_up;
  // The slice is home to its lines: asked before one is replaced.
  void ask_home(Home& home) {
    home_ = &home;
    may_refuse_ = true;
  }
  // The bytes that came to the home of a line that is here.
  void change_bytes(std::uint64_t line, const std::byte* data, const std::uint8_t* enable) {
    take_bytes(line, data, enable);
  }

  // The cores' caches are empty.
  void forget_sharers() { std::fill(holders_.begin(), holders_.end(), 0); }

 private:
  [[nodiscard]] bool may_leave(std::uint64_t line) override { return home_->may_leave(line); }
  void describe(const LineRequest& request, link::MemoryExtension& extension) const override;
  [[nodiscard]] std::uint64_t beyond(std::uint64_t line) const override { return map_.global(line); }
  // The core of a request gets a copy of a line, which has no place here when it was given up while it was on its way.
  void note_sharer(Frame frame, const LineRequest& request) override;
  void recall_sharers(Frame frame) override;

  Home* home_ = nullptr;
  const SliceMap& map_;
  const unsigned sharers_;
  const unsigned words_;                // of a frame in holders_
  std::vector<std::uint64_t> holders_;  // per frame: cores that have had the line, a bit each; empty: no directory
};

}  // namespace heddle::hw
