// Kernels of several streams side by side: small grids that leave cores free, events between streams, and what each
// computes.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void step(unsigned* data, unsigned n, unsigned rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = data[i];
  for (unsigned r = 0; r < rounds; ++r) value = value * 1664525u + 1013904223u + i;
  data[i] = value;
}

unsigned expected(unsigned value, unsigned i, unsigned rounds) {
  for (unsigned r = 0; r < rounds; ++r) value = value * 1664525u + 1013904223u + i;
  return value;
}

int main(int argc, char** argv) {
  const unsigned streams = argc > 1 ? std::atoi(argv[1]) : 4;
  const unsigned blocks = argc > 2 ? std::atoi(argv[2]) : 2;
  const unsigned n = blocks * 128;
  std::vector<cudaStream_t> stream(streams);
  std::vector<cudaEvent_t> event(streams);
  std::vector<unsigned*> data(streams);
  std::vector<std::vector<unsigned>> host(streams, std::vector<unsigned>(n));
  for (unsigned s = 0; s < streams; ++s) {
    cudaStreamCreateWithFlags(&stream[s], s % 2 ? cudaStreamNonBlocking : cudaStreamDefault);
    cudaEventCreate(&event[s]);
    cudaMalloc(&data[s], n * sizeof(unsigned));
    for (unsigned i = 0; i < n; ++i) host[s][i] = i + s;
  }
  for (unsigned s = 0; s < streams; ++s) {
    cudaMemcpyAsync(data[s], host[s].data(), n * sizeof(unsigned), cudaMemcpyHostToDevice, stream[s]);
    step<<<blocks, 128, 0, stream[s]>>>(data[s], n, 100 + 10 * s);
    cudaEventRecord(event[s], stream[s]);
  }
  // Stream s goes on with what stream s - 1 has made.
  for (unsigned s = 1; s < streams; ++s) {
    cudaStreamWaitEvent(stream[s], event[s - 1], 0);
    step<<<blocks, 128, 0, stream[s]>>>(data[s - 1], n, 7);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) {
    std::printf("FAILED: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  float apart = 0;
  cudaEventElapsedTime(&apart, event[0], event[streams - 1]);
  unsigned wrong = 0;
  for (unsigned s = 0; s < streams; ++s) {
    cudaMemcpy(host[s].data(), data[s], n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    for (unsigned i = 0; i < n; ++i) {
      unsigned value = expected(i + s, i, 100 + 10 * s);
      if (s + 1 < streams) value = expected(value, i, 7);
      wrong += value != host[s][i];
    }
  }
  std::printf(wrong == 0 ? "PASSED\n" : "FAILED: %u values\n", wrong);
  return wrong != 0;
}
