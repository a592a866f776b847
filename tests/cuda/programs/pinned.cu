// Kernels reach pinned memory that nobody has asked to be mapped, at the host's own address: as an argument, within a
// structure, by a pointer on the device. Registered memory has an address of its own for them.
#include <cstdio>
#include <cstdlib>
#include <cstring>

static int failures = 0;
#define CHECK(holds) ((holds) ? (void)0 : (void)(++failures, std::printf("line %d: %s\n", __LINE__, #holds)))
#define OK(call) CHECK((call) == cudaSuccess)

__global__ void add(int* to, const int* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}
struct List {
  int count;
  int* values;
};
__global__ void twice(List list) {
  if (threadIdx.x < list.count) list.values[threadIdx.x] *= 2;
}
__global__ void thrice(const List* list) {
  if (threadIdx.x < list->count) list->values[threadIdx.x] *= 3;
}
__constant__ List constant_list;
__global__ void minus() {
  if (threadIdx.x < constant_list.count) constant_list.values[threadIdx.x] -= 1;
}

int main() {
  const int n = 100;
  size_t free_before, free_after, total;
  OK(cudaMemGetInfo(&free_before, &total));
  int *own, *combined, *d;
  OK(cudaMallocHost(&own, n * sizeof(int)));
  OK(cudaHostAlloc(&combined, n * sizeof(int), cudaHostAllocWriteCombined));
  for (int i = 0; i < n; ++i) {
    own[i] = i;
    combined[i] = 1000 * i;
  }
  // Kernels and copies by turns, in a stream.
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  add<<<1, 128, 0, stream>>>(own, combined, n);
  OK(cudaStreamSynchronize(stream));
  CHECK(own[7] == 7007);
  own[7] = 5;
  add<<<1, 128, 0, stream>>>(own + 4, combined + 4, n - 4);
  OK(cudaStreamSynchronize(stream));
  CHECK(own[7] == 7005 && own[3] == 3003 && own[99] == 198099);
  OK(cudaMemGetInfo(&free_after, &total));
  CHECK(free_after == free_before);  // it is the host's
  List list{n, own};
  twice<<<1, 128>>>(list);
  OK(cudaDeviceSynchronize());
  CHECK(own[7] == 14010);
  // Pointers that lie in device memory.
  int* other;
  OK(cudaMallocHost(&other, n * sizeof(int)));
  for (int i = 0; i < n; ++i) other[i] = i;
  list.values = other;
  List* on_device;
  OK(cudaMalloc(&on_device, sizeof list));
  OK(cudaMemcpy(on_device, &list, sizeof list, cudaMemcpyHostToDevice));
  thrice<<<1, 128>>>(on_device);
  OK(cudaDeviceSynchronize());
  CHECK(other[9] == 27);
  int* third;
  OK(cudaHostAlloc(&third, n * sizeof(int), cudaHostAllocPortable));
  std::memset(third, 0, n * sizeof(int));
  list.values = third;
  OK(cudaMemcpyToSymbol(constant_list, &list, sizeof list));
  minus<<<1, 128>>>();
  OK(cudaDeviceSynchronize());
  CHECK(third[0] == -1 && third[99] == -1);
  // Fills, attributes, the pointer of the device.
  int* fresh;
  OK(cudaMallocHost(&fresh, n * sizeof(int)));
  OK(cudaMemset(fresh, 1, n * sizeof(int)));
  CHECK(fresh[42] == 0x01010101);
  void* there = nullptr;
  OK(cudaHostGetDevicePointer(&there, fresh + 3, 0));
  CHECK(there == fresh + 3);
  cudaPointerAttributes of;
  OK(cudaMallocHost(&d, 8));
  OK(cudaPointerGetAttributes(&of, d));
  CHECK(of.type == cudaMemoryTypeHost && of.devicePointer == d && of.hostPointer == d);
  // Freed and made again, it is new; what was freed is not reached.
  OK(cudaFreeHost(own));
  int* again;
  OK(cudaMallocHost(&again, n * sizeof(int)));
  CHECK(again == own && again[7] == 0);
  add<<<1, 128>>>(again, combined, n);
  OK(cudaDeviceSynchronize());
  CHECK(again[7] == 7000);
  // Registered memory is mapped too, at an address of its own.
  int* registered = static_cast<int*>(std::calloc(n, sizeof(int)));
  OK(cudaHostRegister(registered, n * sizeof(int), cudaHostRegisterDefault));
  OK(cudaHostGetDevicePointer(&there, registered, 0));
  CHECK(there != registered);
  add<<<1, 128>>>(static_cast<int*>(there), combined, n);
  OK(cudaDeviceSynchronize());
  CHECK(registered[7] == 7000);
  OK(cudaHostUnregister(registered));
  for (int* pointer : {again, combined, other, third, fresh, d}) OK(cudaFreeHost(pointer));
  std::puts(failures == 0 ? "PASSED" : "FAILED");
  return failures != 0;
}
