// Special registers, lane by lane, for s2r.
//
// What a thread reads from clock, clock_hi, clock64, smid and nsmid depends on the machine: the interpreter counts the
// instructions that the thread has gone through and runs everything on core 0 of 1. A kernel that reads them has
// retirement hashes that differ between interpreter and model, and between machines; its own results must not depend on
// them.
#pragma once

#include <array>
#include <cstdint>

#include "isa/module.hpp"
#include "isa/semantics.hpp"

namespace heddle::isa {

// Whom a thread's answer is about: itself, or the place where it is executed now.
// - tid, ctaid and the sizes, laneid and the lane masks, warpid, nwarpid and gridid are the thread's own, whatever warp
//   and lane it is executed in. PTX lets warpid change while a thread runs, for whoever moves threads, but does not ask
//   for it; a program that takes it for a number of its warp stays right.
// - laneid and the lane masks are of the warps that the launch makes; a launch whose kernel reads them has warps
//   of kLanes threads (tb/device/launch_warps.hpp). warpid and nwarpid count such warps (WARP_SZ) in every launch.
// - smid, nsmid and the clocks are the place's: PTX calls smid the location of the thread at the moment of reading.

// The threads of one sub-warp. Lanes without a thread may hold anything.
struct ThreadContext {
  alignas(64) LaneWord tid_x{}, tid_y{}, tid_z{};
  alignas(64) LaneWord lane{};       // thread's index in its warp; lane masks want it below 32
  Dim3 block{};                      // threads per block (ntid)
  Dim3 block_index{};                // ctaid
  Dim3 grid{};                       // blocks per grid (nctaid)
  std::uint64_t grid_id = 0;         // launches before this one
  std::uint32_t dynamic_shared = 0;  // bytes
  std::uint32_t total_shared = 0;    // bytes, static and dynamic
  bool cooperative = false;
  std::uint64_t grid_workspace = 0;  // LaunchRequest::grid_workspace

  // Sets the thread indices of `count` lanes: lane i holds thread first + i of the block, x running fastest.
  void set_threads(std::uint32_t first, unsigned count, std::uint32_t first_lane = 0) {
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t thread = first + i;
      tid_x[i] = thread % block.x;
      tid_y[i] = thread / block.x % block.y;
      tid_z[i] = thread / block.x / block.y;
      lane[i] = first_lane + i;
    }
  }
};

// Where they are executed.
struct ThreadPlace {
  std::uint32_t smid = 0;
  std::uint32_t nsmid = 1;
  alignas(64) std::array<std::uint64_t, kLanes> clock{};
};

// Writes the register's value into result words 0 (low) and 1 (high). False for a number that names no special
// register, which an instruction word can hold.
[[nodiscard]] inline bool read_special(std::uint32_t number, const ThreadContext& context, const ThreadPlace& place,
                                       LaneValues& values) {
  LaneWord& low = values.result[0];
  LaneWord& high = values.result[1];
  high.fill(0);
  const auto mask = [&](auto of_lane) {
    for (unsigned i = 0; i < kLanes; ++i) {
      low[i] = of_lane(context.lane[i] & 31U);
    }
  };
  switch (static_cast<Special>(number)) {
    case Special::tid_x:
      low = context.tid_x;
      return true;
    case Special::tid_y:
      low = context.tid_y;
      return true;
    case Special::tid_z:
      low = context.tid_z;
      return true;
    case Special::ntid_x:
      low.fill(context.block.x);
      return true;
    case Special::ntid_y:
      low.fill(context.block.y);
      return true;
    case Special::ntid_z:
      low.fill(context.block.z);
      return true;
    case Special::ctaid_x:
      low.fill(context.block_index.x);
      return true;
    case Special::ctaid_y:
      low.fill(context.block_index.y);
      return true;
    case Special::ctaid_z:
      low.fill(context.block_index.z);
      return true;
    case Special::nctaid_x:
      low.fill(context.grid.x);
      return true;
    case Special::nctaid_y:
      low.fill(context.grid.y);
      return true;
    case Special::nctaid_z:
      low.fill(context.grid.z);
      return true;
    case Special::laneid:
      low = context.lane;
      return true;
    case Special::warpid:
      for (unsigned i = 0; i < kLanes; ++i) {
        low[i] =
            (context.tid_x[i] + context.block.x * (context.tid_y[i] + context.block.y * context.tid_z[i])) / kLanes;
      }
      return true;
    case Special::nwarpid:
      low.fill((static_cast<std::uint32_t>(context.block.count()) + kLanes - 1) / kLanes);
      return true;
    case Special::smid:
      low.fill(place.smid);
      return true;
    case Special::nsmid:
      low.fill(place.nsmid);
      return true;
    case Special::gridid:
      low.fill(static_cast<std::uint32_t>(context.grid_id));
      high.fill(static_cast<std::uint32_t>(context.grid_id >> 32U));
      return true;
    case Special::clock:
    case Special::clock64:
      for (unsigned i = 0; i < kLanes; ++i) {
        low[i] = static_cast<std::uint32_t>(place.clock[i]);
        high[i] = static_cast<std::uint32_t>(place.clock[i] >> 32U);
      }
      return true;
    case Special::clock_hi:
      for (unsigned i = 0; i < kLanes; ++i) {
        low[i] = static_cast<std::uint32_t>(place.clock[i] >> 32U);
      }
      return true;
    case Special::lanemask_eq:
      mask([](unsigned lane) { return 1U << lane; });
      return true;
    case Special::lanemask_le:
      mask([](unsigned lane) { return 0xffff'ffffU >> (31U - lane); });
      return true;
    case Special::lanemask_lt:
      mask([](unsigned lane) { return (1U << lane) - 1U; });
      return true;
    case Special::lanemask_ge:
      mask([](unsigned lane) { return 0xffff'ffffU << lane; });
      return true;
    case Special::lanemask_gt:
      mask([](unsigned lane) { return ~(0xffff'ffffU >> (31U - lane)); });
      return true;
    case Special::dynamic_smem_size:
      low.fill(context.dynamic_shared);
      return true;
    case Special::total_smem_size:
      low.fill(context.total_shared);
      return true;
    case Special::is_cooperative:
      low.fill(context.cooperative ? 1 : 0);
      return true;
    case Special::envreg1:
      low.fill(static_cast<std::uint32_t>(context.grid_workspace >> 32U));
      return true;
    case Special::envreg2:
      low.fill(static_cast<std::uint32_t>(context.grid_workspace));
      return true;
  }
  return false;
}

}  // namespace heddle::isa
