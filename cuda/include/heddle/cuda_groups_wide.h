// Tiles of several warps, for cooperative_groups.h: 64 to 1024 threads, which meet at barriers of their own and
// exchange values by shared memory, the block's block_tile_memory.
#pragma once

#include "heddle/cuda_groups.h"
#include "heddle/cuda_groups_base.h"

namespace cooperative_groups {

template <unsigned int Size, class Parent>
class thread_block_tile<Size, Parent, true> : public detail::TileRanks<Size> {
  static_assert(Size <= 1024 && (Size & (Size - 1)) == 0, "the threads of a tile are a power of two, at most 1024");

 public:
  HEDDLE_GROUP_ void sync() const {
    if (Size == 64) {
      meet();
    } else {
      // Barriers 1 and 2 are those of 512 threads, 3 to 6 those of 256, 7 to 14 those of 128; the block has 0.
      const unsigned int barrier = 1024 / Size - 1 + detail::rank_in_block() / Size;
      asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "n"(Size) : "memory");
    }
  }

  using detail::TileRanks<Size>::thread_rank;

  template <class T>
  HEDDLE_GROUP_ T shfl(T value, int rank) const {
    const unsigned int from = static_cast<unsigned int>(rank) % Size;
    return exchanged(value, thread_rank() == from, [&] { return from_warp<T>(from / 32); });
  }
  HEDDLE_GROUP_ int any(int predicate) const {
    return heddle_combined(__any_sync(0xffffffffU, predicate), 0, Size / 32, [](int a, int b) { return a | b; });
  }
  HEDDLE_GROUP_ int all(int predicate) const {
    return heddle_combined(__all_sync(0xffffffffU, predicate), 0, Size / 32, [](int a, int b) { return a & b; });
  }

  // One whose parent's type does not matter.
  template <class Other>
  HEDDLE_GROUP_ thread_block_tile(const thread_block_tile<Size, Other, true>& other)
      : detail::TileRanks<Size>(other), memory_(other.heddle_memory()) {}

  // Of this header.
  HEDDLE_GROUP_ thread_block_tile(unsigned int meta_rank, unsigned int meta_size, detail::TileMemory* memory)
      : detail::TileRanks<Size>(meta_rank, meta_size), memory_(memory) {}
  HEDDLE_GROUP_ detail::TileMemory* heddle_memory() const { return memory_; }
  HEDDLE_GROUP_ static thread_block_tile<32> heddle_warp() { return {0, 1, nullptr}; }
  HEDDLE_GROUP_ static unsigned int heddle_warp_rank() { return static_cast<unsigned int>(thread_rank()) / 32; }
  // What lane `lane` has in each of the first `count` warps, combined in order; of no warp, the thread's own value.
  template <class T, class Op>
  HEDDLE_GROUP_ T heddle_combined(const T& value, unsigned int lane, unsigned int count, Op op) const {
    return exchanged(value, __heddle_laneid() == lane, [&] {
      T result = count == 0 ? value : from_warp<T>(0);
      for (unsigned int warp = 1; warp < count; ++warp) {
        result = op(result, from_warp<T>(warp));
      }
      return result;
    });
  }

 private:
  HEDDLE_GROUP_ static unsigned int first_warp() { return detail::rank_in_block() / Size * (Size / 32); }

  template <class T>
  HEDDLE_GROUP_ T from_warp(unsigned int warp) const {
    T value;
    __builtin_memcpy(&value, &memory_->of_warp(first_warp() + warp), sizeof value);
    return value;
  }
  // What `read` makes of the values that `mine` threads have, one of a warp at most.
  template <class T, class Read>
  HEDDLE_GROUP_ T exchanged(const T& value, bool mine, Read read) const {
    static_assert(__is_trivially_copyable(T) && sizeof(T) <= 32,
                  "threads exchange values that can be copied byte by byte, of at most 32 bytes");
    if (mine) {
      __builtin_memcpy(&memory_->of_warp(detail::rank_in_block() / 32), &value, sizeof value);
    }
    sync();
    const T result = read();
    sync();  // nobody writes before all have read
    return result;
  }
  // Two warps, of which there are more than the block has barriers: the second to come lets both go on.
  HEDDLE_GROUP_ void meet() const {
    __syncwarp();
    if (__heddle_laneid() == 0) {
      unsigned int* const arrivals = &memory_->arrivals[detail::rank_in_block() / Size];
      __threadfence_block();
      const unsigned int both = (atomicAdd(arrivals, 1U) & ~1U) + 2;
      while (static_cast<int>(*static_cast<volatile unsigned int*>(arrivals) - both) < 0) {
      }
      __threadfence_block();
    }
    __syncwarp();
  }

  detail::TileMemory* memory_;
};

}  // namespace cooperative_groups

#include "heddle/cuda_groups_end.h"
