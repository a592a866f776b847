// Tiles of several warps: ranks, votes, values from any thread, reductions and scans in order, barriers of their own.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

// x -> a x + b modulo 2^32, of which the order matters.
struct Step {
  unsigned a, b, spare[2];
};
__host__ __device__ inline Step behind(Step first, Step second) {
  return {second.a * first.a, second.a * first.b + second.b, {0, 0}};
}
struct Behind {
  __device__ Step operator()(Step first, Step second) const { return behind(first, second); }
};
__host__ __device__ inline Step step_of(unsigned i) {
  return {2 * i + 3, i * i + 1, {0, 0}};
}

struct Seen {
  unsigned rank, group, groups, size, from, any, all, sum, passed;
  Step reduced, inclusive, exclusive;
  double largest;
};

template <unsigned Size>
__device__ void look(const cg::thread_block& block, Seen* out) {
  __shared__ unsigned shared[1024];
  const auto tile = cg::tiled_partition<Size>(block);
  const unsigned i = block.thread_rank();
  Seen seen;
  seen.rank = tile.thread_rank();
  seen.group = tile.meta_group_rank();
  seen.groups = tile.meta_group_size();
  seen.size = tile.size();
  seen.from = tile.shfl(i, 37);
  seen.any = tile.any(i == 70);
  seen.all = tile.all(i != 70);
  seen.sum = cg::reduce(tile, i, cg::plus<unsigned>());
  seen.reduced = cg::reduce(tile, step_of(i), Behind());
  seen.inclusive = cg::inclusive_scan(tile, step_of(i), Behind());
  seen.exclusive = cg::exclusive_scan(tile, step_of(i), Behind());
  seen.largest = cg::reduce(tile, 1.0 / (1 + i), cg::greater<double>());
  // Tiles pass different numbers of barriers, between which each thread hands on what its neighbour had.
  shared[i] = i;
  for (unsigned round = 0; round <= 3 * seen.group; ++round) {
    tile.sync();
    const unsigned next = shared[i / Size * Size + (i + 1) % Size];
    tile.sync();
    shared[i] = next;
  }
  seen.passed = shared[i];
  block.sync();
  out[blockIdx.x * blockDim.x + i] = seen;
}
template <unsigned Size>
__global__ void look(Seen* out) {
  look<Size>(cg::this_thread_block(), out);
}
template <unsigned Size>
__global__ void look_by(Seen* out) {
  __shared__ cg::block_tile_memory<1024> memory;
  look<Size>(cg::this_thread_block(memory), out);
}

static bool same(Step x, Step y) {
  return x.a == y.a && x.b == y.b;
}

template <unsigned Size>
static int wrong(unsigned threads, unsigned blocks, bool given = false) {
  Seen* device;
  cudaMalloc(&device, threads * blocks * sizeof(Seen));
  if (given) {
    look_by<Size><<<blocks, threads>>>(device);
  } else {
    look<Size><<<blocks, threads>>>(device);
  }
  std::vector<Seen> all(threads * blocks);
  if (cudaMemcpy(all.data(), device, all.size() * sizeof(Seen), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  int wrong = 0;
  for (unsigned at = 0; at < all.size(); ++at) {
    const unsigned i = at % threads, first = i / Size * Size;
    Step total = step_of(first), before = {0, 0, {0, 0}}, here = total;
    unsigned sum = first;
    for (unsigned j = first + 1; j < first + Size; ++j) {
      if (j <= i) before = here;
      total = behind(total, step_of(j));
      if (j <= i) here = total;
      sum += j;
    }
    const bool has = first <= 70 && 70 < first + Size;
    const Seen& seen = all[at];
    // Within a warp a reduction combines with threads before and behind: its order is that of commutative operations.
    wrong += seen.rank != i - first || seen.group != i / Size || seen.groups != threads / Size || seen.size != Size ||
             seen.from != first + 37 % Size || (seen.any != 0) != has || (seen.all != 0) == has || seen.sum != sum ||
             !same(seen.inclusive, here) || !same(seen.exclusive, before) || seen.largest != 1.0 / (1 + first) ||
             seen.reduced.a != total.a || seen.passed != first + (i - first + 3 * (i / Size) + 1) % Size;
  }
  cudaFree(device);
  return wrong;
}

int main() {
  const int found = wrong<64>(1024, 2) + wrong<64>(192, 3) + wrong<128>(1024, 2) + wrong<256>(512, 2) +
                    wrong<512>(1024, 2) + wrong<1024>(1024, 1) + wrong<32>(256, 1) + wrong<64>(1024, 1, true) +
                    wrong<256>(1024, 1, true);
  std::printf(found == 0 ? "PASSED\n" : "%d are wrong\n", found);
  return found != 0;
}
