// Operations between lanes (vote, shfl, match, activemask, cond_acc, tree_traverse) on a warp of several rows: the
// lanes are the lanes of the whole warp, as many as there are lane ids, and the instruction takes a pass per row.
//
// The sub-warps of one instruction come to register read one behind the other, with no other one between them. The
// first one has the operation computed for the whole warp, from the registers as they are before any of it is written;
// each gets the part of the results that is its threads'.
#pragma once

#include "hw/registers/register_array.hpp"
#include "isa/semantics.hpp"
#include "tlm/sub_warp.hpp"

namespace heddle::hw {

class WarpExchange {
 public:
  // Its operands have been read. `first_row`: the warp's; its rows have `width` lanes. Results, or the addresses and
  // the count of a conditional accumulate, are where execute would have put them.
  void take_part(link::SubWarp& sub_warp, unsigned first_row, unsigned width, RegisterArray& array);
  void reset() { under_way_ = false; }

 private:
  void compute(const link::SubWarp& first, unsigned first_row, unsigned width, RegisterArray& array);

  bool under_way_ = false;  // the first sub-warp of an instruction has been here, and not the last one
  isa::LaneValues values_;  // of the whole warp, by lane id
  isa::Accumulation accumulation_;
};

}  // namespace heddle::hw
