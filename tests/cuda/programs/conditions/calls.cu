// What calls say of parameters that CUDA does not allow: devices, streams, events.
#include <cstdint>
#include <cstring>

#include "rows.h"

constexpr cudaError_t kValue = cudaErrorInvalidValue, kDevice = cudaErrorInvalidDevice,
                      kHandle = cudaErrorInvalidResourceHandle;
static cudaStream_t s, gone;
static cudaEvent_t event, gone_event;
static char* d;
static char host[4096];
constexpr size_t kBytes = 1024, kMost = SIZE_MAX;
static const int kNoDevices[] = {-1, 1, 7};

static void devices() {
  cudaDeviceProp properties;
  cudaMemPool_t pool;
  char text[32];
  int value;
  unsigned flags;
  size_t size;
  for (const int no : kNoDevices) {
    ROW(kDevice, cudaSetDevice(no));
    ROW(kDevice, cudaGetDeviceProperties(&properties, no));
    ROW(kDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, no));
    ROW(kDevice, cudaDeviceGetPCIBusId(text, sizeof text, no));
    ROW(kDevice, cudaDeviceGetDefaultMemPool(&pool, no));
    ROW(kValue, cudaDeviceGetMemPool(&pool, no));
    ROW(kDevice, cudaDeviceCanAccessPeer(&value, no, 0));
    ROW(kDevice, cudaDeviceCanAccessPeer(&value, 0, no));
    ROW(kDevice, cudaDeviceEnablePeerAccess(no, 0));
    ROW(kDevice, cudaDeviceDisablePeerAccess(no));
    ROW(kDevice, cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, no));
    ROW(kDevice, cudaInitDevice(no, 0, 0));
    ROW(kDevice, cudaSetValidDevices(const_cast<int*>(&no), 1));
    ROW(kDevice, cudaDeviceGraphMemTrim(no));
    ROW(kDevice, cudaDeviceGetGraphMemAttribute(no, cudaGraphMemAttrUsedMemHigh, &size));
    ROW(kDevice, cudaMemcpyPeer(d, no, d + 8, 0, 8));
    ROW(kDevice, cudaMemcpyPeer(d, 0, d + 8, no, 8));
    ROW(kDevice, cudaMemcpyPeerAsync(d, no, d + 8, 0, 8, s));
  }
  ROW(kValue, cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(-1), 0));
  ROW(kValue, cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
  ROW(kValue, cudaDeviceGetPCIBusId(text, 0, 0));
  ROW(kValue, cudaDeviceGetPCIBusId(text, -1, 0));
  ROW(kDevice, cudaDeviceGetByPCIBusId(&value, "0000:77:00.0"));
  ROW(kDevice, cudaDeviceGetByPCIBusId(&value, "no number"));
  ROW(kValue, cudaDeviceEnablePeerAccess(0, 1));
  ROW(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(0));
  ROW(cudaErrorUnsupportedLimit, cudaDeviceSetLimit(static_cast<cudaLimit>(-1), 1024));
  ROW(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&size, static_cast<cudaLimit>(7)));
  ROW(kValue, cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  ROW(kValue, cudaDeviceSetLimit(cudaLimitMallocHeapSize, kMost));
  OK(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
  OK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
  ROW(kValue, cudaSetDeviceFlags(0x100));
  ROW(kValue, cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield));
  OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
  OK(cudaGetDeviceFlags(&flags));
  cudaFuncCache cache;
  cudaSharedMemConfig banks;
  ROW(kValue, cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(-1)));
  ROW(kValue, cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(3)));
  OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  OK(cudaDeviceGetCacheConfig(&cache));
  OK(cudaDeviceGetSharedMemConfig(&banks));
  ROW(kValue, cudaSetValidDevices(nullptr, 1));
  OK(cudaSetDevice(0));
  OK(cudaGetDevice(&value));
  OK(cudaGetDeviceCount(&value));
  OK(cudaChooseDevice(&value, &properties));
  OK(cudaDriverGetVersion(&value));
  OK(cudaRuntimeGetVersion(&value));
  int least, greatest;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
  ROW(kValue, cudaGetDriverEntryPoint(nullptr, &function, cudaEnableDefault, &result));
  ROW(cudaErrorSymbolNotFound, cudaGetDriverEntryPoint("cuNothing", &function, cudaEnableDefault, nullptr));
  HOLDS(std::strcmp(cudaGetErrorName(cudaErrorStreamCaptureWrongThread), "cudaErrorStreamCaptureWrongThread") == 0);
  HOLDS(std::strcmp(cudaGetErrorName(cudaErrorCapturedEvent), "cudaErrorCapturedEvent") == 0);
  HOLDS(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code") == 0);
  HOLDS(std::strcmp(cudaGetErrorString(cudaErrorUnsupportedLimit), "limit is not supported on this architecture") == 0);
}

static void streams() {
  cudaStream_t made;
  unsigned flags;
  unsigned long long id;
  int value;
  cudaStreamAttrValue window = {};
  ROW(kValue, cudaStreamCreate(nullptr));
  ROW(kValue, cudaStreamCreateWithFlags(nullptr, cudaStreamDefault));
  ROW(kValue, cudaStreamCreateWithFlags(&made, 2));
  ROW(kValue, cudaStreamCreateWithFlags(&made, 0xff));
  ROW(kValue, cudaStreamCreateWithPriority(&made, 4, 0));
  OK(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, -100));
  OK(cudaStreamGetPriority(made, &value));
  HOLDS(value == 0);
  OK(cudaStreamGetFlags(made, &flags));
  HOLDS(flags == cudaStreamNonBlocking);
  OK(cudaStreamDestroy(made));
  const cudaStream_t none = gone;
  {
    ROW(kHandle, cudaStreamDestroy(none));
    ROW(kHandle, cudaStreamSynchronize(none));
    ROW(kHandle, cudaStreamQuery(none));
    ROW(kHandle, cudaStreamWaitEvent(none, event, 0));
    ROW(kHandle, cudaEventRecord(event, none));
    ROW(kHandle, cudaStreamGetFlags(none, &flags));
    ROW(kHandle, cudaStreamGetPriority(none, &value));
    ROW(kHandle, cudaStreamGetId(none, &id));
    ROW(kHandle, cudaStreamGetDevice(none, &value));
    ROW(kHandle, cudaStreamAddCallback(
                     none, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0));
    ROW(kHandle, cudaLaunchHostFunc(
                     none, [](void*) {}, nullptr));
    ROW(kHandle, cudaMemcpyAsync(d, host, 8, cudaMemcpyHostToDevice, none));
    ROW(kHandle, cudaMemsetAsync(d, 0, 8, none));
    ROW(kHandle, cudaMallocAsync(reinterpret_cast<void**>(&made), 8, none));
    ROW(kHandle, cudaFreeAsync(d, none));
    ROW(kHandle, cudaStreamSetAttribute(none, cudaStreamAttributePriority, &window));
    ROW(kHandle, cudaStreamGetAttribute(none, cudaStreamAttributePriority, &window));
    ROW(kHandle, cudaStreamCopyAttributes(none, s));
    ROW(kHandle, cudaStreamCopyAttributes(s, none));
    ROW(kHandle, cudaStreamBeginCapture(none, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    ROW(kHandle, cudaStreamIsCapturing(none, &status));
  }
  const cudaStream_t kStandard[] = {nullptr, cudaStreamLegacy, cudaStreamPerThread};
  for (const cudaStream_t standard : kStandard) {
    ROW(kHandle, cudaStreamDestroy(standard));
    OK(cudaStreamGetFlags(standard, &flags));
    HOLDS(flags == cudaStreamDefault);
    OK(cudaStreamGetId(standard, &id));
    OK(cudaStreamGetPriority(standard, &value));
    OK(cudaStreamGetDevice(standard, &value));
    OK(cudaStreamSynchronize(standard));
    OK(cudaStreamQuery(standard));
  }
  ROW(kValue, cudaStreamWaitEvent(s, event, 2));
  ROW(kValue, cudaStreamAddCallback(s, nullptr, nullptr, 0));
  ROW(kValue, cudaStreamAddCallback(
                  s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1));
  ROW(kValue, cudaLaunchHostFunc(s, nullptr, nullptr));
  ROW(kValue, cudaStreamSetAttribute(s, cudaLaunchAttributeClusterDimension, &window));
  ROW(kValue, cudaStreamGetAttribute(s, static_cast<cudaLaunchAttributeID>(-1), &window));
  OK(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &window));
  OK(cudaStreamCopyAttributes(s, s));
  OK(cudaCtxResetPersistingL2Cache());
}

__global__ void spin(int* p, int rounds) {
  int x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) x = x * 1664525 + 1013904223;
  p[threadIdx.x] = x;
}

static void events() {
  cudaEvent_t a, b, untimed, never;
  float ms = -1;
  ROW(kValue, cudaEventCreate(nullptr));
  ROW(kValue, cudaEventCreateWithFlags(nullptr, 0));
  ROW(kValue, cudaEventCreateWithFlags(&a, cudaEventInterprocess));
  ROW(kValue, cudaEventCreateWithFlags(&a, 8));
  ROW(kValue, cudaEventCreateWithFlags(&a, 0x08000000));
  OK(cudaEventCreateWithFlags(&a, cudaEventInterprocess | cudaEventDisableTiming));
  OK(cudaEventDestroy(a));
  OK(cudaEventCreate(&a));
  OK(cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  OK(cudaEventCreate(&never));
  const cudaEvent_t none[] = {nullptr, gone_event};
  for (const cudaEvent_t no : none) {
    ROW(kHandle, cudaEventDestroy(no));
    ROW(kHandle, cudaEventQuery(no));
    ROW(kHandle, cudaEventSynchronize(no));
    ROW(kHandle, cudaEventRecord(no, s));
    ROW(kHandle, cudaEventRecordWithFlags(no, s, cudaEventRecordExternal));
    ROW(kHandle, cudaStreamWaitEvent(s, no, 0));
    ROW(kHandle, cudaEventElapsedTime(&ms, no, a));
    ROW(kHandle, cudaEventElapsedTime(&ms, a, no));
  }
  ROW(kValue, cudaEventRecordWithFlags(a, s, 2));
  OK(cudaEventQuery(never));
  OK(cudaEventSynchronize(never));
  OK(cudaStreamWaitEvent(s, never, 0));
  OK(cudaEventRecord(a, s));
  OK(cudaEventRecord(untimed, s));
  spin<<<1, 32, 0, s>>>(reinterpret_cast<int*>(d), 2000);
  OK(cudaGetLastError());
  OK(cudaEventRecord(b, s));
  ROW(kValue, cudaEventElapsedTime(nullptr, a, b));
  ROW(kHandle, cudaEventElapsedTime(&ms, a, never));
  ROW(kHandle, cudaEventElapsedTime(&ms, never, a));
  ROW(kHandle, cudaEventElapsedTime(&ms, never, never));
  ROW(kHandle, cudaEventElapsedTime(&ms, a, untimed));
  ROW(kHandle, cudaEventElapsedTime(&ms, untimed, a));
  ROW(cudaErrorNotReady, cudaEventQuery(b));
  ROW(cudaErrorNotReady, cudaStreamQuery(s));
  ROW(cudaErrorNotReady, cudaEventElapsedTime(&ms, a, b));
  HOLDS(ms == -1);
  OK(cudaEventSynchronize(b));
  OK(cudaEventElapsedTime(&ms, a, b));
  HOLDS(ms > 0);
  ROW(kHandle, cudaEventElapsedTime(&ms, untimed, untimed));
}

int main() {
  OK(cudaMalloc(&d, kBytes));
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&gone));
  OK(cudaStreamDestroy(gone));
  OK(cudaEventCreate(&event));
  OK(cudaEventCreate(&gone_event));
  OK(cudaEventDestroy(gone_event));
  devices();
  streams();
  events();
  OK(cudaThreadSynchronize());
  OK(cudaProfilerStart());
  OK(cudaProfilerStop());
  OK(cudaDeviceReset());
  OK(cudaThreadExit());
  return finish();
}
