// A program of the time of CUTIL, in which its header and OpenCL's are included, too.
#include <CL/cl.h>
#include <cutil.h>
#include <cutil_inline.h>

__global__ void add(float* a, float b) {
  __shared__ float shared[32];
  CUT_BANK_CHECKER(shared, threadIdx.x) = a[threadIdx.x];
  a[threadIdx.x] = CUT_BANK_CHECKER(shared, threadIdx.x) + b;
}

cl_ulong from_other_file(unsigned int timer);

#define CHECK(condition) \
  if (!(condition)) printf("FAILED in line %d: %s\n", __LINE__, #condition)

int main(int argc, char** argv) {
  CUT_DEVICE_INIT(argc, argv);
  unsigned int timer = 0, other = 0;
  CUT_SAFE_CALL(cutCreateTimer(&timer));
  CUT_SAFE_CALL(cutCreateTimer(&other));
  CHECK(timer != 0 && other != 0 && timer != other);
  CHECK(cutGetTimerValue(timer) == 0);
  CUT_SAFE_CALL(cutStartTimer(timer));
  float host[32], expected[32];
  for (int i = 0; i < 32; ++i) {
    host[i] = (float)i;
    expected[i] = (float)i + 0.5f;
  }
  float* device = NULL;
  CUDA_SAFE_CALL(cudaMalloc((void**)&device, sizeof(host)));
  CUDA_SAFE_CALL(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
  add<<<1, 32>>>(device, 0.5f);
  CUT_CHECK_ERROR("add");
  cutilSafeCall(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
  cutilCheckMsg("copy");
  CUT_SAFE_CALL(cutStopTimer(timer));
  const float time = cutGetTimerValue(timer);
  CHECK(time > 0 && cutGetTimerValue(timer) == time && cutGetAverageTimerValue(timer) == time);
  CHECK(from_other_file(timer) == 1);  // resets it
  CHECK(cutGetTimerValue(timer) == 0 && cutGetAverageTimerValue(timer) == 0);
  CHECK(cutDeleteTimer(timer) == CUTTrue && cutStartTimer(timer) == CUTFalse && cutStartTimer(0) == CUTFalse);
  CHECK(cutStartTimer(other) == CUTTrue);

  CHECK(cutComparef(expected, host, 32) == CUTTrue);
  host[31] += 0.25f;
  CHECK(cutComparef(expected, host, 32) == CUTFalse && cutComparefe(expected, host, 32, 0.25f) == CUTTrue);
  CHECK(cutComparefe(expected, host, 32, 0.2f) == CUTFalse && cutComparefet(expected, host, 32, 0.2f, 0.1f) == CUTTrue);
  CHECK(cutComparefet(expected, host, 32, 0.2f, 0.03f) == CUTFalse);
  CHECK(cutCompareL2fe(expected, host, 32, 0.01f) == CUTTrue && cutCompareL2fe(expected, host, 32, 1e-4f) == CUTFalse);
  host[0] = NAN;
  CHECK(cutComparefe(expected, host, 32, 1e9f) == CUTFalse && cutCompareL2fe(expected, host, 32, 1e9f) == CUTFalse);
  const int numbers[] = {1, 2};
  const unsigned char bytes[] = {1, 2}, near[] = {2, 2};
  CHECK(cutComparei(numbers, numbers, 2) == CUTTrue && cutCompareub(bytes, near, 2) == CUTFalse);
  CHECK(cutCompareube(bytes, near, 2, 1) == CUTTrue && cutCompareube(bytes, near, 2, 0.5f) == CUTFalse);

  const char** words = (const char**)argv;
  int size = -1;
  float ratio = -1;
  char* name = NULL;
  CHECK(cutCheckCmdLineFlag(argc, words, "noprompt") == CUTTrue && cutCheckCmdLineFlag(argc, words, "no") == CUTFalse);
  CHECK(cutGetCmdLineArgumenti(argc, words, "size", &size) == CUTTrue && size == 64);
  CHECK(cutGetCmdLineArgumentf(argc, words, "ratio", &ratio) == CUTTrue && ratio == 1.5f);
  CHECK(cutGetCmdLineArgumenti(argc, words, "noprompt", &size) == CUTFalse && size == 64);
  CHECK(cutGetCmdLineArgumentstr(argc, words, "name", &name) == CUTTrue && strcmp(name, "a=b") == 0);
  cutFree(name);
  char* path = cutFindFilePath("cutil_data.txt", argv[0]);
  CHECK(path != NULL && strcmp(path + strlen(path) - 19, "data/cutil_data.txt") == 0);
  CHECK(cutFindFilePath("none", argv[0]) == NULL && cutFindFilePath("none", NULL) == NULL);
  cutFree(path);
  printf("END\n");
  if (size == 64 && cutCheckCmdLineFlag(argc, words, "fails"))
    cutilSafeCall(cudaMemcpy(host, device, 1 << 20, cudaMemcpyDeviceToHost));
  CUT_EXIT(argc, argv);
}
