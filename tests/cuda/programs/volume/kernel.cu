// A box within a volume: three-dimensional memory, copies and fills.
#include "check.h"
#include "kernel.h"

static __global__ void add_one(cudaPitchedPtr volume, int w, int h, int d) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  if (x < w && y < h && z < d) {
    char* const row = static_cast<char*>(volume.ptr) + (z * volume.ysize + y) * volume.pitch;
    reinterpret_cast<int*>(row)[x] += 1;
  }
}

float brighten(int* out, const int* in, int w, int h, int d) {
  cudaPitchedPtr volume;
  const cudaExtent whole = make_cudaExtent(w * sizeof(int), h, d);
  CHECK(cudaMalloc3D(&volume, whole));
  CHECK(cudaMemset3D(volume, 0, whole));
  Timer timer;
  // All but the first column, row and slice.
  cudaMemcpy3DParms to = {};
  to.srcPtr = make_cudaPitchedPtr(const_cast<int*>(in), w * sizeof(int), w * sizeof(int), h);
  to.dstPtr = volume;
  to.srcPos = to.dstPos = make_cudaPos(sizeof(int), 1, 1);
  to.extent = make_cudaExtent((w - 1) * sizeof(int), h - 1, d - 1);
  to.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&to));
  add_one<<<dim3(h, d), w>>>(volume, w, h, d);
  cudaMemcpy3DParms back = {};
  back.srcPtr = volume;
  back.dstPtr = make_cudaPitchedPtr(out, w * sizeof(int), w * sizeof(int), h);
  back.extent = whole;
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&back));
  const float milliseconds = timer.stop();
  CHECK(cudaFree(volume.ptr));
  return milliseconds;
}
