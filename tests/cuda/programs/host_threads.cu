// Host threads that call at once: each has streams, memory, events, graphs, errors and modules of its own and some that
// all share, and judges what it gets. host_threads [THREADS [ROUNDS]]; "fault" as a third word: one thread breaks the
// device, which all others hear of (heddle exec --keep-going). The tests of several host threads build it with the
// thread sanitizer too.
#include <cuda.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "common/expect.h"

constexpr int kMost = 32;    // threads
constexpr int kCount = 128;  // numbers of a buffer
constexpr size_t kBytes = kCount * sizeof(int);

__constant__ int steps[kMost];
__device__ int results[kMost];

__global__ void advance(int* v, int by) {
  v[threadIdx.x + blockIdx.x * blockDim.x] += by;
}
__global__ void join(const int* v, int mine, unsigned* all) {
  atomicAdd(all, 1u);
  if (threadIdx.x == 0) results[mine] = v[mine] + steps[mine];
}
__global__ void stray(int* v) {
  v[1 << 28] = 1;
}

// Text that the driver API loads.
static const char kModule[] = R"(.version 6.0
.target sm_60
.address_size 64
.visible .entry twice(.param .u64 numbers)
{
  .reg .b64 %at, %offset;
  .reg .b32 %n;
  ld.param.u64 %at, [numbers];
  mov.u32 %n, %tid.x;
  mul.wide.u32 %offset, %n, 4;
  add.s64 %at, %at, %offset;
  ld.global.u32 %n, [%at];
  shl.b32 %n, %n, 1;
  st.global.u32 [%at], %n;
  ret;
}
)";

// One thread tells the next that its event is recorded.
class Post {
 public:
  void give(cudaEvent_t event) {
    const std::lock_guard<std::mutex> held(lock_);
    event_ = event;
    come_.notify_one();
  }
  cudaEvent_t take() {
    std::unique_lock<std::mutex> held(lock_);
    come_.wait(held, [this] { return event_ != nullptr; });
    const cudaEvent_t event = event_;
    event_ = nullptr;
    return event;
  }

 private:
  std::mutex lock_;
  std::condition_variable come_;
  cudaEvent_t event_ = nullptr;
};

// Where each thread waits until all have come.
class Meeting {
 public:
  void come(int expected) {
    std::unique_lock<std::mutex> held(lock_);
    if (++come_ == expected) all_.notify_all();
    all_.wait(held, [this, expected] { return come_ >= expected; });
  }

 private:
  std::mutex lock_;
  std::condition_variable all_;
  int come_ = 0;
};

struct Shared {
  int threads = 0;
  unsigned* all = nullptr;  // on the device: every thread of every join()
  int* relay = nullptr;     // likewise: handed from thread to thread
  Post posts[kMost];
  Meeting recorded;  // no thread records a graph any more, which a wait for the device would spoil
  std::mutex lock;
  int calls = 0;  // of the host by streams and graphs
};

struct Mine {
  Shared* shared;
  int number;
};

static void count_call(void* data) {
  Shared& shared = *static_cast<Mine*>(data)->shared;
  const std::lock_guard<std::mutex> held(shared.lock);
  ++shared.calls;
}

// Copies and launches in a stream of its own, in the default stream and in the thread's.
static void compute(Mine& mine, int round, cudaStream_t stream) {
  std::vector<int> in(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = mine.number * 1000 + round * 100 + i;
  int* v = nullptr;
  CHECK(cudaMalloc(&v, kBytes));
  CHECK(cudaMemcpyAsync(v, in.data(), kBytes, cudaMemcpyHostToDevice, stream));
  advance<<<2, kCount / 2, 0, stream>>>(v, mine.number);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(out.data(), v, kBytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  for (int i = 0; i < kCount; ++i) EXPECT(out[i] == in[i] + mine.number);
  const int step = round + 7;
  CHECK(cudaMemcpyToSymbolAsync(steps, &step, sizeof step, mine.number * sizeof step, cudaMemcpyHostToDevice, stream));
  join<<<1, 32, 0, stream>>>(v, mine.number, mine.shared->all);
  int result = 0;
  CHECK(cudaMemcpyFromSymbolAsync(&result, results, sizeof result, mine.number * sizeof result, cudaMemcpyDeviceToHost,
                                  stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(result == in[mine.number] + mine.number + step);
  CHECK(cudaMemset(v, 0, kBytes));
  CHECK(cudaMemcpy(out.data(), v, kBytes, cudaMemcpyDeviceToHost));
  for (const int value : out) EXPECT(value == 0);
  CHECK(cudaFree(v));
}

// Times of the thread's own events do not run backwards.
static void measure(cudaStream_t stream, int* v) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin, stream));
  advance<<<1, 32, 0, stream>>>(v, 1);
  CHECK(cudaEventRecord(end, stream));
  while (cudaEventQuery(end) == cudaErrorNotReady) std::this_thread::yield();
  CHECK(cudaEventSynchronize(end));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(ms > 0);
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
}

// An error is the thread's that made it.
static void err(Mine& mine) {
  EXPECT(cudaPeekAtLastError() == cudaSuccess);
  if (mine.number % 3 == 0) {
    EXPECT(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(12345678)) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidResourceHandle);
  } else if (mine.number % 3 == 1) {
    EXPECT(cudaSetDevice(5) == cudaErrorInvalidDevice);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  }
  std::this_thread::yield();
  const cudaError_t expected[] = {cudaErrorInvalidResourceHandle, cudaErrorInvalidDevice, cudaSuccess};
  EXPECT(cudaGetLastError() == expected[mine.number % 3]);
  EXPECT(cudaGetLastError() == cudaSuccess);
}

// On a stream that the default stream does not wait for: another thread's copy would spoil the recording, and fail.
static void graph(Mine& mine) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int* v = nullptr;
  std::vector<int> out(kCount);
  CHECK(cudaMalloc(&v, kBytes));
  cudaGraph_t recorded;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemsetAsync(v, 0, kBytes, stream));
  advance<<<1, kCount, 0, stream>>>(v, mine.number + 1);
  CHECK(cudaLaunchHostFunc(stream, count_call, &mine));
  CHECK(cudaMemcpyAsync(out.data(), v, kBytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamEndCapture(stream, &recorded));
  cudaGraphExec_t run;
  CHECK(cudaGraphInstantiate(&run, recorded, 0));
  CHECK(cudaGraphDestroy(recorded));
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (const int value : out) EXPECT(value == mine.number + 1);
  }
  CHECK(cudaGraphExecDestroy(run));
  CHECK(cudaFree(v));
  CHECK(cudaStreamDestroy(stream));
}

static void module(cudaStream_t stream) {
  EXPECT(cuInit(0) == CUDA_SUCCESS);
  CUcontext context;
  EXPECT(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
  EXPECT(cuCtxSetCurrent(context) == CUDA_SUCCESS);
  CUmodule loaded;
  CUfunction twice;
  EXPECT(cuModuleLoadData(&loaded, kModule) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&twice, loaded, "twice") == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&twice, loaded, "thrice") == CUDA_ERROR_NOT_FOUND);
  CUdeviceptr memory;
  EXPECT(cuMemAlloc(&memory, kBytes) == CUDA_SUCCESS);
  std::vector<int> numbers(kCount, 21);
  EXPECT(cuMemcpyHtoD(memory, numbers.data(), kBytes) == CUDA_SUCCESS);
  void* arguments[] = {&memory};
  EXPECT(cuModuleGetFunction(&twice, loaded, "twice") == CUDA_SUCCESS);
  EXPECT(cuLaunchKernel(twice, 1, 1, 1, kCount, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS);
  EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  EXPECT(cuMemcpyDtoH(numbers.data(), memory, kBytes) == CUDA_SUCCESS);
  for (const int number : numbers) EXPECT(number == 42);
  EXPECT(cuMemFree(memory) == CUDA_SUCCESS);
  EXPECT(cuModuleUnload(loaded) == CUDA_SUCCESS);
}

// From thread to thread: each waits for the event of the thread before, in a stream of its own.
static void hand_on(Mine& mine, cudaStream_t stream, cudaEvent_t done) {
  Shared& shared = *mine.shared;
  if (mine.number != 0) CHECK(cudaStreamWaitEvent(stream, shared.posts[mine.number].take(), 0));
  advance<<<1, kCount, 0, stream>>>(shared.relay, mine.number + 1);
  CHECK(cudaEventRecord(done, stream));
  if (mine.number + 1 < shared.threads) shared.posts[mine.number + 1].give(done);
}

static void other_calls(Mine& mine) {
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(advance)));
  EXPECT(attributes.maxThreadsPerBlock > 0);
  int blocks = 0, device = -1;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, advance, 64, 0));
  EXPECT(blocks > 0);
  CHECK(cudaGetDevice(&device));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, device));
  void* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, 4096));
  cudaPointerAttributes of;
  CHECK(cudaPointerGetAttributes(&of, pinned));
  EXPECT(of.type == cudaMemoryTypeHost);
  CHECK(cudaFreeHost(pinned));
  void* address = nullptr;
  CHECK(cudaGetSymbolAddress(&address, results));
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  CHECK(cudaMallocArray(&array, &format, 16, 4));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc sampling = {};
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
  size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total));
  EXPECT(free <= total && mine.number < kMost);
}

static void work(Mine mine, int rounds) {
  cudaStream_t stream;
  cudaEvent_t done;
  CHECK(cudaStreamCreateWithFlags(&stream, mine.number % 2 == 0 ? cudaStreamDefault : cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  int* v = nullptr;
  CHECK(cudaMalloc(&v, kBytes));
  for (int round = 0; round < rounds; ++round) {
    compute(mine, round, stream);
    compute(mine, round, nullptr);
    compute(mine, round, cudaStreamPerThread);
    measure(stream, v);
    err(mine);
    graph(mine);
    if (round == 0) module(stream);
    other_calls(mine);
    CHECK(cudaLaunchHostFunc(stream, count_call, &mine));
  }
  hand_on(mine, stream, done);
  CHECK(cudaFree(v));
  mine.shared->recorded.come(mine.shared->threads);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamDestroy(stream));
}

// One thread's kernel goes astray; the others call until they are told.
static int fault(int count) {
  std::atomic<int> told{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&told, i] {
      int* v = nullptr;
      if (i == 0) {
        cudaMalloc(&v, kBytes);
        stray<<<1, 1>>>(v);
      }
      int value = 0;
      for (;;) {
        cudaError_t error = cudaMalloc(&v, kBytes);
        if (error == cudaSuccess) error = cudaMemcpy(&value, v, sizeof value, cudaMemcpyDeviceToHost);
        if (error == cudaErrorIllegalAddress) break;
        EXPECT(error == cudaSuccess);
      }
      EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
      ++told;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT(told == count);
  std::printf("PASSED\n");
  return 0;
}

int main(int words, char** word) {
  const int count = words > 1 ? std::atoi(word[1]) : 8;
  const int rounds = words > 2 ? std::atoi(word[2]) : 2;
  EXPECT(count > 0 && count <= kMost);
  if (words > 3 && std::strcmp(word[3], "fault") == 0) return fault(count);
  Shared shared;
  shared.threads = count;
  // Several threads make the first calls of all, too.
  std::thread one([&shared] {
    CHECK(cudaMalloc(&shared.all, sizeof *shared.all));
    CHECK(cudaMemset(shared.all, 0, sizeof *shared.all));
  });
  std::thread other([&shared] {
    CHECK(cudaMalloc(&shared.relay, kBytes));
    CHECK(cudaMemset(shared.relay, 0, kBytes));
  });
  one.join();
  other.join();
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, Mine{&shared, i}, rounds);
  for (std::thread& thread : threads) thread.join();
  CHECK(cudaDeviceSynchronize());
  unsigned all = 0;
  CHECK(cudaMemcpy(&all, shared.all, sizeof all, cudaMemcpyDeviceToHost));
  EXPECT(all == 32u * 3 * count * rounds);
  std::vector<int> relay(kCount);
  CHECK(cudaMemcpy(relay.data(), shared.relay, kBytes, cudaMemcpyDeviceToHost));
  for (const int value : relay) EXPECT(value == count * (count + 1) / 2);
  EXPECT(shared.calls == 3 * count * rounds);
  std::printf("PASSED\n");
  return 0;
}
