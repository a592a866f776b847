// Two streams in turns, events between them, calls of the host; the time of work side by side.
#include "check.h"
#include "kernel.h"

static __global__ void work(float* v, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int k = 0; k < 20; ++k) v[i] = v[i] * 0.5f + 1.0f;
  }
}

static void CUDART_CB called(cudaStream_t, cudaError_t error, void* data) {
  if (error == cudaSuccess) ++*static_cast<int*>(data);
}

float process(float* host, int n, bool overlap, int* calls) {
  float* device;
  cudaStream_t streams[2];
  cudaEvent_t done;
  CHECK(cudaMalloc(&device, n * sizeof(float)));
  CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const int parts = 4, part = n / parts;
  Timer timer(streams[0]);
  for (int i = 0; i < parts; ++i) {
    const cudaStream_t stream = streams[overlap ? i % 2 : 0];
    float* const to = device + i * part;
    CHECK(cudaMemcpyAsync(to, host + i * part, part * sizeof(float), cudaMemcpyHostToDevice, stream));
    work<<<(part + 63) / 64, 64, 0, stream>>>(to, part);
    CHECK(cudaMemcpyAsync(host + i * part, to, part * sizeof(float), cudaMemcpyDeviceToHost, stream));
  }
  CHECK(cudaEventRecord(done, streams[1]));
  CHECK(cudaStreamWaitEvent(streams[0], done, 0));
  const float milliseconds = timer.stop();
  while (cudaStreamQuery(streams[0]) == cudaErrorNotReady) {
  }
  CHECK(cudaStreamAddCallback(streams[0], called, calls, 0));
  for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaEventDestroy(done));
  CHECK(cudaFree(device));
  return milliseconds;
}
