// Functions of the driver API that are made of others: which block size keeps most threads resident, and peers.
#include <algorithm>

#include "cuda/cudart/driver.hpp"

using namespace heddle::cudart;

#pragma GCC visibility push(default)
extern "C" {

// As the run-time API's template (cuda_runtime.h): the largest multiple of the warp's size that no smaller one is
// better than.
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                                          size_t shared, int limit) {
  return in_context("cuOccupancyMaxPotentialBlockSize", [&](Runtime&) {
    require_places(grid, block);
    const auto take = [](CUresult result) {
      if (result != CUDA_SUCCESS) throw Result{result, ""};
    };
    int most = 0;
    int cores = 0;
    int warp = 0;
    take(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    take(cuDeviceGetAttribute(&cores, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    take(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    if (limit > 0) most = std::min(most, limit);
    int best = 0;
    for (int size = most - most % warp; size >= warp; size -= warp) {
      int blocks = 0;
      take(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size,
                                                       shared_of == nullptr ? shared : shared_of(size)));
      if (blocks * size <= best) continue;
      best = blocks * size;
      *block = size;
      *grid = blocks * cores;
    }
    require(best != 0, cudaErrorInvalidConfiguration, "no block fits");
  });
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                   unsigned int) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared, limit);
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return driver("cuDeviceCanAccessPeer", [&](Runtime&) {
    require_places(can);
    require(device == 0 && peer == 0, cudaErrorInvalidDevice, "there is one device, of number 0");
    *can = 0;
  });
}

}  // extern "C"
#pragma GCC visibility pop
