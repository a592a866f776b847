// Bitonic sorting of keys with their places, and copies within the device.
#include "check.h"
#include "kernel.h"

static __global__ void exchange(unsigned* keys, int* places, int distance, int run) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = i ^ distance;
  if (j < i) return;
  const bool upwards = (i & run) == 0;
  if ((keys[i] > keys[j]) == upwards && keys[i] != keys[j]) {
    const unsigned key = keys[i];
    keys[i] = keys[j];
    keys[j] = key;
    const int place = places[i];
    places[i] = places[j];
    places[j] = place;
  }
}

float sort(const unsigned* keys, unsigned* sorted, int* places, int n) {
  unsigned *original, *work;
  int* order;
  CHECK(cudaMalloc(&original, n * sizeof(unsigned)));
  CHECK(cudaMalloc(&work, n * sizeof(unsigned)));
  CHECK(cudaMalloc(&order, n * sizeof(int)));
  CHECK(cudaMemcpy(original, keys, n * sizeof(unsigned), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(order, places, n * sizeof(int), cudaMemcpyDefault));
  Timer timer;
  CHECK(cudaMemcpy(work, original, n * sizeof(unsigned), cudaMemcpyDeviceToDevice));
  for (int run = 2; run <= n; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) exchange<<<n / 64, 64>>>(work, order, distance, run);
  }
  const float milliseconds = timer.stop();
  CHECK(cudaMemcpy(sorted, work, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(places, order, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(original));
  CHECK(cudaFree(work));
  CHECK(cudaFree(order));
  return milliseconds;
}
