// The driver API: a module from a file before anything else, one from memory later, launches in both forms.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call)                                                       \
  do {                                                                    \
    const CUresult result_ = (call);                                      \
    if (result_ != CUDA_SUCCESS) {                                        \
      const char* name_ = nullptr;                                        \
      cuGetErrorName(result_, &name_);                                    \
      std::printf("FAILED: %s in line %d: %s\n", #call, __LINE__, name_); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)
#define EXPECT(condition)                                           \
  do {                                                              \
    if (!(condition)) {                                             \
      std::printf("FAILED: %s in line %d\n", #condition, __LINE__); \
      std::exit(1);                                                 \
    }                                                               \
  } while (0)

// out[i] = i, as PTX written by hand.
static const char kCount[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry count(.param .u64 out, .param .u32 add)\n"
    "{ .reg .u64 %a, %o; .reg .u32 %i, %v;\n"
    "  ld.param.u64 %a, [out]; ld.param.u32 %v, [add]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4;\n"
    "  add.u64 %a, %a, %o; add.u32 %v, %v, %i; st.global.u32 [%a], %v; ret; }\n";

int main(int, char** arguments) {
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED);
  CHECK(cuInit(0));
  CUdevice device;
  CHECK(cuDeviceGet(&device, 0));
  EXPECT(cuDeviceGet(&device, 1) == CUDA_ERROR_INVALID_DEVICE);
  char name[64];
  int cores = 0;
  CHECK(cuDeviceGetName(name, sizeof name, device));
  CHECK(cuDeviceGetAttribute(&cores, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  EXPECT(std::strncmp(name, "Heddle ", 7) == 0 && cores > 0);
  CUdeviceptr v = 0;
  EXPECT(cuMemAlloc(&v, 4) == CUDA_ERROR_INVALID_CONTEXT);
  CUcontext context;
  CHECK(cuCtxCreate(&context, 0, device));

  CUmodule module;
  const std::string folder = std::string(arguments[0]).substr(0, std::string(arguments[0]).rfind('/') + 1);
  EXPECT(cuModuleLoad(&module, (folder + "none.ptx").c_str()) == CUDA_ERROR_FILE_NOT_FOUND);
  CHECK(cuModuleLoad(&module, (folder + "scale.ptx").c_str()));
  CUfunction scale;
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  EXPECT(cuModuleGetFunction(&scale, module, "skale") == CUDA_ERROR_NOT_FOUND);

  int most_blocks = 0;
  int best_size = 0;
  CHECK(cuOccupancyMaxPotentialBlockSize(&most_blocks, &best_size, scale, nullptr, 0, 96));
  EXPECT(best_size > 0 && best_size <= 96 && most_blocks >= cores && most_blocks % cores == 0);
  int reaches = 1;
  CHECK(cuDeviceCanAccessPeer(&reaches, device, device));
  EXPECT(reaches == 0 && cuDeviceCanAccessPeer(&reaches, device, 1) == CUDA_ERROR_INVALID_DEVICE);
  int texels = 1;
  CHECK(cuDeviceGetAttribute(&texels, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, device));
  EXPECT(texels == 0);
  static int own[64];
  CUdeviceptr there = 0;
  CHECK(cuMemHostRegister(own, sizeof own, CU_MEMHOSTREGISTER_DEVICEMAP));
  CHECK(cuMemHostGetDevicePointer(&there, own + 3, 0));
  EXPECT(there % 256 == 12);
  CHECK(cuMemHostUnregister(own));
  EXPECT(cuMemHostUnregister(own) != CUDA_SUCCESS);

  const int n = 200;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  CHECK(cuMemAlloc(&v, n * sizeof(float)));
  CHECK(cuMemcpyHtoD(v, host.data(), n * sizeof(float)));
  CUdeviceptr factor;
  std::size_t size = 0;
  CHECK(cuModuleGetGlobal(&factor, &size, module, "factor"));
  EXPECT(size == sizeof(float));
  const float three = 3;
  CHECK(cuMemcpyHtoD(factor, &three, sizeof three));
  CUevent start, stop;
  CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
  CHECK(cuEventRecord(start, nullptr));
  int count = n;
  void* by_pointer[] = {&v, &count};
  CHECK(cuLaunchKernel(scale, 4, 1, 1, 64, 1, 1, 0, nullptr, by_pointer, nullptr));
  CHECK(cuEventRecord(stop, nullptr));
  CHECK(cuEventSynchronize(stop));
  float milliseconds = 0;
  CHECK(cuEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds > 0);

  // A module that comes when others have run: variables of theirs keep their values.
  char log[256] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule later;
  EXPECT(cuModuleLoadDataEx(&later, ".version 6.0\n.target sm_60\nnonsense\n", 2, options, values) ==
         CUDA_ERROR_INVALID_PTX);
  EXPECT(std::strstr(log, "nonsense") != nullptr);
  CHECK(cuModuleLoadDataEx(&later, kCount, 0, nullptr, nullptr));
  CUfunction number;
  CHECK(cuModuleGetFunction(&number, later, "count"));
  CUdeviceptr numbers;
  CHECK(cuMemAlloc(&numbers, 64 * sizeof(unsigned)));
  CHECK(cuMemsetD32(numbers, 0xabcd1234U, 64));
  unsigned first = 0;
  CHECK(cuMemcpyDtoH(&first, numbers + 4, sizeof first));
  EXPECT(first == 0xabcd1234U);
  struct {
    CUdeviceptr out;
    unsigned add;
  } block = {numbers, 7};
  std::size_t bytes = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(number, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(cuLaunchKernel(scale, 4, 1, 1, 64, 1, 1, 0, nullptr, by_pointer, nullptr));
  CHECK(cuCtxSynchronize());
  std::vector<unsigned> counted(64);
  CHECK(cuMemcpyDtoH(counted.data(), numbers, 64 * sizeof(unsigned)));
  CHECK(cuMemcpyDtoH(host.data(), v, n * sizeof(float)));
  for (unsigned i = 0; i < 64; ++i) EXPECT(counted[i] == i + 7);
  for (int i = 0; i < n; ++i) EXPECT(host[i] == 9.0f * static_cast<float>(i));
  CUdeviceptr launches;
  int times = 0;
  CHECK(cuModuleGetGlobal(&launches, nullptr, module, "launches"));
  CHECK(cuMemcpyDtoH(&times, launches, sizeof times));
  EXPECT(times == 2);

  EXPECT(cuLaunchKernel(scale, 0, 1, 1, 64, 1, 1, 0, nullptr, by_pointer, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFree(v));
  EXPECT(cuMemFree(v) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleUnload(module));
  CHECK(cuCtxDestroy(context));
  std::printf("PASSED\n");
}
