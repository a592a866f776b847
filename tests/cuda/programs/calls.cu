// What calls cost on the host: calls.cu [LAUNCHES] prints wall-clock microseconds per call (docs/performance.md).
// Without arguments only that everything arrives: copies of all sizes, dense and pitched, and as many launches as there
// were.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void count(unsigned* counter) {
  if (threadIdx.x == 0) *counter += 1;
}

template <class Call>
static void measure(bool shown, const char* name, int times, Call call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) call();
  cudaDeviceSynchronize();
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
  if (shown) std::printf("%-24s %10.2f us\n", name, spent.count() / times);
}

static bool copies_arrive(std::size_t width, std::size_t height, std::size_t pitch) {
  std::vector<unsigned char> from(pitch * height), to(pitch * height, 7);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 2654435761U >> 13);
  char* device = nullptr;
  if (cudaMalloc(&device, width * height + 3) != cudaSuccess) return false;
  char* const odd = device + 3;
  cudaMemcpy2D(odd, width, from.data(), pitch, width, height, cudaMemcpyHostToDevice);
  cudaMemcpy2D(to.data(), pitch, odd, width, width, height, cudaMemcpyDeviceToHost);
  bool right = true;
  for (std::size_t i = 0; i < from.size(); ++i) right = right && to[i] == (i % pitch < width ? from[i] : 7);
  cudaFree(device);
  return right && cudaGetLastError() == cudaSuccess;
}

int main(int words, char** word) {
  const bool shown = words > 1;
  const int launches = shown ? std::atoi(word[1]) : 50;
  unsigned* counter = nullptr;
  cudaMalloc(&counter, sizeof *counter);
  cudaMemset(counter, 0, sizeof *counter);
  measure(shown, "launch", launches, [&] { count<<<1, 32>>>(counter); });
  unsigned counted = 0;
  measure(shown, "copy of 4 bytes", launches,
          [&] { cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost); });
  measure(shown, "allocate and free", launches, [] {
    void* memory = nullptr;
    cudaMalloc(&memory, 256);
    cudaFree(memory);
  });
  cudaEvent_t event;
  cudaEventCreate(&event);
  measure(shown, "record an event", launches, [&] { cudaEventRecord(event); });
  bool right = counted == static_cast<unsigned>(launches);
  if (shown) {
    const std::size_t size = 64 << 20;
    std::vector<char> from(size, 1), to(size, 2);
    char* device = nullptr;
    cudaMalloc(&device, size);
    cudaMemcpy(device, from.data(), size, cudaMemcpyHostToDevice);
    measure(shown, "memcpy of 64 MB", 5, [&] { std::memcpy(to.data(), from.data(), size); });
    measure(shown, "64 MB to the device", 5, [&] { cudaMemcpy(device, from.data(), size, cudaMemcpyHostToDevice); });
    measure(shown, "64 MB from the device", 5, [&] { cudaMemcpy(to.data(), device, size, cudaMemcpyDeviceToHost); });
    right = right && from == to;
  }
  for (const std::size_t size : {1, 4095, 4096, 32767, 32768, 262143, 262144, 300001, 1048577}) {
    right = right && copies_arrive(size, 1, size) && copies_arrive(size, 3, size) && copies_arrive(size, 2, size + 13);
  }
  std::printf(right ? "PASSED\n" : "FAILED\n");
  return right ? 0 : 1;
}
