// What stream 0 is: the legacy stream, for which others wait, or each host thread's own (-default-stream per-thread).
#include <cstdio>
#include <thread>

__global__ void spin(unsigned* out, unsigned rounds) {
  unsigned value = threadIdx.x;
  for (unsigned i = 0; i < rounds; ++i) value = value * 1664525u + 1013904223u;
  out[threadIdx.x] = value;
}

static unsigned long long id_of(cudaStream_t stream) {
  unsigned long long id = 0;
  cudaStreamGetId(stream, &id);
  return id;
}

int main() {
  unsigned long long other = 0;
  std::thread([&other] { other = id_of(nullptr); }).join();
  std::printf("stream 0 is the thread's own: %d, another thread's: %d\n", id_of(nullptr) == id_of(cudaStreamPerThread),
              other == id_of(nullptr));
  unsigned* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(unsigned));
  cudaStream_t stream;
  cudaEvent_t event[3];
  cudaStreamCreate(&stream);
  for (cudaEvent_t& one : event) cudaEventCreate(&one);
  cudaEventRecord(event[0]);
  spin<<<1, 32>>>(out, 1000);
  cudaEventRecord(event[1]);
  spin<<<1, 32, 0, stream>>>(out + 32, 1000);
  cudaEventRecord(event[2], stream);
  cudaDeviceSynchronize();
  float one = 0, both = 0;
  cudaEventElapsedTime(&one, event[0], event[1]);
  cudaEventElapsedTime(&both, event[0], event[2]);
  std::printf("the second waits for the first: %d\n", both > 1.5f * one);
  std::printf("%s\n", cudaGetErrorName(cudaStreamDestroy(nullptr)));
  return 0;
}
