// Groups of threads of a block: the block, tiles of every size, groups that were active together, what they reduce and
// scan to. The host computes the results from the ranks alone.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr unsigned kThreads = 96;  // 24 * 2 * 2
constexpr unsigned kValues = 20;

struct Pair {
  double x;
  int y;
  char z;
};

__host__ __device__ int input(unsigned thread) {
  return static_cast<int>(thread * 2654435761U >> 24) % 40 - 15;
}

template <unsigned Size, class Parent>
__device__ void tile_values(const cg::thread_block_tile<Size, Parent>& tile, unsigned thread, int* out) {
  const int x = input(thread);
  out[0] = static_cast<int>(tile.thread_rank());
  out[1] = static_cast<int>(tile.meta_group_rank() * 1000 + tile.meta_group_size());
  out[2] = tile.shfl(x, 3);
  out[3] = tile.shfl_up(x, 1);
  out[4] = tile.shfl_down(x, 2);
  out[5] = tile.shfl_xor(x, Size - 1);
  out[6] = tile.any(x > 15) + 2 * tile.all(x > -10);
  out[7] = static_cast<int>(tile.ballot(x > 0));
  out[8] = static_cast<int>(tile.match_any(x % 3));
  int all = 7;
  out[9] = static_cast<int>(tile.match_all(x / 100, all));
  out[10] = all;
  out[11] = cg::reduce(tile, x, cg::plus<int>());
  out[12] = cg::reduce(tile, x, cg::less<int>()) * 100 + cg::reduce(tile, x, cg::greater<int>());
  const auto bits = static_cast<unsigned>(x);
  out[13] = static_cast<int>(cg::reduce(tile, bits, cg::bit_and<unsigned>()) ^
                             cg::reduce(tile, bits, cg::bit_or<unsigned>()) ^
                             cg::reduce(tile, bits, cg::bit_xor<unsigned>()));
  out[14] = cg::inclusive_scan(tile, x);
  out[15] = cg::exclusive_scan(tile, x, cg::plus<int>());
  const Pair pair = tile.shfl(Pair{x * 0.5, x + 1, static_cast<char>(x + 2)}, 1);
  out[16] = static_cast<int>(pair.x * 2) + pair.y + pair.z;
  out[17] = static_cast<int>(cg::reduce(tile, static_cast<double>(x), cg::plus<double>()));
  const cg::coalesced_group part = cg::labeled_partition(tile, x % 3);
  out[18] = static_cast<int>(part.size() * 10000 + part.thread_rank() * 100 + part.meta_group_size());
  const cg::coalesced_group half = cg::binary_partition(tile, x > 0);
  out[19] = cg::reduce(half, x, cg::plus<int>()) * 2 + static_cast<int>(half.meta_group_rank());
  tile.sync();
}

template <unsigned Size>
__global__ void tiles(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const unsigned thread = block.thread_rank();
  tile_values(cg::tiled_partition<Size>(block), thread, out + thread * kValues);
}

// Of tiles of twice the size.
template <unsigned Size>
__global__ void nested(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto parent = cg::tiled_partition<2 * Size>(block);
  const cg::thread_block_tile<Size> tile = cg::tiled_partition<Size>(parent);
  tile_values(tile, block.thread_rank(), out + block.thread_rank() * kValues);
}

// As many samples have it: any group, and shared memory.
__device__ int sum(cg::thread_group group, int* scratch, int value) {
  const auto rank = static_cast<unsigned>(group.thread_rank());
  for (unsigned i = static_cast<unsigned>(group.size()) / 2; i > 0; i /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < i) value += scratch[rank + i];
    group.sync();
  }
  return value;
}

__global__ void generic(int* out, unsigned size) {
  __shared__ int scratch[kThreads];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_group tile = cg::tiled_partition(block, size);
  const unsigned thread = block.thread_rank();
  const unsigned first = thread - static_cast<unsigned>(tile.thread_rank());
  out[thread] = sum(tile, scratch + first, input(thread));
  block.sync();
  const cg::thread_block_tile<4> four = cg::tiled_partition<4>(block);
  out[thread] += 7 * sum(four, scratch + thread / 4 * 4, input(thread));
  cg::sync(block);
  if (cg::thread_rank(block) < 64) out[thread] += static_cast<int>(1000 * cg::group_size(tile));
  out[thread] += static_cast<int>(cg::this_thread().size() + cg::this_thread().thread_rank());
  const dim3 index = block.thread_index();
  const dim3 shape = block.group_dim();
  if ((index.z * shape.y + index.y) * shape.x + index.x != thread || block.group_index().x != blockIdx.x)
    out[thread] = -1;
}

// The threads of a warp whose input is positive, as one group of 32 at most.
__global__ void active(int* out) {
  const unsigned thread = cg::this_thread_block().thread_rank();
  const int x = input(thread);
  int* const to = out + thread * kValues;
  if (x > 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    to[0] = static_cast<int>(group.thread_rank());
    to[1] = static_cast<int>(group.size());
    to[2] = group.shfl(x, static_cast<int>(group.size()) - 1);
    to[3] = group.shfl_up(x, 2);
    to[4] = group.shfl_down(x, 1);
    to[5] = group.any(x > 20) + 2 * group.all(x > 1);
    to[6] = static_cast<int>(group.ballot(x % 2));
    to[7] = static_cast<int>(group.match_any(x % 4));
    int all = 7;
    group.match_all(x % 4, all);
    to[8] = all;
    to[9] = cg::reduce(group, x, cg::plus<int>());
    to[10] = cg::reduce(group, x, cg::greater<int>());
    to[11] = cg::exclusive_scan(group, x);
    const cg::coalesced_group pair = cg::tiled_partition(group, 2);
    to[12] = cg::reduce(pair, x, cg::plus<int>()) + 1000 * static_cast<int>(pair.meta_group_rank());
    to[13] = cg::invoke_one_broadcast(group, [&] { return x * 3; });
    int calls = 0;
    cg::invoke_one(group, [&] { calls = 1; });
    to[14] = calls;
    group.sync();
  }
}

// ------------------------------------------------------------------------------------------------------- the host

int wrong = 0;
void expect(const char* what, unsigned size, unsigned thread, unsigned value, int is, int should) {
  if (is != should && wrong++ < 10) {
    std::printf("%s %u, thread %u, value %u: %d, not %d\n", what, size, thread, value, is, should);
  }
}

// The ranks of `members` are their places in it. Calls to `holds` see members.
template <class F>
int ballot(const std::vector<unsigned>& members, F holds) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < members.size(); ++i) bits |= holds(input(members[i])) ? 1U << i : 0;
  return static_cast<int>(bits);
}
int total(const std::vector<unsigned>& members, std::size_t count) {
  int result = 0;
  for (std::size_t i = 0; i < count; ++i) result += input(members[i]);
  return result;
}
template <class F>
std::vector<unsigned> those(const std::vector<unsigned>& members, F holds) {
  std::vector<unsigned> result;
  for (const unsigned member : members) {
    if (holds(input(member))) result.push_back(member);
  }
  return result;
}

void judge_tiles(const char* what, unsigned size, unsigned parent, const std::vector<int>& out) {
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    const unsigned rank = thread % size;
    std::vector<unsigned> members;
    for (unsigned i = 0; i < size; ++i) members.push_back(thread - rank + i);
    const int x = input(thread);
    const auto at = [&](unsigned i) { return input(members[i]); };
    int low = x;
    int high = x;
    unsigned all_bits = ~0U;
    unsigned any_bits = 0;
    unsigned odd_bits = 0;
    bool same = true;
    for (unsigned i = 0; i < size; ++i) {
      low = at(i) < low ? at(i) : low;
      high = at(i) > high ? at(i) : high;
      all_bits &= static_cast<unsigned>(at(i));
      any_bits |= static_cast<unsigned>(at(i));
      odd_bits ^= static_cast<unsigned>(at(i));
      same = same && at(i) / 100 == x / 100;
    }
    const int alike = ballot(members, [&](int y) { return y % 3 == x % 3; });
    const int before = ballot(members, [&](int y) { return y % 3 == x % 3; }) & ((1 << rank) - 1);
    // Remainders of negative numbers are labels of their own.
    int labels = 0;
    for (int label = -2; label <= 2; ++label) labels += ballot(members, [&](int y) { return y % 3 == label; }) != 0;
    const int pair = input(members[1 % size]);
    const std::vector<unsigned> half = those(members, [&](int y) { return (y > 0) == (x > 0); });
    const int should[kValues] = {static_cast<int>(rank),
                                 static_cast<int>(thread % parent / size * 1000 + (parent + size - 1) / size),
                                 at(3 % size),
                                 rank >= 1 ? at(rank - 1) : x,
                                 rank + 2 < size ? at(rank + 2) : x,
                                 at(rank ^ (size - 1)),
                                 (high > 15) + 2 * (low > -10),
                                 ballot(members, [](int y) { return y > 0; }),
                                 alike,
                                 same ? static_cast<int>(0xffffffffU >> (32 - size)) : 0,
                                 same ? 1 : 0,
                                 total(members, size),
                                 low * 100 + high,
                                 static_cast<int>(all_bits ^ any_bits ^ odd_bits),
                                 total(members, rank + 1),
                                 total(members, rank),
                                 pair + pair + 1 + pair + 2,
                                 total(members, size),
                                 __builtin_popcount(static_cast<unsigned>(alike)) * 10000 +
                                     __builtin_popcount(static_cast<unsigned>(before)) * 100 + labels,
                                 total(half, half.size()) * 2 + (x > 0)};
    for (unsigned i = 0; i < kValues; ++i) expect(what, size, thread, i, out[thread * kValues + i], should[i]);
  }
}

void judge_active(const std::vector<int>& out) {
  constexpr unsigned lanes = 32;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    const int x = input(thread);
    if (x <= 0) continue;
    std::vector<unsigned> warp;
    for (unsigned i = thread / lanes * lanes; i < kThreads && i < (thread / lanes + 1) * lanes; ++i) warp.push_back(i);
    const std::vector<unsigned> members = those(warp, [](int y) { return y > 0; });
    unsigned rank = 0;
    while (members[rank] != thread) ++rank;
    const auto size = static_cast<unsigned>(members.size());
    const auto at = [&](unsigned i) { return input(members[i]); };
    int high = x;
    int low = x;
    bool same = true;
    for (unsigned i = 0; i < size; ++i) {
      high = at(i) > high ? at(i) : high;
      low = at(i) < low ? at(i) : low;
      same = same && at(i) % 4 == x % 4;
    }
    const unsigned other = rank ^ 1U;
    const int should[] = {static_cast<int>(rank),
                          static_cast<int>(size),
                          at(size - 1),
                          rank >= 2 ? at(rank - 2) : x,
                          rank + 1 < size ? at(rank + 1) : x,
                          (high > 20) + 2 * (low > 1),
                          ballot(members, [](int y) { return y % 2 != 0; }),
                          ballot(members, [&](int y) { return y % 4 == x % 4; }),
                          same ? 1 : 0,
                          total(members, size),
                          high,
                          total(members, rank),
                          x + (other < size ? at(other) : 0) + 1000 * static_cast<int>(rank / 2),
                          at(0) * 3,
                          rank == 0 ? 1 : 0};
    for (unsigned i = 0; i < sizeof should / sizeof should[0]; ++i) {
      expect("active", lanes, thread, i, out[thread * kValues + i], should[i]);
    }
  }
}

void judge_generic(unsigned size, const std::vector<int>& out) {
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    // In each round the first half of the threads that are left adds the second half.
    const auto summed = [&](unsigned of) {
      std::vector<int> values;
      for (unsigned i = 0; i < of; ++i) values.push_back(input(thread / of * of + i));
      for (unsigned i = of / 2; i > 0; i /= 2) {
        const std::vector<int> old = values;
        for (unsigned j = 0; j < i; ++j) values[j] += old[j + i];
      }
      return values[thread % of];
    };
    expect("generic", size, thread, 0, out[thread],
           summed(size) + 7 * summed(4) + (thread < 64 ? static_cast<int>(1000 * size) : 0) + 1);
  }
}

template <class Kernel, class... Arguments>
std::vector<int> run(Kernel kernel, Arguments... arguments) {
  int* device = nullptr;
  std::vector<int> out(kThreads * kValues);
  cudaMalloc(&device, out.size() * sizeof(int));
  cudaMemset(device, 0, out.size() * sizeof(int));
  kernel<<<1, dim3(24, 2, 2)>>>(device, arguments...);
  const cudaError_t error = cudaMemcpy(out.data(), device, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess && wrong++ < 10) std::printf("%s\n", cudaGetErrorString(error));
  cudaFree(device);
  return out;
}

int main() {
  judge_tiles("tile of", 1, kThreads, run(tiles<1>));
  judge_tiles("tile of", 2, kThreads, run(tiles<2>));
  judge_tiles("tile of", 4, kThreads, run(tiles<4>));
  judge_tiles("tile of", 8, kThreads, run(tiles<8>));
  judge_tiles("tile of", 16, kThreads, run(tiles<16>));
  judge_tiles("tile of", 32, kThreads, run(tiles<32>));
  judge_tiles("part of", 4, 8, run(nested<4>));
  judge_tiles("part of", 16, 32, run(nested<16>));
  for (unsigned size = 1; size <= 32; size *= 2) judge_generic(size, run(generic, size));
  judge_active(run(active));
  std::puts(wrong == 0 ? "PASSED" : "FAILED");
  return wrong == 0 ? 0 : 1;
}
