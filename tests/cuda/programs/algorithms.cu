// Parallel algorithms of thrust and CUB: vectors, a transformation, a reduction, a scan, a sort by keys; a block's scan
// and a reduction of the device called directly.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x % 1000; }
};

__global__ void scan_block(const int* in, int* out) {
  using Scan = cub::BlockScan<int, 64>;
  __shared__ typename Scan::TempStorage storage;
  int sum;
  Scan(storage).InclusiveSum(in[threadIdx.x], sum);
  out[threadIdx.x] = sum;
  using Sort = cub::BlockRadixSort<int, 64, 1>;
  __shared__ typename Sort::TempStorage sorting;
  int key[1] = {in[threadIdx.x]};
  Sort(sorting).Sort(key);
  out[64 + threadIdx.x] = key[0];
}

int main() {
  constexpr int kCount = 500;
  thrust::host_vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = (i * 37 + 11) % kCount;
  thrust::device_vector<int> keys = values;
  thrust::device_vector<int> squares(kCount), sums(kCount);
  thrust::transform(keys.begin(), keys.end(), squares.begin(), Square());
  const int total = thrust::reduce(squares.begin(), squares.end(), 0, thrust::plus<int>());
  thrust::exclusive_scan(squares.begin(), squares.end(), sums.begin());
  thrust::host_vector<int> scanned = sums;
  int expected = 0;
  bool right = true;
  for (int i = 0; i < kCount; ++i) {
    right = right && scanned[i] == expected;
    expected += Square()(values[i]);
  }
  right = right && total == expected;

  scan_block<<<1, 64>>>(thrust::raw_pointer_cast(keys.data()), thrust::raw_pointer_cast(sums.data()));
  thrust::host_vector<int> first(values.begin(), values.begin() + 64);
  right = right && sums[63] == std::accumulate(first.begin(), first.end(), 0);
  std::sort(first.begin(), first.end());
  for (int i = 0; i < 64; ++i) right = right && sums[64 + i] == first[i];

  puts(right && cudaDeviceSynchronize() == cudaSuccess ? "PASSED" : "FAILED");
}
