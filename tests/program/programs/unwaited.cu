// Launches that the program does not wait for: what they print, and what becomes of their faults. The first argument
// says which: "prints", "fault", "left" (a fault that nobody asks about).
#include <cstdio>
#include <cstring>

__global__ void write(int* out, int at) {
  out[at] = at;
  if (threadIdx.x == 0) printf("kernel at %d\n", at);
}

int main(int, char** words) {
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  for (int i = 0; i < 3; ++i) write<<<1, 4>>>(out, i);
  if (std::strcmp(words[1], "prints") == 0) {
    std::printf("main ends\n");
    return 0;
  }
  // As large as those before, so that it cannot be refused.
  write<<<1, 4>>>(out, 100000);
  if (std::strcmp(words[1], "left") == 0) return 0;
  std::printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("wait: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("launch after it: %s\n", (write<<<2, 4>>>(out, 0), cudaGetErrorName(cudaGetLastError())));
  return 0;
}
