#include <cuda.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <sys/time.h>
#include <unistd.h>
#include <cfloat>
#include <chrono>
#include <climits>
#include <complex>
#include <cstring>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <thread>
#include <unordered_map>
using namespace std;
#define BLOCK 16
namespace kernels {
template <typename T, int N>
struct Op {
  __host__ __device__ T operator()(T a, T b) const { return a + b * N; }
};
template <typename T, class F>
__global__ void __launch_bounds__(256) apply(T* p, F f, T v) {
  p[threadIdx.x] = f(p[threadIdx.x], v);
}
}  // namespace kernels
struct Pair {
  float x;
  int i[3];
  double d;
};
__global__ void byvalue(Pair q, float4* out, const double* __restrict__ in) {
  float4 v = make_float4(q.x, q.i[1], (float)q.d, in[0]);
  v.x = rsqrtf(v.x) + __expf(1.0f) + fminf(v.y, 3.f) + min(threadIdx.x, 5u) + max(q.i[0], 2) + pow(q.x, 2.0f) +
        std::sqrt(q.x) + exp((double)q.x) + ceil(q.x) + floorf(q.x) + abs(q.i[0]) + fabs(q.x) + log(q.x) + isnan(q.x) +
        std::isinf(q.x) + std::max(1.f, q.x) + std::pow(q.x, 2);
  out[blockIdx.x * gridDim.x + threadIdx.y] = v;
  if (v.x > FLT_MAX || q.i[2] == INT_MAX || v.x == INFINITY || v.x > M_PI || numeric_limits<float>::max() < v.x)
    __threadfence();
}
__device__ __constant__ float filter[BLOCK * BLOCK];
__device__ float* pointer;
__global__ void usefilter(float* p) {
  p[threadIdx.x] = filter[threadIdx.x] + pointer[0];
}
class App {
 public:
  void go();

 private:
  cudaStream_t s = 0;
  float* d = nullptr;
};
void App::go() {
  try {
    vector<float> h(16, 1.f);
    cudaMalloc(&d, 64);
    cudaMemcpy(d, &h[0], 64, cudaMemcpyDefault);
    kernels::apply<<<1, 16, 0, s>>>(d, kernels::Op<float, 3>(), 2.f);
    cudaMemcpyToSymbol(pointer, &d, sizeof d);
    cudaMemcpyToSymbol(filter, h.data(), 64, 0, cudaMemcpyHostToDevice);
    usefilter<<<dim3(1, 1), dim3(16, 1, 1)>>>(d);
    cudaMemcpy(h.data(), d, 64, cudaMemcpyDeviceToHost);
    if (cudaDeviceSynchronize() != cudaSuccess) throw runtime_error("x");
    if (h[3] != 8 || h[15] != 8) throw runtime_error("wrong values");  // (1 + 2 * 3) + 1
    auto f = [&](int i) {
      return h[i] + sqrt(2) + pow(2, 3) + fabs(-1.5) + min(1, 2) + max(1.0f, 2.0f) + abs(-2.5) + std::round(2.5) +
             floor(1.5f);
    };
    cout << h[3] << " " << h[5] << " " << f(1) << endl;
    void* args[] = {&d};
    cudaLaunchKernel(usefilter, dim3(1), dim3(16), args, 0, s);
    void* sym;
    size_t bytes;
    cudaGetSymbolAddress(&sym, filter);
    cudaGetSymbolSize(&bytes, filter);
    int bl, gr;
    cudaOccupancyMaxPotentialBlockSize(&gr, &bl, usefilter, 0, 0);
    int nb;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, usefilter, 128, 0);
    cudaFuncAttributes a;
    cudaFuncGetAttributes(&a, usefilter);
    cout << bytes << " " << bl << " " << gr << " " << nb << " " << a.numRegs << " " << a.maxThreadsPerBlock << endl;
    Pair q{4.f, {1, 2, 3}, 2.5};
    float4* o;
    double* in;
    cudaMalloc(&o, 64);
    cudaMalloc(&in, 8);
    cudaMemset(in, 0, 8);
    byvalue<<<1, 1>>>(q, o, in);
    float4 r;
    cudaMemcpy(&r, o, sizeof r, cudaMemcpyDeviceToHost);
    printf("%f %f %f\n", r.x, r.y, r.z);
    size_t fr, to;
    cudaMemGetInfo(&fr, &to);
    cout << to - fr << endl;
  } catch (const exception& e) {
    cerr << e.what() << "\n";
  }
}
int main() {
  App().go();
  return 0;
}
