// Launches that the program does not wait for: what they print, and what becomes of their faults. The first argument
// says which: "prints", "fault", "left" (a fault, not asked about), "over" (when the run-time has ended).
#include <cstdio>
#include <cstring>

__global__ void write(int* out, int at) {
  out[at] = at;
  if (threadIdx.x == 0) printf("kernel at %d\n", at);
}

// Goes when the run-time library has ended, which came later.
static struct Last {
  int* out = nullptr;
  ~Last() {
    if (out == nullptr) return;
    write<<<1, 4>>>(out, 0);
    std::printf("when it is over: %s\n", cudaGetErrorName(cudaGetLastError()));
  }
} last;

int main(int, char** words) {
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  for (int i = 0; i < 3; ++i) write<<<1, 4>>>(out, i);
  if (std::strcmp(words[1], "prints") == 0) {
    std::printf("main ends\n");
    return 0;
  }
  if (std::strcmp(words[1], "over") == 0) {
    last.out = out;
    return 0;
  }
  // As large as the launches before, so that it cannot be refused.
  write<<<1, 4>>>(out, 100000);
  if (std::strcmp(words[1], "left") == 0) return 0;
  std::printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("wait: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  static_cast<void>(cudaGetLastError());
  write<<<1, 4>>>(out, 0);
  std::printf("launch after it: %s\n", cudaGetErrorName(cudaGetLastError()));
  return 0;
}
