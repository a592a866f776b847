// Parallel algorithms of thrust and CUB: vectors, a transformation, a reduction, a scan, a sort by keys; a block's scan
// and a reduction of the device called directly.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cub/cub.cuh>

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x % 1000; }
};

__global__ void scan_block(const int* in, int* out) {
  using Scan = cub::BlockScan<int, 64>;
  __shared__ typename Scan::TempStorage storage;
  int sum;
  Scan(storage).InclusiveSum(in[threadIdx.x], sum);
  out[threadIdx.x] = sum;
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

  thrust::sort_by_key(keys.begin(), keys.end(), squares.begin());
  const thrust::host_vector<int> sorted = keys, carried = squares;
  for (int i = 0; i < kCount; ++i) right = right && sorted[i] == i && carried[i] == Square()(i);

  scan_block<<<1, 64>>>(thrust::raw_pointer_cast(keys.data()), thrust::raw_pointer_cast(sums.data()));
  right = right && static_cast<int>(sums[63]) == 63 * 32;

  size_t bytes = 0;
  cub::DeviceReduce::Max(nullptr, bytes, keys.begin(), sums.begin(), kCount);
  thrust::device_vector<char> storage(bytes);
  cub::DeviceReduce::Max(thrust::raw_pointer_cast(storage.data()), bytes, keys.begin(), sums.begin(), kCount);
  right = right && static_cast<int>(sums[0]) == kCount - 1;
  puts(right && cudaDeviceSynchronize() == cudaSuccess ? "PASSED" : "FAILED");
}
