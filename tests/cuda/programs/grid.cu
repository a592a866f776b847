// Cooperative launches: blocks that wait for each other between the steps of a computation, as many as the machine
// holds at once, of several kernels. The host computes the results too.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace cg = cooperative_groups;

constexpr unsigned kThreads = 64;
constexpr int kRounds = 4;

// Sums up to each place, in steps of 1, 2, 4 ... places over the whole grid; both arrays take turns.
__global__ void scan(int* a, int* b, unsigned n) {
  const cg::grid_group grid = cg::this_grid();
  const auto i = static_cast<unsigned>(grid.thread_rank());
  if (i >= n) return;  // who has exited is not waited for
  int* from = a;
  int* to = b;
  for (unsigned distance = 1; distance < n; distance *= 2) {
    to[i] = from[i] + (i >= distance ? from[i - distance] : 0);
    grid.sync();
    int* const old = from;
    from = to;
    to = old;
  }
  if (from != a) {
    a[i] = from[i];
  }
}

// A rod whose ends keep their heat: every round each cell becomes the mean of its neighbours. Threads take the cells
// in turns, threads of even blocks part on the way to the barrier, and partial sums go through shared memory.
__global__ void heat(float* a, float* b, unsigned cells, float* sums) {
  __shared__ float scratch[kThreads];
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  const auto first = static_cast<unsigned>(grid.thread_rank());
  const auto all = static_cast<unsigned>(grid.size());
  for (int round = 0; round < kRounds; ++round) {
    float* const from = round % 2 == 0 ? a : b;
    float* const to = round % 2 == 0 ? b : a;
    float sum = 0;
    for (unsigned i = first; i < cells; i += all) {
      to[i] = i == 0 || i == cells - 1 ? from[i] : 0.5f * (from[i - 1] + from[i + 1]);
      sum += to[i];
    }
    if (blockIdx.x % 2 == 0) {
      if (threadIdx.x % 3 == 0) sum *= 2;
    }
    scratch[block.thread_rank()] = sum;
    block.sync();
    if (block.thread_rank() == 0) {
      float of_block = 0;
      for (unsigned i = 0; i < kThreads; ++i) of_block += scratch[i];
      sums[round * grid.num_blocks() + grid.block_rank()] = of_block;
    }
    cg::sync(grid);
  }
}

__global__ void valid(int* out) {
  const cg::grid_group grid = cg::this_grid();
  if (grid.thread_rank() == 0) *out = grid.is_valid() ? 1 : 0;
  if (grid.is_valid()) grid.sync();
}

// Every block but one.
__global__ void deserted() {
  if (blockIdx.x != 1) cg::this_grid().sync();
}

bool check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return true;
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  return false;
}
#define CHECK(call) \
  if (!check(call, #call)) return false

template <class Kernel>
int resident(Kernel kernel) {
  int per_core = 0;
  int cores = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_core, kernel, kThreads, 0);
  cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, 0);
  return per_core * cores;
}

bool scans(int blocks, cudaStream_t stream) {
  const unsigned n = static_cast<unsigned>(blocks) * kThreads - 23;  // block and threads that are too many
  std::vector<int> values(n);
  std::vector<int> should(n);
  for (unsigned i = 0; i < n; ++i) {
    values[i] = static_cast<int>(i * 7 % 13) - 5;
    should[i] = values[i] + (i > 0 ? should[i - 1] : 0);
  }
  int* a = nullptr;
  int* b = nullptr;
  CHECK(cudaMalloc(&a, n * sizeof(int)));
  CHECK(cudaMalloc(&b, n * sizeof(int)));
  CHECK(cudaMemcpy(a, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  void* arguments[] = {&a, &b, const_cast<unsigned*>(&n)};
  CHECK(cudaLaunchCooperativeKernel(scan, blocks, kThreads, arguments, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(values.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost));
  cudaFree(a);
  cudaFree(b);
  return values == should;
}

bool heats(int blocks) {
  const unsigned cells = 1000;
  const unsigned threads = static_cast<unsigned>(blocks) * kThreads;
  std::vector<float> rod(cells);
  for (unsigned i = 0; i < cells; ++i) rod[i] = static_cast<float>(i * i % 32);
  std::vector<float> should = rod;
  std::vector<float> sums;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<float> before = should;
    for (unsigned i = 1; i + 1 < cells; ++i) should[i] = 0.5f * (before[i - 1] + before[i + 1]);
    for (unsigned block = 0; block < static_cast<unsigned>(blocks); ++block) {
      float of_block = 0;  // sixteenths of small numbers: exact in any order
      for (unsigned thread = 0; thread < kThreads; ++thread) {
        float sum = 0;
        for (unsigned i = block * kThreads + thread; i < cells; i += threads) sum += should[i];
        of_block += block % 2 == 0 && thread % 3 == 0 ? 2 * sum : sum;
      }
      sums.push_back(of_block);
    }
  }
  float* a = nullptr;
  float* b = nullptr;
  float* of_blocks = nullptr;
  CHECK(cudaMalloc(&a, cells * sizeof(float)));
  CHECK(cudaMalloc(&b, cells * sizeof(float)));
  CHECK(cudaMalloc(&of_blocks, sums.size() * sizeof(float)));
  CHECK(cudaMemcpy(a, rod.data(), cells * sizeof(float), cudaMemcpyHostToDevice));
  unsigned count = cells;
  void* arguments[] = {&a, &b, &count, &of_blocks};
  CHECK(cudaLaunchCooperativeKernel(heat, dim3(static_cast<unsigned>(blocks)), dim3(kThreads), arguments));
  std::vector<float> measured(sums.size());
  CHECK(cudaMemcpy(rod.data(), a, cells * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(measured.data(), of_blocks, sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return rod == should && measured == sums;
}

bool validity() {
  int* out = nullptr;
  CHECK(cudaMalloc(&out, sizeof(int)));
  int is = -1;
  valid<<<2, 32>>>(out);
  CHECK(cudaMemcpy(&is, out, sizeof is, cudaMemcpyDeviceToHost));
  if (is != 0) return false;
  void* arguments[] = {&out};
  CHECK(cudaLaunchCooperativeKernel(valid, 2, 32, arguments));
  CHECK(cudaMemcpy(&is, out, sizeof is, cudaMemcpyDeviceToHost));
  return is == 1;
}

// Kernels of several streams, each with barriers of its own, beside one without.
bool streams() {
  cudaStream_t all[3];
  for (cudaStream_t& stream : all) CHECK(cudaStreamCreate(&stream));
  int* out = nullptr;
  CHECK(cudaMalloc(&out, 3 * sizeof(int)));
  CHECK(cudaMemset(out, 0xff, 3 * sizeof(int)));
  for (int i = 0; i < 3; ++i) {
    int* to = out + i;
    void* arguments[] = {&to};
    if (i == 1) {
      valid<<<1, 32, 0, all[i]>>>(to);
    } else {
      CHECK(cudaLaunchCooperativeKernel(valid, 3, 64, arguments, 0, all[i]));
    }
  }
  CHECK(cudaDeviceSynchronize());
  int is[3];
  CHECK(cudaMemcpy(is, out, sizeof is, cudaMemcpyDeviceToHost));
  return is[0] == 1 && is[1] == 0 && is[2] == 1;
}

// One too many, and as graph.
bool limits() {
  int can = 0;
  cudaDeviceProp properties;
  CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
  CHECK(cudaGetDeviceProperties(&properties, 0));
  if (can != 1 || properties.cooperativeLaunch != 1) return false;
  int* out = nullptr;
  CHECK(cudaMalloc(&out, sizeof(int)));
  void* arguments[] = {&out};
  const int most = resident(valid);
  CHECK(cudaLaunchCooperativeKernel(valid, most, kThreads, arguments));
  const cudaError_t error = cudaLaunchCooperativeKernel(valid, most + 1, kThreads, arguments);
  if (error != cudaErrorCooperativeLaunchTooLarge || cudaGetLastError() != error) {
    std::printf("%d blocks: %s\n", most + 1, cudaGetErrorName(error));
    return false;
  }
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemset(out, 0, sizeof(int)));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaLaunchCooperativeKernel(valid, 2, 32, arguments, 0, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  int is = 0;
  CHECK(cudaMemcpy(&is, out, sizeof is, cudaMemcpyDeviceToHost));
  return is == 1;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    if (std::strcmp(argv[1], "plain") == 0) {
      deserted<<<2, 32>>>();
    } else {
      cudaLaunchCooperativeKernel(deserted, 3, 32, nullptr);
    }
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  const bool right[] = {scans(resident(scan), nullptr),
                        scans(1, nullptr),
                        heats(resident(heat)),
                        heats(3),
                        validity(),
                        streams(),
                        limits()};
  bool all = true;
  for (const bool one : right) all = all && one;
  if (!all) {
    for (const bool one : right) std::printf("%d", one);
  }
  std::puts(all ? "PASSED" : " FAILED");
  return all ? 0 : 1;
}
