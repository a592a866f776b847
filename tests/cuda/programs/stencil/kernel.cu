// Heat in a plate: pitched memory, two-dimensional copies.
#include "check.h"
#include "kernel.h"

static __global__ void step(const float* in, float* out, size_t pitch, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const char* const rows = reinterpret_cast<const char*>(in);
  const float* const row = reinterpret_cast<const float*>(rows + y * pitch);
  float value = row[x];
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
    const float* const above = reinterpret_cast<const float*>(rows + (y - 1) * pitch);
    const float* const below = reinterpret_cast<const float*>(rows + (y + 1) * pitch);
    value = 0.25f * (row[x - 1] + row[x + 1] + above[x] + below[x]);
  }
  reinterpret_cast<float*>(reinterpret_cast<char*>(out) + y * pitch)[x] = value;
}

float heat(float* plate, int w, int h, int steps) {
  float *a, *b;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&a, &pitch, w * sizeof(float), h));
  CHECK(cudaMallocPitch(&b, &pitch, w * sizeof(float), h));
  CHECK(cudaMemset2D(b, pitch, 0, w * sizeof(float), h));
  CHECK(cudaMemcpy2D(a, pitch, plate, w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice));
  Timer timer;
  for (int i = 0; i < steps; ++i) {
    step<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(a, b, pitch, w, h);
    float* const last = a;
    a = b;
    b = last;
  }
  const float milliseconds = timer.stop();
  CHECK(cudaMemcpy2D(plate, w * sizeof(float), a, pitch, w * sizeof(float), h, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  return milliseconds;
}
