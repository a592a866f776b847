// Texture and surface references in the style of programs before CUDA 12: bound to linear memory, to rows with a pitch,
// and to an array; bound again, unbound; a reference of a file of its own name.
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    cudaError_t error_ = (call);                                                        \
    if (error_ != cudaSuccess) {                                                        \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      exit(1);                                                                          \
    }                                                                                   \
  } while (0)

texture<int2, 1, cudaReadModeElementType> edges;
static texture<float, 2, cudaReadModeElementType> plane;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> picture;
surface<void, 2> target;

__global__ void sum_edges(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int2 edge = tex1Dfetch(edges, i);
    out[i] = edge.x * 1000 + edge.y;
  }
}

__global__ void smooth(float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) sum += tex2D(plane, x + dx + 0.5f, y + dy + 0.5f);
  out[y * width + x] = sum;
}

__global__ void brighten(int width) {
  int x = threadIdx.x;
  int y = blockIdx.x;
  float value = tex2D(picture, (float)x, (float)y);
  surf2Dwrite((unsigned char)(value * 100.0f + 0.5f), target, x, y);
}

static int failures = 0;
static void expect(bool holds, const char* what) {
  if (!holds) {
    printf("not so: %s\n", what);
    failures++;
  }
}

int main() {
  const int n = 200;
  int2 host_edges[n];
  int result[n];
  for (int i = 0; i < n; i++) host_edges[i] = make_int2(i, n - i);
  int2* device_edges;
  int* out;
  CHECK(cudaMalloc((void**)&device_edges, sizeof host_edges));
  CHECK(cudaMalloc((void**)&out, sizeof result));
  CHECK(cudaMemcpy(device_edges, host_edges, sizeof host_edges, cudaMemcpyHostToDevice));
  size_t offset = 99;
  CHECK(cudaBindTexture(&offset, edges, device_edges, sizeof host_edges));
  expect(offset == 0, "memory of cudaMalloc has no offset");
  sum_edges<<<(n + 63) / 64, 64>>>(out, n);
  CHECK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < n; i++) right = right && result[i] == i * 1000 + n - i;
  expect(right, "edges from the start");
  // Bound again, to a part: what lies behind it is 0.
  CHECK(cudaBindTexture(0, edges, device_edges + 50, 100 * sizeof(int2)));
  sum_edges<<<(n + 63) / 64, 64>>>(out, n);
  CHECK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
  right = true;
  for (int i = 0; i < n; i++) right = right && result[i] == (i < 100 ? (i + 50) * 1000 + n - i - 50 : 0);
  expect(right, "edges from the middle");
  CHECK(cudaUnbindTexture(edges));

  const int width = 30, height = 20;
  float image[width * height], smoothed[width * height];
  for (int i = 0; i < width * height; i++) image[i] = (float)(i * 37 % 101);
  float *rows, *sums;
  size_t pitch;
  CHECK(cudaMallocPitch((void**)&rows, &pitch, width * sizeof(float), height));
  CHECK(cudaMalloc((void**)&sums, sizeof image));
  CHECK(cudaMemcpy2D(rows, pitch, image, width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  plane.addressMode[0] = cudaAddressModeClamp;
  plane.addressMode[1] = cudaAddressModeBorder;
  plane.filterMode = cudaFilterModeLinear;
  CHECK(cudaBindTexture2D(NULL, plane, rows, format, width, height, pitch));
  dim3 block(16, 4), grid((width + 15) / 16, (height + 3) / 4);
  smooth<<<grid, block>>>(sums, width, height);
  CHECK(cudaMemcpy(smoothed, sums, sizeof image, cudaMemcpyDeviceToHost));
  right = true;
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      float sum = 0;
      for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
          int i = x + dx < 0 ? 0 : x + dx >= width ? width - 1 : x + dx;
          sum += y + dy < 0 || y + dy >= height ? 0 : image[(y + dy) * width + i];
        }
      }
      right = right && smoothed[y * width + x] == sum;
    }
  }
  expect(right, "smoothed, clamped to the sides, 0 above and below");

  unsigned char bytes[16 * 8], brightened[16 * 8];
  for (int i = 0; i < 16 * 8; i++) bytes[i] = (unsigned char)(i * 2);
  cudaChannelFormatDesc byte = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
  cudaArray *from, *to;
  CHECK(cudaMallocArray(&from, &byte, 16, 8));
  CHECK(cudaMallocArray(&to, &byte, 16, 8, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpyToArray(from, 0, 0, bytes, sizeof bytes, cudaMemcpyHostToDevice));
  CHECK(cudaBindTextureToArray(picture, from));
  CHECK(cudaBindSurfaceToArray(target, to));
  brighten<<<8, 16>>>(16);
  CHECK(cudaMemcpyFromArray(brightened, to, 0, 0, sizeof brightened, cudaMemcpyDeviceToHost));
  right = true;
  for (int i = 0; i < 16 * 8; i++) right = right && brightened[i] == (unsigned char)(bytes[i] / 255.0f * 100.0f + 0.5f);
  expect(right, "bytes as fractions, written to a surface");
  const textureReference* reference = NULL;
  CHECK(cudaGetTextureReference(&reference, &picture));
  expect(reference == &picture, "a reference is its variable");
  CHECK(cudaUnbindTexture(picture));
  CHECK(cudaFreeArray(from));
  CHECK(cudaFreeArray(to));
  if (failures == 0) {
    // What nothing is bound to faults.
    sum_edges<<<1, 32>>>(out, n);
    expect(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "a fetch by a reference without a texture");
  }
  printf("%s\n", failures == 0 ? "PASSED" : "FAILED");
  return failures != 0;
}
