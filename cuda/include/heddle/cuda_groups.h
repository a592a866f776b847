// cooperative_groups.h: groups of threads of a block, tiles of a warp, the threads that are active together.
//
// Groups within a warp exchange by votes and shuffles: kernels that use them have warps of 32 threads. A tile of n
// threads lies in one warp (.pragma "lane_groups n"). sync() of a group within a warp waits for its threads where these
// are scheduled independently; else they go in lockstep up to where they part, and it only orders memory accesses for
// the compiler.
#pragma once

#include "heddle/cuda_groups_base.h"

namespace cooperative_groups {

template <unsigned int Size, class Parent = void, bool Wide = (Size > 32)>
class thread_block_tile;

// What tiles of several warps meet and exchange values by, in shared memory, for blocks of so many threads.
template <unsigned int Threads = 1024>
struct block_tile_memory {
  detail::TileMemory heddle_memory;
  detail::TileMemory::Value heddle_values[(Threads + 31) / 32];
};

// ------------------------------------------------------------------------------------------------ generic groups

// Any group below: what a function takes that works with all groups.
class thread_group {
 public:
  HEDDLE_GROUP_ void sync() const {
    if (block_) {
      __syncthreads();
    } else {
      __syncwarp(mask_);
    }
  }
  HEDDLE_GROUP_ unsigned long long size() const { return num_threads(); }
  HEDDLE_GROUP_ unsigned long long num_threads() const {
    return block_ ? detail::block_threads() : static_cast<unsigned int>(__popc(mask_));
  }
  HEDDLE_GROUP_ unsigned long long thread_rank() const {
    return block_ ? detail::rank_in_block() : detail::rank_in(mask_);
  }

 protected:
  friend class thread_block;
  template <unsigned int, class, bool>
  friend class thread_block_tile;
  friend HEDDLE_GROUP_ thread_group this_thread();
  friend HEDDLE_GROUP_ thread_group tiled_partition(const thread_group& parent, unsigned int size);
  HEDDLE_GROUP_ thread_group(bool block, unsigned int mask) : block_(block), mask_(mask) {}

  bool block_;         // the whole block; else
  unsigned int mask_;  // lanes of the warp
};

class thread_block : public thread_group {
 public:
  HEDDLE_GROUP_ static void sync() { __syncthreads(); }
  HEDDLE_GROUP_ static unsigned int size() { return detail::block_threads(); }
  HEDDLE_GROUP_ static unsigned int num_threads() { return detail::block_threads(); }
  HEDDLE_GROUP_ static unsigned int thread_rank() { return detail::rank_in_block(); }
  HEDDLE_GROUP_ static dim3 group_index() { return blockIdx; }
  HEDDLE_GROUP_ static dim3 thread_index() { return threadIdx; }
  HEDDLE_GROUP_ static dim3 group_dim() { return blockDim; }
  HEDDLE_GROUP_ static dim3 dim_threads() { return blockDim; }

  // Of this header.
  HEDDLE_GROUP_ explicit thread_block(detail::TileMemory* memory)
      : thread_group(true, 0), given_(true), memory_(memory) {}
  HEDDLE_GROUP_ detail::TileMemory* heddle_memory() const { return given_ ? memory_ : own_memory(); }

 private:
  friend HEDDLE_GROUP_ thread_block this_thread_block();
  HEDDLE_GROUP_ thread_block() : thread_group(true, 0), given_(false), memory_(nullptr) {}
  // As GPUs since compute capability 8.0 have some. The machine clears it before the block begins.
  HEDDLE_GROUP_ static detail::TileMemory* own_memory() {
    __shared__ block_tile_memory<1024> memory;
    return &memory.heddle_memory;
  }

  bool given_;  // not told from the address, so that a block which is given memory has none of its own
  detail::TileMemory* memory_;
};
HEDDLE_GROUP_ thread_block this_thread_block() {
  return {};
}
template <unsigned int Threads>
HEDDLE_GROUP_ thread_block this_thread_block(block_tile_memory<Threads>& memory) {
  memory.heddle_memory.begin();
  return thread_block(&memory.heddle_memory);
}

// A group of this thread alone.
HEDDLE_GROUP_ thread_group this_thread() {
  return {false, detail::lane_mask()};
}

// --------------------------------------------------------------------------------------------- groups of any lanes

// Threads of one warp, which were active together, or a part of such. Ranks follow their lanes.
class coalesced_group : public thread_group {
 public:
  HEDDLE_GROUP_ void sync() const { __syncwarp(mask_); }
  HEDDLE_GROUP_ unsigned long long size() const { return static_cast<unsigned int>(__popc(mask_)); }
  HEDDLE_GROUP_ unsigned long long num_threads() const { return size(); }
  HEDDLE_GROUP_ unsigned long long thread_rank() const { return detail::rank_in(mask_); }
  // Of the groups that were made together from one parent; 0 of 1 for coalesced_threads().
  HEDDLE_GROUP_ unsigned long long meta_group_rank() const { return meta_rank_; }
  HEDDLE_GROUP_ unsigned long long meta_group_size() const { return meta_size_; }

  template <class T>
  HEDDLE_GROUP_ T shfl(T value, int rank) const {
    const unsigned int last = static_cast<unsigned int>(__popc(mask_));
    return detail::from_lane(mask_, value, detail::lane_of(mask_, static_cast<unsigned int>(rank) % last));
  }
  template <class T>
  HEDDLE_GROUP_ T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = detail::rank_in(mask_);
    return detail::from_lane(mask_, value, detail::lane_of(mask_, rank >= delta ? rank - delta : rank));
  }
  template <class T>
  HEDDLE_GROUP_ T shfl_down(T value, unsigned int delta) const {
    const unsigned int rank = detail::rank_in(mask_);
    const bool inside = delta < static_cast<unsigned int>(__popc(mask_)) - rank;
    return detail::from_lane(mask_, value, detail::lane_of(mask_, inside ? rank + delta : rank));
  }
  HEDDLE_GROUP_ int any(int predicate) const { return __any_sync(mask_, predicate); }
  HEDDLE_GROUP_ int all(int predicate) const { return __all_sync(mask_, predicate); }
  HEDDLE_GROUP_ unsigned int ballot(int predicate) const {
    return detail::by_rank(mask_, __ballot_sync(mask_, predicate));
  }
  template <class T>
  HEDDLE_GROUP_ unsigned int match_any(T value) const {
    return detail::by_rank(mask_, __match_any_sync(mask_, detail::word(value)));
  }
  template <class T>
  HEDDLE_GROUP_ unsigned int match_all(T value, int& predicate) const {
    return detail::by_rank(mask_, __match_all_sync(mask_, detail::word(value), &predicate));
  }

  // Of this header.
  HEDDLE_GROUP_ unsigned int heddle_mask() const { return mask_; }
  HEDDLE_GROUP_ coalesced_group(unsigned int mask, unsigned int meta_rank, unsigned int meta_size)
      : thread_group(false, mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

 private:
  unsigned int meta_rank_;
  unsigned int meta_size_;
};

HEDDLE_GROUP_ coalesced_group coalesced_threads() {
  return {__activemask(), 0, 1};
}

// --------------------------------------------------------------------------------------------------------- tiles

namespace detail {

// Which threads of its parent a tile has.
template <unsigned int Size>
class TileRanks {
 public:
  HEDDLE_GROUP_ static constexpr unsigned long long size() { return Size; }
  HEDDLE_GROUP_ static constexpr unsigned long long num_threads() { return Size; }
  HEDDLE_GROUP_ static unsigned long long thread_rank() { return rank_in_block() & (Size - 1); }
  HEDDLE_GROUP_ unsigned long long meta_group_rank() const { return meta_rank_; }
  HEDDLE_GROUP_ unsigned long long meta_group_size() const { return meta_size_; }

 protected:
  HEDDLE_GROUP_ TileRanks(unsigned int meta_rank, unsigned int meta_size)
      : meta_rank_(meta_rank), meta_size_(meta_size) {}

 private:
  unsigned int meta_rank_;
  unsigned int meta_size_;
};

}  // namespace detail

// `Size` neighbouring threads of a block, 1 to 32, a power of two. Larger ones: cuda_groups_wide.h.
template <unsigned int Size, class Parent>
class thread_block_tile<Size, Parent, false> : public detail::TileRanks<Size> {
  static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "the threads of a tile are a power of two");

 public:
  HEDDLE_GROUP_ void sync() const { __syncwarp(heddle_mask()); }

  template <class T>
  HEDDLE_GROUP_ T shfl(T value, int rank) const {
    return detail::shuffled(value, [&](unsigned int x) { return __shfl_sync(heddle_mask(), x, rank, Size); });
  }
  template <class T>
  HEDDLE_GROUP_ T shfl_up(T value, unsigned int delta) const {
    return detail::shuffled(value, [&](unsigned int x) { return __shfl_up_sync(heddle_mask(), x, delta, Size); });
  }
  template <class T>
  HEDDLE_GROUP_ T shfl_down(T value, unsigned int delta) const {
    return detail::shuffled(value, [&](unsigned int x) { return __shfl_down_sync(heddle_mask(), x, delta, Size); });
  }
  template <class T>
  HEDDLE_GROUP_ T shfl_xor(T value, unsigned int mask) const {
    return detail::shuffled(
        value, [&](unsigned int x) { return __shfl_xor_sync(heddle_mask(), x, static_cast<int>(mask), Size); });
  }
  HEDDLE_GROUP_ int any(int predicate) const { return __any_sync(heddle_mask(), predicate); }
  HEDDLE_GROUP_ int all(int predicate) const { return __all_sync(heddle_mask(), predicate); }
  HEDDLE_GROUP_ unsigned int ballot(int predicate) const { return own(__ballot_sync(heddle_mask(), predicate)); }
  template <class T>
  HEDDLE_GROUP_ unsigned int match_any(T value) const {
    return own(__match_any_sync(heddle_mask(), detail::word(value)));
  }
  template <class T>
  HEDDLE_GROUP_ unsigned int match_all(T value, int& predicate) const {
    return own(__match_all_sync(heddle_mask(), detail::word(value), &predicate));
  }

  HEDDLE_GROUP_ operator thread_group() const { return {false, heddle_mask()}; }
  // One whose parent's type does not matter.
  template <class Other>
  HEDDLE_GROUP_ thread_block_tile(const thread_block_tile<Size, Other>& other) : detail::TileRanks<Size>(other) {}

  // Of this header.
  HEDDLE_GROUP_ static unsigned int heddle_mask() {
    return Size == 32 ? 0xffffffffU : (0xffffffffU >> (32 - Size)) << (__heddle_laneid() & ~(Size - 1U));
  }
  HEDDLE_GROUP_ thread_block_tile(unsigned int meta_rank, unsigned int meta_size, detail::TileMemory*)
      : detail::TileRanks<Size>(meta_rank, meta_size) {}
  HEDDLE_GROUP_ static detail::TileMemory* heddle_memory() { return nullptr; }

 private:
  HEDDLE_GROUP_ static unsigned int own(unsigned int lanes) {
    return Size == 32 ? lanes : (lanes & heddle_mask()) >> (__heddle_laneid() & ~(Size - 1U));
  }
};

template <unsigned int Size>
HEDDLE_GROUP_ thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  detail::lane_groups<(Size < 32 ? Size : 32)>();
  return {detail::rank_in_block() / Size, (detail::block_threads() + Size - 1) / Size, block.heddle_memory()};
}
template <unsigned int Size, unsigned int ParentSize, class GrandParent>
HEDDLE_GROUP_ thread_block_tile<Size, thread_block_tile<ParentSize, GrandParent>> tiled_partition(
    const thread_block_tile<ParentSize, GrandParent>& parent) {
  static_assert(Size <= ParentSize, "a tile is no larger than what it is a part of");
  return {static_cast<unsigned int>(parent.thread_rank()) / Size, ParentSize / Size, parent.heddle_memory()};
}

namespace experimental { /* as releases before 12 have it */
template <unsigned int Bytes = 8, unsigned int Threads = 1024>
struct block_tile_memory : cooperative_groups::block_tile_memory<Threads> {};
template <unsigned int Bytes, unsigned int Threads>
HEDDLE_GROUP_ thread_block this_thread_block(block_tile_memory<Bytes, Threads>& memory) {
  return cooperative_groups::this_thread_block<Threads>(memory);
}
template <unsigned int Size, class Group>
HEDDLE_GROUP_ auto tiled_partition(const Group& parent) {
  return cooperative_groups::tiled_partition<Size>(parent);
}
}  // namespace experimental

// Tiles of a size that is known when the kernel runs: a power of two, at most 32. Parents are a block or lanes.
HEDDLE_GROUP_ thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) {
    __trap();
  }
  if (parent.block_) {
    detail::lane_groups_up_to(size);
    const unsigned int first = __heddle_laneid() & ~(size - 1);
    // The last tile of a block may have fewer threads.
    const unsigned int left = detail::block_threads() - (detail::rank_in_block() & ~(size - 1));
    return {false, detail::low_lanes(left < size ? left : size) << first};
  }
  return {false, detail::tile_of(parent.mask_, size)};
}
HEDDLE_GROUP_ coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) {
    __trap();
  }
  const auto threads = static_cast<unsigned int>(parent.size());
  return {detail::tile_of(parent.heddle_mask(), size), static_cast<unsigned int>(parent.thread_rank()) / size,
          (threads + size - 1) / size};
}

// ------------------------------------------------------------------------------------------------------ the grid

// All threads of a launch. They can wait for each other if the launch was cooperative.
class grid_group {
 public:
  HEDDLE_GROUP_ bool is_valid() const {
    unsigned int cooperative;
    asm("mov.u32 %0, %%is_cooperative;" : "=r"(cooperative));
    return cooperative != 0;
  }
  // What any thread of the grid has stored before, all see behind it.
  HEDDLE_GROUP_ void sync() const { asm volatile("barrier.grid.sync;" ::: "memory"); }
  HEDDLE_GROUP_ static unsigned long long size() { return num_threads(); }
  HEDDLE_GROUP_ static unsigned long long num_threads() { return num_blocks() * detail::block_threads(); }
  HEDDLE_GROUP_ static unsigned long long thread_rank() {
    return block_rank() * detail::block_threads() + detail::rank_in_block();
  }
  HEDDLE_GROUP_ static dim3 group_dim() { return gridDim; }
  HEDDLE_GROUP_ static dim3 dim_blocks() { return gridDim; }
  HEDDLE_GROUP_ static dim3 block_index() { return blockIdx; }
  HEDDLE_GROUP_ static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  HEDDLE_GROUP_ static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
};
HEDDLE_GROUP_ grid_group this_grid() {
  return {};
}

// ----------------------------------------------------------------------------------------- partitions by a value

// Threads with the same value, as far as they belong to the tile or group.
template <class Group, class T>
HEDDLE_GROUP_ coalesced_group labeled_partition(const Group& parent, T label) {
  const unsigned int all = parent.heddle_mask();
  const unsigned int mine = __match_any_sync(all, detail::word(label));
  // The groups are numbered by their first threads: each first thread says so to the lanes of the parent.
  const bool first = detail::rank_in(mine) == 0;
  const unsigned int firsts = __ballot_sync(all, first) & all;
  const unsigned int mine_first = mine & (0U - mine);
  return {mine, static_cast<unsigned int>(__popc(firsts & (mine_first - 1U))),
          static_cast<unsigned int>(__popc(firsts))};
}
// Threads with a false predicate are group 0 of two, threads with a true one group 1.
template <class Group>
HEDDLE_GROUP_ coalesced_group binary_partition(const Group& parent, bool predicate) {
  const unsigned int all = parent.heddle_mask() & __activemask();
  const unsigned int set = __ballot_sync(all, predicate) & all;
  return {predicate ? set : all & ~set, predicate ? 1U : 0U, 2};
}

// One thread of the group, always the first, calls.
template <class Group, class F, class... Arguments>
HEDDLE_GROUP_ void invoke_one(const Group& group, F&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) {
    function(static_cast<Arguments&&>(arguments)...);
  }
}
template <class Group, class F, class... Arguments>
HEDDLE_GROUP_ auto invoke_one_broadcast(const Group& group, F&& function, Arguments&&... arguments)
    -> decltype(function(static_cast<Arguments&&>(arguments)...)) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) {
    result = function(static_cast<Arguments&&>(arguments)...);
  }
  return group.shfl(result, 0);
}

// ------------------------------------------------------------------------------------------- what all groups have

template <class Group>
HEDDLE_GROUP_ void sync(const Group& group) {
  group.sync();
}
template <class Group>
HEDDLE_GROUP_ auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
HEDDLE_GROUP_ auto group_size(const Group& group) -> decltype(group.size()) {
  return group.size();
}

}  // namespace cooperative_groups

#include "heddle/cuda_groups_wide.h"

#include "heddle/cuda_groups_end.h"
