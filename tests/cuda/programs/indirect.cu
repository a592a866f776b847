// Functions through pointers, virtual ones and recursion; kernels that cannot be compiled and are not launched, or are.
#include <cstdio>

typedef int (*Operation)(int, int);
__device__ int add(int a, int b) {
  return a + b;
}
__device__ int multiply(int a, int b) {
  return a * b;
}
__device__ Operation chosen = multiply;
__constant__ Operation both[2] = {add, multiply};

struct Shape {
  __device__ virtual int corners() const = 0;
};
struct Triangle : Shape {
  __device__ int corners() const override { return 3; }
};
struct Pair : Shape {
  const Shape *a, *b;
  __device__ Pair(const Shape* a, const Shape* b) : a(a), b(b) {}
  __device__ int corners() const override { return a->corners() + b->corners(); }
};

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ int depth(int n) {
  volatile int place[8];
  place[n % 8] = n;
  const int below = n == 0 ? 0 : depth(n - 1);
  return below + (place[n % 8] == n);
}

__global__ void through(int* out, Operation given) {
  const int t = threadIdx.x;
  const Triangle triangle;
  const Pair pair(&triangle, &triangle), more(&pair, &triangle);
  const Shape* const shapes[3] = {&triangle, &pair, &more};
  out[t] = given(t, 3) + 100 * both[t % 2](t, 2) + 10000 * shapes[t % 3]->corners();
}
__global__ void recursive(int* out) {
  out[threadIdx.x] = fibonacci(threadIdx.x % 10);
}
__global__ void deep(int* out, int n) {
  out[threadIdx.x] = depth(n);
}
__global__ void tensor(int* out) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%0], 32;" ::"r"(0));
  *out = 1;
}

int wrong = 0;
template <class Function>
void check(const char* name, int* device, Function expected) {
  int out[32];
  cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 32; ++t) {
    if (out[t] != expected(t)) {
      std::printf("%s: %d of thread %d is %d\n", name, out[t], t, expected(t));
      wrong = 1;
      return;
    }
  }
}
int host_fibonacci(int n) {
  return n < 2 ? n : host_fibonacci(n - 1) + host_fibonacci(n - 2);
}

int main(int argc, char** argv) {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  Operation given;
  cudaMemcpyFromSymbol(&given, chosen, sizeof given);
  through<<<1, 32>>>(out, given);
  check("through", out, [](int t) { return 3 * t + 100 * (t % 2 ? t * 2 : t + 2) + 10000 * (3 * (t % 3) + 3); });
  recursive<<<1, 32>>>(out);
  check("recursive", out, [](int t) { return host_fibonacci(t % 10); });
  size_t stack = 0;
  cudaDeviceGetLimit(&stack, cudaLimitStackSize);
  std::printf("stack %zu\n", stack);
  std::printf("set %s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitStackSize, 64 << 10)));
  cudaDeviceGetLimit(&stack, cudaLimitStackSize);
  std::printf("stack %zu\n", stack);
  deep<<<1, 32>>>(out, 500);
  check("deep", out, [](int) { return 501; });
  cudaDeviceSetLimit(cudaLimitStackSize, 1 << 30);
  cudaDeviceGetLimit(&stack, cudaLimitStackSize);
  std::printf("most %zu\n", stack);
  if (argc > 1 && argv[1][0] == 't') {
    tensor<<<1, 1>>>(out);
    std::printf("tensor: %s\n", cudaGetErrorName(cudaGetLastError()));
    recursive<<<1, 32>>>(out);
    check("again", out, [](int t) { return host_fibonacci(t % 10); });
  }
  if (argc > 1 && argv[1][0] == 'o') {
    deep<<<1, 32>>>(out, 100000);
    std::printf("overflow: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  }
  if (!wrong) std::printf("PASSED\n");
  return wrong;
}
