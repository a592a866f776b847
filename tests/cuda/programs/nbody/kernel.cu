// Bodies that attract each other, in managed memory.
#include "check.h"
#include "kernel.h"

static __global__ void move(const float4* bodies, float4* next, int n, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 self = bodies[i];
  float x = 0, y = 0, z = 0;
  for (int j = 0; j < n; ++j) {
    const float4 other = bodies[j];
    const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.5f);
    const float pull = other.w * inverse * inverse * inverse;
    x += dx * pull;
    y += dy * pull;
    z += dz * pull;
  }
  next[i] = make_float4(self.x + step * x, self.y + step * y, self.z + step * z, self.w);
}

float simulate(float4*& bodies, int n, int steps) {
  float4* next;
  CHECK(cudaMallocManaged(&next, n * sizeof(float4)));
  Timer timer;
  for (int i = 0; i < steps; ++i) {
    move<<<(n + 31) / 32, 32>>>(bodies, next, n, 0.01f);
    float4* const last = bodies;
    bodies = next;
    next = last;
  }
  const float milliseconds = timer.stop();
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(next));
  return milliseconds;
}
