// A program of the time of CUTIL, in which its header and OpenCL's are included, too.
#include <CL/cl.h>
#include <cutil.h>
#include <cutil_inline.h>
#include <cutil_math.h>

__global__ void add(float* a, float b) {
  __shared__ float shared[32];
  CUT_BANK_CHECKER(shared, threadIdx.x) = a[threadIdx.x];
  a[threadIdx.x] = CUT_BANK_CHECKER(shared, threadIdx.x) + b;
}

cl_ulong from_other_file(unsigned int timer);

// Vectors' arithmetic and what CUDA's mathematics have beyond the standard library's, with equal numbers on both sides:
// every result is exact.
const int kResults = 30;
__host__ __device__ void vectors(float* o) {
  const float4 a = make_float4(1, -2, 3.5f, 4);
  const float3 b = make_float3(a), x = make_float3(1, 0, 0), y = make_float3(0, 1, 0);
  const int4 i = make_int4(a);
  const uint2 u = make_uint2(make_int2(7, 9));
  *o++ = (a + a).y;
  *o++ = (a - 1.0f).x;
  *o++ = (2.0f - a).w;
  *o++ = (a * a).z;
  *o++ = (1.0f / a).w;
  *o++ = (a / 2.0f).z;
  *o++ = (-a).y;
  *o++ = (-i).w;
  *o++ = (i * 3 + i).z;
  *o++ = (u - make_uint2(3)).y;
  *o++ = (3U + u * u).x;
  float4 c = make_float4(b, 8);
  c += a;
  c *= 2.0f;
  c -= 1.0f;
  c /= a;
  *o++ = c.w;
  *o++ = dot(a, a);
  *o++ = dot(i, i);
  *o++ = cross(x, y).z;
  *o++ = length(make_float2(3, 4));
  *o++ = normalize(make_float3(0, 0, -16)).z;
  *o++ = reflect(make_float3(1, -1, 0), y).y;
  *o++ = lerp(a, make_float4(3), 0.5f).y;
  *o++ = clamp(a, -1.0f, 2.0f).y;
  *o++ = clamp(i, make_int4(2), make_int4(3)).x;
  *o++ = floorf(a).z;
  *o++ = floor(-a).z;
  *o++ = fracf(a).z;
  *o++ = fabs(a).y;
  *o++ = abs(i).y;
  *o++ = max(i, make_int4(2)).y;
  *o++ = min(u, make_uint2(8)).y;
  *o++ = fmaxf(a, make_float4(0.0f)).y;
  *o++ = smoothstep(make_float2(0.0f), make_float2(2.0f), make_float2(1.0f)).x;
}
__global__ void vectors_there(float* results) {
  vectors(results);
}
// The program's own stands before CUDA's.
static float rcbrtf(float x) {
  return x + 1;
}

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

  const float known[kResults] = {-4, 0,  -2, 12.25f, 0.25f, 1.75f, 2, -4, 12,   6, 52, 5.75f, 33.25f, 30, 1,
                                 5,  -1, 1,  0.5f,   -1,    2,     3, -4, 0.5f, 2, 2,  2,     8,      0,  0.5f};
  float here[kResults], there[kResults];
  vectors(here);
  cutilSafeCall(cudaFree(device));
  cutilSafeCall(cudaMalloc((void**)&device, sizeof(there)));
  vectors_there<<<1, 1>>>(device);
  cutilSafeCall(cudaMemcpy(there, device, sizeof(there), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kResults; ++i) {
    if (here[i] != known[i] || there[i] != known[i]) {
      printf("FAILED: result %d is %g on the host, %g on the device, not %g\n", i, here[i], there[i], known[i]);
    }
  }
  CHECK(rsqrtf(4.0f) == 0.5f && rsqrt(0.25) == 2 && rsqrt(16.0f) == 0.25f && rcbrt(8.0) == 0.5 && rcbrtf(8) == 9);
  CHECK(rhypot(3.0, 4.0) == 0.2 && rhypotf(6, 8) == 0.1f && normcdf(0.0) == 0.5 && normcdff(-INFINITY) == 0);
  CHECK(sinpi(1e15 + 0.5) == 1 && sinpif(-2.5f) == -1 && sinpi(3.0) == 0 && !signbit(sinpi(3.0)) &&
        isnan(sinpi(INFINITY)));
  CHECK(cospi(-1.0f) == -1 && cospi(0.5) == 0 && !signbit(cospi(0.5)) && !signbit(cospif(1.5f)) &&
        isnan(cospif(INFINITY)));
  CHECK(fabs(sinpi(0.25) - sqrt(0.5)) < 2e-16 && fabsf(cospif(0.25f) - sqrtf(0.5f)) < 1e-7f);

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
