// Host memory that is not there, or not to be read or written: of every function that copies from or to it, in small
// and in large. Each call says cudaErrorInvalidValue, and the next good one is carried out.
#include <sys/mman.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

constexpr size_t kPage = 4096;
constexpr size_t kMost = 1 << 20;

__constant__ int table[1024];
__device__ int variable[1 << 18];
__global__ void add(int* p) {
  p[threadIdx.x] += 1 + table[threadIdx.x] + variable[threadIdx.x];
}

static int failures = 0;
static void expect(cudaError_t error, cudaError_t expected, const std::string& what) {
  if (error == expected) return;
  ++failures;
  std::printf("%s: %s, not %s\n", what.c_str(), cudaGetErrorName(error), cudaGetErrorName(expected));
}

// Pages in a row: `there` to be read and written, then one that is as `protection` says, or none at all, and none
// behind it.
static char* pages(size_t there, int protection) {
  auto* const all =
      static_cast<char*>(mmap(nullptr, there + kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(all + there, kMost, PROT_NONE);
  if (protection < 0) {
    munmap(all + there, kPage);
  } else {
    mprotect(all + there, kPage, protection);
  }
  return all;
}

int main() {
  char* device = nullptr;
  size_t pitch = 0;
  char* rows = nullptr;
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaMalloc(&device, kMost);
  cudaMallocPitch(&rows, &pitch, 512, 2048);
  cudaMallocArray(&array, &format, 128, 2048);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  const auto to_device = cudaMemcpyHostToDevice;
  const auto to_host = cudaMemcpyDeviceToHost;
  const auto box = [&](void* host, size_t size, bool to, bool arrays) {
    cudaMemcpy3DParms b{};
    const size_t height = size / 512 + 1;
    const cudaPitchedPtr h = make_cudaPitchedPtr(host, 512, 512, height);
    const cudaPitchedPtr d = make_cudaPitchedPtr(rows, pitch, 512, height);
    (to ? b.srcPtr : b.dstPtr) = h;
    if (arrays) {
      (to ? b.dstArray : b.srcArray) = array;
    } else {
      (to ? b.dstPtr : b.srcPtr) = d;
    }
    b.extent = make_cudaExtent(arrays ? 128 : 512, height, 1);
    b.kind = to ? to_device : to_host;
    return b;
  };
  struct Function {
    const char* name;
    bool reads;   // host memory
    size_t most;  // bytes
    std::function<cudaError_t(void*, size_t)> call;
  };
  const std::vector<Function> functions = {
      {"cudaMemcpy to", true, kMost, [&](void* h, size_t n) { return cudaMemcpy(device, h, n, to_device); }},
      {"cudaMemcpy from", false, kMost, [&](void* h, size_t n) { return cudaMemcpy(h, device, n, to_host); }},
      {"cudaMemcpy default", true, kMost,
       [&](void* h, size_t n) { return cudaMemcpy(device, h, n, cudaMemcpyDefault); }},
      {"cudaMemcpyAsync to", true, kMost,
       [&](void* h, size_t n) { return cudaMemcpyAsync(device, h, n, to_device, stream); }},
      {"cudaMemcpyAsync from", false, kMost,
       [&](void* h, size_t n) { return cudaMemcpyAsync(h, device, n, to_host, stream); }},
      {"cudaMemcpy2D to", true, kMost,
       [&](void* h, size_t n) { return cudaMemcpy2D(rows, pitch, h, 512, 500, n / 512 + 1, to_device); }},
      {"cudaMemcpy2D from", false, kMost,
       [&](void* h, size_t n) { return cudaMemcpy2D(h, 512, rows, pitch, 500, n / 512 + 1, to_host); }},
      {"cudaMemcpy2DAsync from", false, kMost,
       [&](void* h, size_t n) { return cudaMemcpy2DAsync(h, 512, rows, pitch, 500, n / 512 + 1, to_host, stream); }},
      {"cudaMemcpy3D to", true, kMost,
       [&](void* h, size_t n) {
         const auto b = box(h, n, true, false);
         return cudaMemcpy3D(&b);
       }},
      {"cudaMemcpy3D from", false, kMost,
       [&](void* h, size_t n) {
         const auto b = box(h, n, false, false);
         return cudaMemcpy3D(&b);
       }},
      {"cudaMemcpy3DAsync to an array", true, kMost,
       [&](void* h, size_t n) {
         const auto b = box(h, n, true, true);
         return cudaMemcpy3DAsync(&b, stream);
       }},
      {"cudaMemcpyToSymbol", true, kMost, [&](void* h, size_t n) { return cudaMemcpyToSymbol(variable, h, n); }},
      {"cudaMemcpyToSymbol of constants", true, sizeof table,
       [&](void* h, size_t n) { return cudaMemcpyToSymbol(table, h, n); }},
      {"cudaMemcpyFromSymbol", false, kMost, [&](void* h, size_t n) { return cudaMemcpyFromSymbol(h, variable, n); }},
      {"cudaMemcpyFromSymbolAsync", false, kMost,
       [&](void* h, size_t n) { return cudaMemcpyFromSymbolAsync(h, variable, n, 0, to_host, stream); }},
      {"cudaMemcpyToArray", true, kMost,
       [&](void* h, size_t n) { return cudaMemcpyToArray(array, 0, 0, h, n, to_device); }},
      {"cudaMemcpyFromArray", false, kMost,
       [&](void* h, size_t n) { return cudaMemcpyFromArray(h, array, 0, 0, n, to_host); }},
      {"cudaMemcpy2DToArray", true, kMost,
       [&](void* h, size_t n) { return cudaMemcpy2DToArray(array, 0, 0, h, 512, 512, n / 512 + 1, to_device); }},
      {"cudaMemcpy2DFromArray", false, kMost,
       [&](void* h, size_t n) { return cudaMemcpy2DFromArray(h, 512, array, 0, 0, 512, n / 512 + 1, to_host); }},
      {"within the host, from", true, kMost,
       [&](void* h, size_t n) {
         static std::vector<char> other(2 * kMost);
         return cudaMemcpy(other.data(), h, n, cudaMemcpyHostToHost);
       }},
      {"within the host, to", false, kMost,
       [&](void* h, size_t n) {
         static std::vector<char> other(2 * kMost);
         return cudaMemcpy(h, other.data(), n, cudaMemcpyHostToHost);
       }},
      {"cudaHostRegister", true, kMost,
       [&](void* h, size_t n) {
         const cudaError_t error = cudaHostRegister(h, n, 0);
         if (error == cudaSuccess) cudaHostUnregister(h);
         return error;
       }},
  };
  const auto all_good = [&] {
    static std::vector<char> good(2 * kMost);
    for (const Function& each : functions) {
      for (const size_t size : {size_t{4}, size_t{5000}, size_t{900000}}) {
        if (size > each.most) continue;
        expect(each.call(good.data(), size), cudaSuccess, each.name + std::string(" of good memory"));
      }
    }
    add<<<1, 32>>>(reinterpret_cast<int*>(device));
    expect(cudaDeviceSynchronize(), cudaSuccess, "a launch");
  };
  all_good();
  for (const Function& each : functions) {
    for (const size_t size :
         {size_t{4}, size_t{256}, size_t{4095}, size_t{9000}, size_t{20000}, size_t{100000}, size_t{900000}}) {
      if (size > each.most) continue;
      const auto bad = [&](void* at, const char* why) {
        expect(each.call(at, size), cudaErrorInvalidValue, each.name + std::string(", ") + why);
        cudaGetLastError();
      };
      const size_t there = (size + kPage - 1) / kPage * kPage;
      bad(reinterpret_cast<void*>(8), "next to null");
      bad(reinterpret_cast<void*>(0x7ff0'0000'0000), "at no memory");
      if (each.name != std::string("cudaHostRegister")) {
        char* const closed = pages(there, PROT_NONE);
        bad(closed + there, "at a page that cannot be read");
        munmap(closed, there + kMost);
      }
      char* const short_of = pages(there, -1);
      bad(short_of + there - (size + 1) / 2 + 1, "up to behind the end of memory");
      munmap(short_of, there + kMost);
      if (!each.reads) {
        char* const fixed = pages(there, PROT_READ);
        bad(fixed + there, "at a page that cannot be written");
        bad(fixed + there - (size + 1) / 2 + 1, "up to a page that cannot be written");
        munmap(fixed, there + kMost);
      }
    }
  }
  all_good();
  // Parts of a device buffer that comes by often go by another way.
  static std::vector<char> good(2 * kMost);
  for (int i = 0; i < 60; ++i) cudaMemcpy(device, good.data(), kMost, to_device);
  expect(cudaMemcpy(device, reinterpret_cast<void*>(8), kMost, to_device), cudaErrorInvalidValue, "often, to");
  expect(cudaMemcpy(reinterpret_cast<void*>(8), device, kMost, to_host), cudaErrorInvalidValue, "often, from");
  cudaGetLastError();

  // Managed memory that the program has unmapped.
  for (const size_t size : {kPage, size_t{1} << 19}) {
    int* managed = nullptr;
    expect(cudaMallocManaged(&managed, size), cudaSuccess, "managed memory");
    *managed = 5;
    munmap(managed, size);
    add<<<1, 32>>>(managed);
    expect(cudaGetLastError(), cudaErrorInvalidValue, "a launch with unmapped managed memory");
    expect(cudaMemset(managed, 0, size), cudaErrorInvalidValue, "a fill of unmapped managed memory");
    expect(cudaFree(managed), cudaSuccess, "to free it");
  }
  cudaGetLastError();

  // Arguments of kernels.
  void* none[] = {nullptr};
  const auto* const kernel = reinterpret_cast<const void*>(add);
  expect(cudaLaunchKernel(kernel, 1, 32, nullptr, 0, 0), cudaErrorInvalidValue, "no arguments");
  expect(cudaLaunchKernel(kernel, 1, 32, none, 0, 0), cudaErrorInvalidValue, "a null argument");
  all_good();
  std::printf(failures == 0 ? "PASSED\n" : "FAILED\n");
}
