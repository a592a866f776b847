// What the groups of cuda_groups.h are made of: ranks, lanes, words.
//
// Every header of the groups includes this before and heddle/cuda_groups_end.h behind what it declares.
#ifndef HEDDLE_GROUP_
// nodebug: an instruction of such a function counts as one of the line that calls it.
#define HEDDLE_GROUP_ __device__ __forceinline__ __attribute__((nodebug))
#endif

#ifndef HEDDLE_GROUPS_BASE_
#define HEDDLE_GROUPS_BASE_

namespace cooperative_groups {
namespace detail {

HEDDLE_GROUP_ unsigned int block_threads() {
  return blockDim.x * blockDim.y * blockDim.z;
}
HEDDLE_GROUP_ unsigned int rank_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

HEDDLE_GROUP_ unsigned int lane_mask() {
  unsigned int mask;
  asm("mov.u32 %0, %%lanemask_eq;" : "=r"(mask));
  return mask;
}
// Lanes among `mask` before this lane.
HEDDLE_GROUP_ unsigned int rank_in(unsigned int mask) {
  unsigned int before;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
  return static_cast<unsigned int>(__popc(mask & before));
}
HEDDLE_GROUP_ unsigned int low_lanes(unsigned int count) {
  return count >= 32 ? 0xffffffffU : (1U << count) - 1U;
}
// The lane with this rank among `mask`, which there is.
HEDDLE_GROUP_ int lane_of(unsigned int mask, unsigned int rank) {
  int lane;
  asm("fns.b32 %0, %1, 0, %2;" : "=r"(lane) : "r"(mask), "r"(rank + 1));
  return lane;
}
// Bit i of the result: the bit of `lanes` for the thread of rank i among `mask`.
HEDDLE_GROUP_ unsigned int by_rank(unsigned int mask, unsigned int lanes) {
  unsigned int result = 0;
  unsigned int rank = 0;
  for (unsigned int left = mask; left != 0; left &= left - 1) {
    result |= ((lanes & left & (0U - left)) != 0 ? 1U : 0U) << rank++;
  }
  return result;
}
// The lanes of `mask` whose rank lies in the same tile of `size` ranks as this lane's.
HEDDLE_GROUP_ unsigned int tile_of(unsigned int mask, unsigned int size) {
  const unsigned int tile = rank_in(mask) / size;
  unsigned int result = 0;
  unsigned int rank = 0;
  for (unsigned int left = mask; left != 0; left &= left - 1) {
    result |= rank++ / size == tile ? left & (0U - left) : 0;
  }
  return result;
}

// Tells the machine that groups of so many neighbouring lanes must lie in one warp.
template <unsigned int Size>
HEDDLE_GROUP_ void lane_groups() {
  if (Size == 2) asm volatile(".pragma \"lane_groups 2\";");
  if (Size == 4) asm volatile(".pragma \"lane_groups 4\";");
  if (Size == 8) asm volatile(".pragma \"lane_groups 8\";");
  if (Size == 16) asm volatile(".pragma \"lane_groups 16\";");
  if (Size == 32) asm volatile(".pragma \"lane_groups 32\";");
}
// Lane groups of a size that the compiler may know, or else of any up to 32.
HEDDLE_GROUP_ void lane_groups_up_to(unsigned int size) {
  if (!__builtin_constant_p(size)) {
    asm volatile(".pragma \"lane_groups 32\";");
  } else {
    if (size == 2) asm volatile(".pragma \"lane_groups 2\";");
    if (size == 4) asm volatile(".pragma \"lane_groups 4\";");
    if (size == 8) asm volatile(".pragma \"lane_groups 8\";");
    if (size == 16) asm volatile(".pragma \"lane_groups 16\";");
    if (size == 32) asm volatile(".pragma \"lane_groups 32\";");
  }
}

// A value as what matches compare: its bits, 4 or 8 bytes.
template <unsigned int Bytes>
struct Word;
template <>
struct Word<4> {
  using type = unsigned int;
};
template <>
struct Word<8> {
  using type = unsigned long long;
};
template <class T>
HEDDLE_GROUP_ typename Word<sizeof(T) <= 4 ? 4 : 8>::type word(T value) {
  static_assert(sizeof(T) <= 8, "matches compare values of at most 8 bytes");
  typename Word<sizeof(T) <= 4 ? 4 : 8>::type bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

// Any value of up to 32 bytes, word by word.
template <class T, class F>
HEDDLE_GROUP_ T shuffled(const T& value, F exchange) {
  static_assert(__is_trivially_copyable(T) && sizeof(T) <= 32,
                "threads exchange values that can be copied byte by byte, of at most 32 bytes");
  constexpr unsigned int kWords = (sizeof(T) + 3) / 4;
  unsigned int words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof value);
#pragma unroll
  for (unsigned int i = 0; i < kWords; ++i) {
    words[i] = exchange(words[i]);
  }
  T result;
  __builtin_memcpy(&result, words, sizeof result);
  return result;
}
template <class T>
HEDDLE_GROUP_ T from_lane(unsigned int mask, const T& value, int lane) {
  return shuffled(value, [=](unsigned int x) { return __shfl_sync(mask, x, lane); });
}

// Of a block, in shared memory: where tiles of two warps meet, and behind it a value of each warp.
struct TileMemory {
  struct alignas(16) Value {
    unsigned int words[8];
  };
  // By all threads of the block.
  HEDDLE_GROUP_ void begin() {
    if (rank_in_block() < 16) {
      arrivals[rank_in_block()] = 0;
    }
    __syncthreads();
  }
  HEDDLE_GROUP_ Value& of_warp(unsigned int warp) { return reinterpret_cast<Value*>(this + 1)[warp]; }

  alignas(16) unsigned int arrivals[16];  // of the warps of tile i, since the block began
};

}  // namespace detail
}  // namespace cooperative_groups

#endif
