// Texture and surface objects: linear memory, pitched memory and arrays, point and linear filtering, address modes,
// integers read as they are and as fractions; against the host's own sampling.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const cudaError_t error_ = (call);                                                       \
    if (error_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      return false;                                                                          \
    }                                                                                        \
  } while (0)
#define REQUIRE(holds)                                                \
  do {                                                                \
    if (!(holds)) {                                                   \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
      return false;                                                   \
    }                                                                 \
  } while (0)

__global__ void gather(cudaTextureObject_t texture, const int* index, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float4>(texture, index[i]);
}
__global__ void sample(cudaTextureObject_t texture, const float2* at, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}
__global__ void sample_pairs(cudaTextureObject_t texture, const float2* at, uchar2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tex2D(&out[i], texture, at[i].x, at[i].y);
}
__global__ void sample_line(cudaTextureObject_t texture, const float2* at, float2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<float2>(texture, at[i].x);
}
// Turns an image a quarter round, from surface to surface, and marks what lies outside.
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  float2 value;
  surf2Dread(&value, from, x * (int)sizeof value, y, cudaBoundaryModeZero);
  if (x < width && y < height) {
    surf2Dwrite(value, to, (height - 1 - y) * (int)sizeof value, x);
  } else {
    surf2Dwrite(make_float2(-1, -1), to, (height + x) * (int)sizeof value, y, cudaBoundaryModeZero);
  }
}

namespace {

constexpr int kPoints = 500;

float noise(int i) {
  return static_cast<float>((i * 7919 + 13) % 1009) / 8;
}

template <class T>
T* on_device(const std::vector<T>& from) {
  T* to = nullptr;
  if (cudaMalloc(&to, from.size() * sizeof(T)) != cudaSuccess) return nullptr;
  cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  return to;
}

std::vector<float2> points(float width, float height) {
  std::vector<float2> at(kPoints);
  for (int i = 0; i < kPoints; ++i) {
    at[i] = make_float2(noise(i) / 126 * 2 * width - width / 2, noise(i + 977) / 126 * 2 * height - height / 2);
  }
  return at;
}

// The guide's linear filtering with clamped coordinates; weights have 8 bits of fraction.
float filtered(const std::vector<float>& image, int width, int height, float x, float y) {
  const auto at = [&](int i, int j) {
    i = i < 0 ? 0 : i >= width ? width - 1 : i;
    j = j < 0 ? 0 : j >= height ? height - 1 : j;
    return static_cast<double>(image[j * width + i]);
  };
  const double i = std::floor(x - 0.5), j = std::floor(y - 0.5);
  const double a = std::floor((x - 0.5 - i) * 256 + 0.5) / 256, b = std::floor((y - 0.5 - j) * 256 + 0.5) / 256;
  const int left = static_cast<int>(i), top = static_cast<int>(j);
  return static_cast<float>((1 - a) * (1 - b) * at(left, top) + a * (1 - b) * at(left + 1, top) +
                            (1 - a) * b * at(left, top + 1) + a * b * at(left + 1, top + 1));
}

bool linear_memory() {
  std::vector<float4> data(300);
  for (int i = 0; i < 300; ++i) data[i] = make_float4(noise(i), noise(i + 1), noise(i + 2), noise(i + 3));
  std::vector<int> index(kPoints);
  for (int i = 0; i < kPoints; ++i) index[i] = i * 37 % 400 - 50;
  float4* const device = on_device(data);
  int* const indices = on_device(index);
  float4* out = nullptr;
  CHECK(cudaMalloc(&out, kPoints * sizeof(float4)));
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = device;
  resource.res.linear.desc = cudaCreateChannelDesc<float4>();
  resource.res.linear.sizeInBytes = data.size() * sizeof(float4);
  cudaTextureDesc sampling;
  std::memset(&sampling, 0, sizeof sampling);
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
  gather<<<8, 64>>>(texture, indices, out, kPoints);
  std::vector<float4> result(kPoints);
  CHECK(cudaMemcpy(result.data(), out, kPoints * sizeof(float4), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kPoints; ++i) {
    const bool inside = index[i] >= 0 && index[i] < 300;
    const float4 expected = inside ? data[index[i]] : make_float4(0, 0, 0, 0);
    REQUIRE(std::memcmp(&result[i], &expected, sizeof expected) == 0);
  }
  cudaResourceDesc told;
  CHECK(cudaGetTextureObjectResourceDesc(&told, texture));
  REQUIRE(told.res.linear.devPtr == device);
  CHECK(cudaDestroyTextureObject(texture));
  REQUIRE(cudaDestroyTextureObject(texture) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
  CHECK(cudaFree(device));
  return true;
}

bool pitched_memory() {
  constexpr int kWidth = 37, kHeight = 21;
  std::vector<float> image(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) image[i] = noise(i);
  float* device = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&device, &pitch, kWidth * sizeof(float), kHeight));
  CHECK(cudaMemcpy2D(device, pitch, image.data(), kWidth * sizeof(float), kWidth * sizeof(float), kHeight,
                     cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = device;
  resource.res.pitch2D.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  resource.res.pitch2D.width = kWidth;
  resource.res.pitch2D.height = kHeight;
  resource.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc sampling = {};
  sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
  sampling.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
  const std::vector<float2> at = points(kWidth, kHeight);
  float2* const places = on_device(at);
  float* out = nullptr;
  CHECK(cudaMalloc(&out, kPoints * sizeof(float)));
  sample<<<10, 50>>>(texture, places, out, kPoints);
  std::vector<float> result(kPoints);
  CHECK(cudaMemcpy(result.data(), out, kPoints * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kPoints; ++i) REQUIRE(result[i] == filtered(image, kWidth, kHeight, at[i].x, at[i].y));
  CHECK(cudaDestroyTextureObject(texture));
  return true;
}

// 8-bit pairs in an array, by normalized coordinates that repeat.
bool arrays() {
  constexpr int kWidth = 16, kHeight = 8;
  std::vector<uchar2> image(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) image[i] = make_uchar2(i * 5, 255 - i);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar2>();
  cudaArray_t array = nullptr;
  CHECK(cudaMallocArray(&array, &format, kWidth, kHeight));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), kWidth * 2, kWidth * 2, kHeight, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc sampling = {};
  sampling.addressMode[0] = cudaAddressModeWrap;
  sampling.addressMode[1] = cudaAddressModeMirror;
  sampling.normalizedCoords = 1;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
  const std::vector<float2> at = points(2, 2);
  float2* const places = on_device(at);
  uchar2* out = nullptr;
  CHECK(cudaMalloc(&out, kPoints * sizeof(uchar2)));
  sample_pairs<<<10, 50>>>(texture, places, out, kPoints);
  std::vector<uchar2> result(kPoints);
  CHECK(cudaMemcpy(result.data(), out, kPoints * sizeof(uchar2), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kPoints; ++i) {
    const double x = at[i].x - std::floor(static_cast<double>(at[i].x));
    const double whole = std::floor(static_cast<double>(at[i].y));
    const double y = std::fmod(whole, 2) == 0 ? at[i].y - whole : 1 - (at[i].y - whole);
    const int row = std::fmin(std::floor(y * kHeight), kHeight - 1);
    const uchar2 expected = image[row * kWidth + static_cast<int>(std::floor(x * kWidth))];
    REQUIRE(result[i].x == expected.x && result[i].y == expected.y);
  }
  // As fractions, filtered along one row; outside is 0.
  sampling.addressMode[0] = cudaAddressModeBorder;
  sampling.readMode = cudaReadModeNormalizedFloat;
  sampling.filterMode = cudaFilterModeLinear;
  sampling.normalizedCoords = 0;
  cudaTextureObject_t line = 0;
  CHECK(cudaCreateTextureObject(&line, &resource, &sampling, nullptr));
  std::vector<float2> along(kPoints);
  for (int i = 0; i < kPoints; ++i) along[i] = make_float2(i * 0.0625f - 4, 0);
  CHECK(cudaMemcpy(places, along.data(), kPoints * sizeof(float2), cudaMemcpyHostToDevice));
  float2* pairs = nullptr;
  CHECK(cudaMalloc(&pairs, kPoints * sizeof(float2)));
  sample_line<<<10, 50>>>(line, places, pairs, kPoints);
  std::vector<float2> values(kPoints);
  CHECK(cudaMemcpy(values.data(), pairs, kPoints * sizeof(float2), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kPoints; ++i) {
    const double left = std::floor(along[i].x - 0.5), a = along[i].x - 0.5 - left;
    const auto fraction = [&](int x) { return x < 0 || x >= kWidth ? 0.0f : image[x].x / 255.0f; };
    const int x = static_cast<int>(left);
    REQUIRE(values[i].x == static_cast<float>((1 - a) * fraction(x) + a * fraction(x + 1)));
  }
  cudaTextureObject_t bad = 0;
  sampling.readMode = cudaReadModeElementType;
  REQUIRE(cudaCreateTextureObject(&bad, &resource, &sampling, nullptr) == cudaErrorInvalidFilterSetting);
  static_cast<void>(cudaGetLastError());
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaDestroyTextureObject(line));
  CHECK(cudaFreeArray(array));
  return true;
}

bool surfaces() {
  constexpr int kWidth = 24, kHeight = 10;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t from = nullptr, to = nullptr;
  CHECK(cudaMallocArray(&from, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CHECK(cudaMallocArray(&to, &format, kHeight, kWidth, cudaArraySurfaceLoadStore));
  std::vector<float2> image(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) image[i] = make_float2(noise(i), noise(i + 5000));
  cudaMemcpy3DParms box = {};
  box.srcPtr = {image.data(), kWidth * sizeof(float2), kWidth * sizeof(float2), kHeight};
  box.dstArray = from;
  box.extent = {kWidth, kHeight, 1};
  box.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&box));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = from;
  cudaSurfaceObject_t read = 0, write = 0;
  CHECK(cudaCreateSurfaceObject(&read, &resource));
  resource.res.array.array = to;
  CHECK(cudaCreateSurfaceObject(&write, &resource));
  turn<<<dim3(3, 2), dim3(8, 8)>>>(read, write, kWidth, kHeight);
  std::vector<float2> turned(kWidth * kHeight);
  CHECK(cudaMemcpyFromArray(turned.data(), to, 0, 0, turned.size() * sizeof(float2), cudaMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const float2 is = turned[x * kHeight + kHeight - 1 - y];
      REQUIRE(is.x == image[y * kWidth + x].x && is.y == image[y * kWidth + x].y);
    }
  }
  CHECK(cudaDestroySurfaceObject(read));
  CHECK(cudaDestroySurfaceObject(write));
  CHECK(cudaFreeArray(from));
  CHECK(cudaFreeArray(to));
  return true;
}

}  // namespace

int main() {
  const bool right = linear_memory() && pitched_memory() && arrays() && surfaces();
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
