// What may be done while streams record graphs, and what becomes of the graph: every code of 900 to 908.
#include <thread>

#include "rows.h"

__global__ void add(int* p) {
  *p += 1;
}
__device__ int variable;

static cudaStream_t s, other, apart;  // the last one does not wait for the default stream
static cudaEvent_t event, before, captured;
static int *d, *managed, *pinned;
static void* made;
static int host;
constexpr cudaStreamCaptureMode kGlobal = cudaStreamCaptureModeGlobal, kLocal = cudaStreamCaptureModeThreadLocal,
                                kRelaxed = cudaStreamCaptureModeRelaxed;
static const cudaStreamCaptureMode kModes[] = {kGlobal, kLocal, kRelaxed}, kStrict[] = {kGlobal, kLocal};

static cudaError_t launched(cudaStream_t stream, unsigned threads = 1) {
  void* arguments[] = {&d};
  return cudaLaunchKernel((const void*)add, dim3(1), dim3(threads), arguments, 0, stream);
}
static cudaStreamCaptureStatus status_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  OK(cudaStreamIsCapturing(stream, &status));
  return status;
}
static void ends(cudaStream_t stream, cudaError_t expected) {
  int line = 0;
  cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(&line);
  ROW(expected, cudaStreamEndCapture(stream, &graph));
  HOLDS((graph != nullptr) == (expected == cudaSuccess));
  if (expected == cudaSuccess) OK(cudaGraphDestroy(graph));
  if (expected != cudaErrorStreamCaptureUnmatched && expected != cudaErrorStreamCaptureWrongThread) {
    HOLDS(status_of(stream) == cudaStreamCaptureStatusNone);
  }
}
static int line_of_row = 0;
template <class Call>
static void while_recording(const char* text, int line, cudaStream_t stream, cudaStreamCaptureMode mode,
                            cudaError_t expected, bool spoils, Call call) {
  const int had = wrong;
  line_of_row = line;
  OK(cudaStreamBeginCapture(stream, mode));
  OK(launched(stream));
  row(text, line, call(), expected);
  HOLDS(status_of(stream) == (spoils ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive));
  if (spoils) {
    ROW(cudaErrorStreamCaptureInvalidated, launched(stream));
    ROW(cudaErrorStreamCaptureInvalidated, cudaEventRecord(captured, stream));
    ROW(cudaErrorStreamCaptureInvalidated, cudaMemsetAsync(d, 0, 4, stream));
  }
  ends(stream, spoils ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
  if (wrong != had) std::printf("  of line %d\n", line_of_row);
}
#define SPOILS(stream, mode, expected, call) \
  while_recording(#call, __LINE__, stream, mode, expected, true, [&] { return call; })
#define KEEPS(stream, mode, expected, call) \
  while_recording(#call, __LINE__, stream, mode, expected, false, [&] { return call; })

constexpr cudaError_t kUnsupported = cudaErrorStreamCaptureUnsupported, kImplicit = cudaErrorStreamCaptureImplicit;

static void waits() {
  for (const cudaStreamCaptureMode mode : kModes) {
    SPOILS(s, mode, kUnsupported, cudaStreamSynchronize(s));
    SPOILS(s, mode, kUnsupported, cudaStreamQuery(s));
    SPOILS(s, mode, kUnsupported, cudaDeviceSynchronize());
    SPOILS(apart, mode, kUnsupported, cudaDeviceSynchronize());
    SPOILS(s, mode, kUnsupported,
           cudaStreamAddCallback(
               s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0));
    SPOILS(s, mode, kUnsupported, cudaStreamAttachMemAsync(s, managed));
    SPOILS(s, mode, kUnsupported, cudaMemPrefetchAsync(managed, 4, 0, s));
  }
  SPOILS(s, kGlobal, kUnsupported, cudaThreadSynchronize());
  SPOILS(s, kGlobal, kUnsupported, cudaDeviceReset());
  SPOILS(s, kGlobal, kUnsupported, cudaStreamSynchronize(other));
  SPOILS(s, kLocal, kUnsupported, cudaStreamQuery(other));
  SPOILS(s, kGlobal, kUnsupported, cudaEventSynchronize(before));
  SPOILS(s, kLocal, kUnsupported, cudaEventQuery(before));
  KEEPS(s, kRelaxed, cudaSuccess, cudaStreamSynchronize(other));
  KEEPS(s, kRelaxed, cudaSuccess, cudaStreamQuery(other));
  KEEPS(s, kRelaxed, cudaSuccess, cudaEventSynchronize(before));
  KEEPS(s, kRelaxed, cudaSuccess, cudaEventQuery(before));
}

static void unsafe() {
  for (const cudaStreamCaptureMode mode : kStrict) {
    SPOILS(s, mode, kUnsupported, cudaMalloc(&made, 4));
    SPOILS(apart, mode, kUnsupported, cudaMalloc(&made, 4));
    SPOILS(s, mode, kUnsupported, cudaMallocManaged(&made, 4));
    SPOILS(s, mode, kUnsupported, cudaMallocHost(&made, 4));
    SPOILS(s, mode, kUnsupported, cudaHostAlloc(&made, 4, 0));
    SPOILS(s, mode, kUnsupported, cudaFree(d));
    SPOILS(s, mode, kUnsupported, cudaFreeHost(pinned));
    SPOILS(s, mode, kUnsupported, cudaHostRegister(&host, 4, 0));
    SPOILS(s, mode, kUnsupported, cudaHostUnregister(&host));
  }
  size_t pitch;
  cudaPitchedPtr box;
  cudaArray_t array;
  cudaMemPool_t pool;
  unsigned long long threshold = 0;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  SPOILS(s, kGlobal, kUnsupported, cudaMallocPitch(&made, &pitch, 4, 4));
  SPOILS(s, kGlobal, kUnsupported, cudaMalloc3D(&box, make_cudaExtent(4, 4, 4)));
  SPOILS(s, kGlobal, kUnsupported, cudaMallocArray(&array, &format, 4, 4));
  SPOILS(s, kGlobal, kUnsupported, cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  KEEPS(s, kGlobal, cudaSuccess, cudaFree(nullptr));
  KEEPS(s, kGlobal, cudaSuccess, cudaFreeHost(nullptr));
  KEEPS(s, kGlobal, cudaSuccess, cudaMallocAsync(&made, 4, other));
  KEEPS(s, kGlobal, cudaSuccess, cudaFreeAsync(made, other));
  KEEPS(s, kRelaxed, cudaSuccess, cudaMalloc(&made, 4));
  KEEPS(s, kRelaxed, cudaSuccess, cudaFree(made));
  // The thread's own mode.
  cudaStreamCaptureMode mode = kRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  HOLDS(mode == kGlobal);
  KEEPS(s, kGlobal, cudaSuccess, cudaMalloc(&made, 4));
  KEEPS(s, kGlobal, cudaSuccess, cudaFree(made));
  KEEPS(s, kGlobal, cudaSuccess, cudaStreamSynchronize(other));
  SPOILS(s, kGlobal, kImplicit, cudaMemcpy(&host, d, 4, cudaMemcpyDeviceToHost));
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  HOLDS(mode == kRelaxed);
  mode = static_cast<cudaStreamCaptureMode>(3);
  ROW(cudaErrorInvalidValue, cudaThreadExchangeStreamCaptureMode(&mode));
  ROW(cudaErrorInvalidValue, cudaThreadExchangeStreamCaptureMode(nullptr));
  HOLDS(mode == 3);
}

static void legacy() {
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(d, 4, 4, 1);
  box.dstPtr = make_cudaPitchedPtr(&host, 4, 4, 1);
  box.extent = make_cudaExtent(4, 1, 1);
  box.kind = cudaMemcpyDeviceToHost;
  for (const cudaStreamCaptureMode mode : kModes) {
    SPOILS(s, mode, kImplicit, launched(nullptr));
    SPOILS(s, mode, kImplicit, launched(cudaStreamLegacy));
    SPOILS(s, mode, kImplicit, cudaMemcpy(d, &host, 4, cudaMemcpyHostToDevice));
    SPOILS(s, mode, kImplicit, cudaMemset(d, 0, 4));
  }
  SPOILS(s, kGlobal, kImplicit, cudaMemcpyAsync(d, &host, 4, cudaMemcpyHostToDevice, nullptr));
  SPOILS(s, kGlobal, kImplicit, cudaMemsetAsync(d, 0, 4, nullptr));
  SPOILS(s, kGlobal, kImplicit, cudaMemcpy2D(d, 4, &host, 4, 4, 1, cudaMemcpyHostToDevice));
  SPOILS(s, kGlobal, kImplicit, cudaMemcpy3D(&box));
  SPOILS(s, kGlobal, kImplicit, cudaMemset2D(d, 4, 0, 4, 1));
  SPOILS(s, kGlobal, kImplicit, cudaMemset3D(make_cudaPitchedPtr(d, 4, 4, 1), 0, box.extent));
  SPOILS(s, kGlobal, kImplicit, cudaMemcpyToSymbol(variable, &host, 4));
  SPOILS(s, kGlobal, kImplicit, cudaMemcpyFromSymbol(&host, variable, 4));
  SPOILS(s, kGlobal, kImplicit, cudaMemcpyPeer(d, 0, d, 0, 4));
  SPOILS(s, kGlobal, kImplicit, cudaEventRecord(event, nullptr));
  SPOILS(s, kGlobal, kImplicit, cudaStreamWaitEvent(nullptr, before, 0));
  SPOILS(s, kGlobal, kImplicit, cudaStreamSynchronize(nullptr));
  SPOILS(s, kGlobal, kImplicit, cudaStreamQuery(nullptr));
  SPOILS(s, kGlobal, kImplicit,
         cudaLaunchHostFunc(
             nullptr, [](void*) {}, nullptr));
  SPOILS(s, kGlobal, kImplicit, cudaMallocAsync(&made, 4, nullptr));
  SPOILS(s, kGlobal, kImplicit, cudaMemPrefetchAsync(managed, 4, 0, nullptr));
  cudaStreamCaptureStatus status;
  unsigned long long id;
  KEEPS(s, kGlobal, kImplicit, cudaStreamIsCapturing(nullptr, &status));
  KEEPS(s, kGlobal, kImplicit, cudaStreamGetCaptureInfo(cudaStreamLegacy, &status, &id));
  KEEPS(s, kGlobal, cudaSuccess, cudaStreamIsCapturing(other, &status));
  KEEPS(s, kGlobal, cudaSuccess, launched(other));
  // A stream that the default stream does not wait for.
  KEEPS(apart, kGlobal, cudaSuccess, launched(nullptr));
  KEEPS(apart, kGlobal, cudaSuccess, cudaMemset(d, 0, 4));
  KEEPS(apart, kGlobal, cudaSuccess, cudaStreamIsCapturing(nullptr, &status));
  SPOILS(apart, kGlobal, kUnsupported, cudaMemcpy(d, &host, 4, cudaMemcpyHostToDevice));
  SPOILS(apart, kGlobal, kUnsupported, cudaStreamSynchronize(nullptr));
  KEEPS(apart, kRelaxed, cudaSuccess, cudaMemcpy(d, &host, 4, cudaMemcpyHostToDevice));
  OK(cudaDeviceSynchronize());
  ROW(kUnsupported, cudaStreamBeginCapture(nullptr, kGlobal));
  ROW(kUnsupported, cudaStreamBeginCapture(cudaStreamLegacy, kRelaxed));
  KEEPS(cudaStreamPerThread, kGlobal, cudaSuccess, launched(other));
  SPOILS(cudaStreamPerThread, kGlobal, kImplicit, launched(nullptr));
}

static void events() {
  float ms;
  for (const cudaStreamCaptureMode mode : kModes) {
    SPOILS(s, mode, cudaErrorCapturedEvent, (cudaEventRecord(event, s), cudaEventQuery(event)));
    SPOILS(s, mode, cudaErrorCapturedEvent, (cudaEventRecord(event, s), cudaEventSynchronize(event)));
    SPOILS(s, mode, cudaErrorCapturedEvent, (cudaEventRecord(event, s), cudaEventElapsedTime(&ms, before, event)));
    SPOILS(s, mode, cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(s, before, 0));
  }
  KEEPS(s, kGlobal, cudaSuccess, cudaStreamWaitEvent(s, before, cudaEventWaitExternal));
  KEEPS(s, kGlobal, cudaSuccess, cudaEventRecordWithFlags(before, s, cudaEventRecordExternal));
  KEEPS(s, kGlobal, cudaSuccess, cudaStreamWaitEvent(other, before, 0));
  KEEPS(s, kGlobal, cudaSuccess, cudaEventRecord(before, other));
  // Behind the graph's end it is still an event of the graph, until it is recorded anew.
  KEEPS(s, kGlobal, cudaSuccess, cudaEventRecord(event, s));
  ROW(cudaErrorCapturedEvent, cudaEventQuery(event));
  ROW(cudaErrorCapturedEvent, cudaEventSynchronize(event));
  ROW(cudaErrorCapturedEvent, cudaEventElapsedTime(&ms, event, before));
  ROW(cudaErrorCapturedEvent, cudaStreamWaitEvent(other, event, 0));
  OK(cudaEventRecord(event, other));
  OK(cudaEventSynchronize(event));
  cudaEvent_t never;
  OK(cudaEventCreate(&never));
  KEEPS(s, kGlobal, cudaSuccess, cudaStreamWaitEvent(s, never, 0));
  KEEPS(s, kGlobal, cudaSuccess, cudaEventDestroy(never));
}

// Streams that join by events.
static void forks() {
  const auto fork = [](cudaStream_t to) {
    OK(cudaStreamBeginCapture(s, kGlobal));
    OK(launched(s));
    OK(cudaEventRecord(event, s));
    OK(cudaStreamWaitEvent(to, event, 0));
    HOLDS(status_of(to) == cudaStreamCaptureStatusActive);
  };
  const auto join = [](cudaStream_t from) {
    OK(cudaEventRecord(event, from));
    OK(cudaStreamWaitEvent(s, event, 0));
  };
  fork(other);
  OK(launched(other));
  ends(s, cudaErrorStreamCaptureUnjoined);
  HOLDS(status_of(other) == cudaStreamCaptureStatusNone);
  fork(other);
  OK(launched(other));
  join(other);
  OK(launched(other));
  ends(s, cudaErrorStreamCaptureUnjoined);
  fork(other);
  ends(s, cudaSuccess);  // it has no work of its own
  fork(other);
  OK(launched(other));
  join(other);
  ends(s, cudaSuccess);
  HOLDS(status_of(other) == cudaStreamCaptureStatusNone);
  fork(other);
  OK(launched(other));
  join(other);
  ends(other, cudaErrorStreamCaptureUnmatched);
  ends(s, cudaErrorStreamCaptureInvalidated);
  fork(other);
  ROW(kUnsupported, cudaStreamSynchronize(other));  // spoils it for both
  HOLDS(status_of(s) == cudaStreamCaptureStatusInvalidated && status_of(other) == cudaStreamCaptureStatusInvalidated);
  ROW(cudaErrorStreamCaptureInvalidated, launched(other));
  ends(s, cudaErrorStreamCaptureInvalidated);
  OK(launched(other));
  fork(other);
  ROW(cudaErrorIllegalState, cudaStreamBeginCapture(other, kGlobal));
  ROW(cudaErrorIllegalState, cudaStreamBeginCapture(s, kGlobal));
  ends(s, cudaSuccess);
  // What joined makes the default stream wait, or does not.
  OK(cudaStreamBeginCapture(apart, kGlobal));
  OK(cudaEventRecord(event, apart));
  OK(launched(nullptr));
  OK(cudaStreamWaitEvent(s, event, 0));
  ROW(kImplicit, launched(nullptr));
  ends(apart, cudaErrorStreamCaptureInvalidated);
  OK(cudaStreamBeginCapture(apart, kGlobal));
  OK(cudaEventRecord(event, apart));
  ROW(kUnsupported, cudaStreamWaitEvent(nullptr, event, 0));
  ends(apart, cudaErrorStreamCaptureInvalidated);
  // Two graphs do not become one.
  OK(cudaStreamBeginCapture(s, kGlobal));
  OK(cudaStreamBeginCapture(other, kGlobal));
  OK(cudaEventRecord(event, s));
  ROW(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(other, event, 0));
  ends(other, cudaErrorStreamCaptureInvalidated);
  ends(s, cudaErrorStreamCaptureInvalidated);
  // A stream that is destroyed, joined and not.
  cudaStream_t gone;
  OK(cudaStreamCreate(&gone));
  fork(gone);
  OK(launched(gone));
  join(gone);
  OK(cudaStreamDestroy(gone));
  ends(s, cudaSuccess);
  OK(cudaStreamCreate(&gone));
  fork(gone);
  OK(launched(gone));
  OK(cudaStreamDestroy(gone));
  ends(s, cudaErrorStreamCaptureInvalidated);
  OK(cudaStreamCreate(&gone));
  OK(cudaStreamBeginCapture(gone, kGlobal));
  OK(cudaStreamDestroy(gone));
  cudaGraph_t graph;
  ROW(cudaErrorInvalidResourceHandle, cudaStreamEndCapture(gone, &graph));
  OK(cudaDeviceSynchronize());
}

static void threads() {
  const auto elsewhere = [](auto call) { std::thread(call).join(); };
  const auto with = [](cudaStreamCaptureMode mode) { OK(cudaThreadExchangeStreamCaptureMode(&mode)); };
  for (const cudaStreamCaptureMode mode : kModes) {
    const bool heard = mode == kGlobal;
    const cudaError_t end = heard ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    OK(cudaStreamBeginCapture(s, mode));
    elsewhere([&] { ROW(heard ? kUnsupported : cudaSuccess, cudaMalloc(&made, 4)); });
    ends(s, end);
    OK(cudaStreamBeginCapture(s, mode));
    elsewhere([&] { ROW(heard ? kUnsupported : cudaSuccess, cudaStreamSynchronize(other)); });
    ends(s, end);
    OK(cudaStreamBeginCapture(s, mode));
    elsewhere([&] {
      with(kLocal);
      OK(cudaMalloc(&made, 4));
      OK(cudaFree(made));
    });
    elsewhere([&] { ROW(kUnsupported, cudaDeviceSynchronize()); });
    ends(s, cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamBeginCapture(s, mode));
    elsewhere([&] { OK(launched(s)); });
    elsewhere([&] { ends(s, mode == kRelaxed ? cudaSuccess : cudaErrorStreamCaptureWrongThread); });
    if (mode != kRelaxed) ends(s, cudaErrorStreamCaptureInvalidated);
  }
}

static void parameters() {
  cudaGraph_t graph, known;
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  const cudaGraphNode_t* last;
  size_t count = 0;
  ROW(cudaErrorInvalidValue, cudaStreamBeginCapture(s, static_cast<cudaStreamCaptureMode>(-1)));
  ROW(cudaErrorInvalidValue, cudaStreamBeginCapture(s, static_cast<cudaStreamCaptureMode>(3)));
  ROW(cudaErrorIllegalState, cudaStreamEndCapture(s, &graph));
  ROW(cudaErrorIllegalState, cudaStreamEndCapture(nullptr, &graph));
  KEEPS(s, kGlobal, cudaErrorInvalidValue, cudaStreamEndCapture(s, nullptr));
  KEEPS(s, kGlobal, cudaErrorInvalidValue, cudaStreamIsCapturing(s, nullptr));
  KEEPS(s, kGlobal, cudaErrorInvalidConfiguration, launched(s, 1025));
  OK(cudaStreamGetCaptureInfo(s, &status, &id, &known, &last, &count));
  HOLDS(status == cudaStreamCaptureStatusNone && id == 0);
  ROW(cudaErrorIllegalState, cudaStreamUpdateCaptureDependencies(s, nullptr, 0, 0));
  OK(cudaStreamBeginCapture(s, kGlobal));
  OK(launched(s));
  OK(cudaStreamGetCaptureInfo_v2(s, &status, &id, &known, &last, &count));
  HOLDS(status == cudaStreamCaptureStatusActive && id != 0 && count == 1);
  cudaGraphNode_t empty;
  OK(cudaGraphAddEmptyNode(&empty, known, last, count));
  ROW(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(s, &empty, 1, 20));
  ROW(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(s, nullptr, 1, 0));
  ROW(cudaErrorInvalidValue, cudaGraphDestroy(known));
  ROW(cudaErrorInvalidValue, cudaGraphDestroyNode(empty));
  // A literal zero is release 11's count, where four arguments may be either; release 13's edges, where there are five.
  ROW(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(s, &empty, 0, 20));
  ROW(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(s, &empty, 0, 1, 20));
  ROW(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(s, &empty, nullptr, 1, 20));
  OK(cudaStreamUpdateCaptureDependencies(s, &empty, nullptr, 1));
  OK(cudaStreamUpdateCaptureDependencies(s, &empty, 1, cudaStreamSetCaptureDependencies));
  OK(cudaStreamEndCapture(s, &graph));
  OK(cudaGraphCreate(&known, 0));
  ROW(cudaErrorInvalidValue, cudaStreamBeginCaptureToGraph(s, known, &empty, nullptr, 1, kGlobal));
  ROW(cudaErrorInvalidValue, cudaStreamBeginCaptureToGraph(s, nullptr, nullptr, nullptr, 0, kGlobal));
  OK(cudaStreamBeginCaptureToGraph(s, known, nullptr, nullptr, 0, kGlobal));
  ROW(cudaErrorInvalidValue, cudaGraphDestroy(known));
  ROW(kUnsupported, cudaMalloc(&made, 4));
  ends(s, cudaErrorStreamCaptureInvalidated);
  OK(cudaGraphDestroy(known));
  OK(cudaGraphDestroy(graph));
}

int main() {
  OK(cudaMalloc(&d, 4));
  OK(cudaMallocManaged(&managed, 4));
  OK(cudaMallocHost(&pinned, 4));
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&other));
  OK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
  OK(cudaEventCreate(&event));
  OK(cudaEventCreate(&before));
  OK(cudaEventCreate(&captured));
  OK(cudaEventRecord(before, s));
  OK(cudaDeviceSynchronize());
  waits();
  unsafe();
  legacy();
  events();
  forks();
  threads();
  parameters();
  // Nothing that was recorded has run.
  OK(cudaMemset(d, 0, 4));
  KEEPS(s, kGlobal, cudaSuccess, launched(s));
  OK(cudaMemcpy(&host, d, 4, cudaMemcpyDeviceToHost));
  HOLDS(host == 0);
  return finish();
}
