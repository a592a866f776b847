// What an instruction does with its operands: computes, reads special registers, prints, allocates, and generates the
// addresses of accesses to memory. In which cycles is not looked at here.
#pragma once

#include <functional>

#include "hw/state/core_state.hpp"
#include "isa/print.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

class Performer {
 public:
  explicit Performer(CoreState& state) : state_(state) {}

  // One `print` of a thread whose block has begun in another core: it goes into that one's share, whose core may print
  // in the same cycle. Whoever has such threads says how that is told.
  struct Printed {
    isa::PrintBuffer::Share* share;
    std::uint64_t block;
    std::uint64_t thread;
    std::uint32_t value;
    std::uint32_t count;
    void put() const { share->put(block, thread, value, count); }
  };
  std::function<void(const Printed&)> printed_by_guest;

  // Of a sub-warp whose operands have been read, in the present cycle. Results are in its values, addresses of an
  // access beside those. What fails is a fault of the core.
  void perform(link::SubWarp& sub_warp);

 private:
  void replay(link::SubWarp& sub_warp);
  void read_special(link::SubWarp& sub_warp);
  void print_lanes(const link::SubWarp& sub_warp);
  void heap_lanes(link::SubWarp& sub_warp);

  CoreState& state_;
};

}  // namespace heddle::hw
