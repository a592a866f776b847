// Copies of all kinds and sizes against what the host knows: whichever way the bytes go, they arrive, and nothing else
// changes. copies [kill]: ends itself in the middle of a copy.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "common/expect.h"

using Bytes = std::vector<unsigned char>;

__device__ unsigned char variable[100001];
__constant__ unsigned char constants[40000];

__global__ void add_one(unsigned char* bytes, int count, int distance) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < count) bytes[static_cast<size_t>(i) * distance] += 1;
}
__global__ void sum_constants(unsigned* sum) {
  if (threadIdx.x == 0) *sum = constants[0] + constants[20000] + constants[39999];
}

static unsigned state = 12345;
static unsigned draw(unsigned below) {
  state = state * 1664525U + 1013904223U;
  return (state >> 8) % below;
}
static Bytes random_bytes(size_t size) {
  Bytes bytes(size);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(draw(256));
  return bytes;
}

// Parts of one buffer, at odd places, again and again; the kernel changes some of it in between.
static void parts_of_a_buffer() {
  constexpr size_t kSize = (5 << 20) + 77;
  unsigned char* device = nullptr;
  CHECK(cudaMalloc(&device, kSize));
  Bytes known(kSize, 0);
  Bytes out(kSize, 1);
  CHECK(cudaMemcpy(out.data(), device, kSize, cudaMemcpyDeviceToHost));
  EXPECT(out == known);  // never written
  for (int round = 0; round < 60; ++round) {
    const size_t begin = draw(kSize);
    const size_t most = round % 3 == 0 ? kSize : 200000;
    const size_t size = 1 + draw(static_cast<unsigned>(std::min(most, kSize - begin)));
    const Bytes bytes = random_bytes(size);
    CHECK(cudaMemcpy(device + begin, bytes.data(), size, cudaMemcpyHostToDevice));
    std::memcpy(known.data() + begin, bytes.data(), size);
    if (round % 8 == 0) {
      add_one<<<1, 64>>>(device + 13, 64, 70001);
      for (int i = 0; i < 64; ++i) known[13 + size_t{70001} * i] += 1;
    }
    const size_t from = draw(kSize);
    const size_t count = 1 + draw(static_cast<unsigned>(kSize - from));
    Bytes part(count + 2, 99);
    CHECK(cudaMemcpy(part.data() + 1, device + from, count, cudaMemcpyDeviceToHost));
    EXPECT(part[0] == 99 && part[count + 1] == 99);
    EXPECT(std::memcmp(part.data() + 1, known.data() + from, count) == 0);
  }
  // Past the end nothing is copied at all.
  const Bytes more = random_bytes(kSize);
  EXPECT(cudaMemcpy(device + 1, more.data(), kSize, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(out.data(), device + kSize - 40000, 40001, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(cudaMemset(device + kSize - 40000, 1, 40001) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(out.data(), device, kSize, cudaMemcpyDeviceToHost));
  EXPECT(out == known);
  // On the device, and fills.
  unsigned char* other = nullptr;
  CHECK(cudaMalloc(&other, kSize));
  for (const size_t size : {size_t{1}, size_t{65535}, size_t{65537}, size_t{3000001}}) {
    CHECK(cudaMemcpy(other + 5, device + 1234, size, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(out.data(), other, kSize, cudaMemcpyDeviceToHost));
    EXPECT(std::memcmp(out.data() + 5, known.data() + 1234, size) == 0 && out[4] == 0 && out[5 + size] == 0);
  }
  CHECK(cudaMemset(device + 3, 0xab, 3000001));
  std::memset(known.data() + 3, 0xab, 3000001);
  CHECK(cudaMemcpy(out.data(), device, kSize, cudaMemcpyDeviceToHost));
  EXPECT(out == known);
  CHECK(cudaFree(other));
  CHECK(cudaFree(device));
}

// Rows with gaps on both sides, narrow and wide; the gaps stay.
static void pitched() {
  for (const size_t width : {size_t{40}, size_t{4099}, size_t{70000}}) {
    const size_t height = 60;
    const size_t host_pitch = width + 29;
    unsigned char* device = nullptr;
    size_t pitch = 0;
    CHECK(cudaMallocPitch(reinterpret_cast<void**>(&device), &pitch, width, height));
    CHECK(cudaMemset(device, 7, pitch * height));
    for (int round = 0; round < 12; ++round) {
      const Bytes from = random_bytes(host_pitch * height);
      CHECK(cudaMemcpy2D(device, pitch, from.data(), host_pitch, width, height, cudaMemcpyHostToDevice));
      Bytes to(host_pitch * height, 5), whole(pitch * height);
      CHECK(cudaMemcpy2D(to.data(), host_pitch, device, pitch, width, height, cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy(whole.data(), device, whole.size(), cudaMemcpyDeviceToHost));
      for (size_t y = 0; y < height; ++y) {
        for (size_t x = 0; x < host_pitch; ++x)
          EXPECT(to[y * host_pitch + x] == (x < width ? from[y * host_pitch + x] : 5));
        for (size_t x = 0; x < pitch; ++x) EXPECT(whole[y * pitch + x] == (x < width ? from[y * host_pitch + x] : 7));
      }
    }
    CHECK(cudaFree(device));
  }
}

static void variables() {
  const Bytes from = random_bytes(sizeof variable);
  Bytes to(sizeof variable);
  for (int round = 0; round < 3; ++round) {
    CHECK(cudaMemcpyToSymbol(variable, from.data() + 1, 100000, 1));
    CHECK(cudaMemcpyFromSymbol(to.data(), variable, sizeof variable));
    EXPECT(to[0] == 0 && std::memcmp(to.data() + 1, from.data() + 1, 100000) == 0);
  }
  CHECK(cudaMemcpyToSymbol(constants, from.data(), sizeof constants));
  CHECK(cudaMemcpyFromSymbol(to.data(), constants, sizeof constants));
  EXPECT(std::memcmp(to.data(), from.data(), sizeof constants) == 0);
  unsigned* sum = nullptr;
  unsigned is = 0;
  CHECK(cudaMalloc(&sum, sizeof is));
  sum_constants<<<1, 32>>>(sum);
  CHECK(cudaMemcpy(&is, sum, sizeof is, cudaMemcpyDeviceToHost));
  EXPECT(is == static_cast<unsigned>(from[0]) + from[20000] + from[39999]);
  CHECK(cudaFree(sum));
}

// Copies and kernels of a stream take effect in its order, whoever copies beside.
static void in_a_stream(unsigned char first) {
  constexpr size_t kSize = 300001;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  unsigned char* device = nullptr;
  CHECK(cudaMalloc(&device, kSize));
  Bytes to(kSize);
  for (unsigned char round = 0; round < 12; ++round) {
    const Bytes from(kSize, static_cast<unsigned char>(first + round));
    CHECK(cudaMemcpyAsync(device, from.data(), kSize, cudaMemcpyHostToDevice, stream));
    add_one<<<1, 128, 0, stream>>>(device, 128, 2000);
    CHECK(cudaMemcpyAsync(to.data(), device, kSize, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < kSize; ++i) {
      EXPECT(to[i] == static_cast<unsigned char>(from[i] + (i % 2000 == 0 && i < 256000 ? 1 : 0)));
    }
  }
  CHECK(cudaFree(device));
  CHECK(cudaStreamDestroy(stream));
}

// Addresses below 4 GiB come back when no fresh ones are left there. What was there is gone, and caches and memory know
// the new owner's.
static void addresses_again() {
  constexpr size_t kSize = 1 << 20;
  unsigned char* device = nullptr;
  Bytes bytes = random_bytes(kSize), out(kSize);
  CHECK(cudaMalloc(&device, kSize));
  CHECK(cudaMemcpy(device, bytes.data(), kSize, cudaMemcpyHostToDevice));
  add_one<<<8, 128>>>(device, 1000, 1000);
  CHECK(cudaFree(device));
  unsigned char* const before = device;
  std::vector<void*> fillers;
  for (size_t size = size_t{1} << 31; size >= kSize; size /= 2) {
    for (void* filler = nullptr; cudaMalloc(&filler, size) == cudaSuccess;) {
      if (filler == before) {
        CHECK(cudaMemcpy(out.data(), before, kSize, cudaMemcpyDeviceToHost));
        EXPECT(out == Bytes(kSize, 0));
        add_one<<<8, 128>>>(before, 1000, 1000);
        CHECK(cudaMemcpy(out.data(), before, kSize, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < kSize; ++i) EXPECT(out[i] == (i % 1000 == 0 && i < 1000000 ? 1 : 0));
      }
      if (reinterpret_cast<size_t>(filler) >> 32 != 0) {
        CHECK(cudaFree(filler));
        break;
      }
      fillers.push_back(filler);
    }
  }
  bool again = false;
  for (void* const filler : fillers) {
    again = again || filler == before;
    CHECK(cudaFree(filler));
  }
  EXPECT(again);
}

int main(int words, char** word) {
  if (words > 1 && std::strcmp(word[1], "kill") == 0) {
    unsigned char* device = nullptr;
    const Bytes bytes(32 << 20, 3);
    CHECK(cudaMalloc(&device, bytes.size()));
    std::thread killer([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::raise(SIGKILL);
    });
    for (;;) CHECK(cudaMemcpy(device, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  }
  addresses_again();  // first, so that its buffer lies where the search for room begins
  parts_of_a_buffer();
  pitched();
  variables();
  std::thread other(in_a_stream, static_cast<unsigned char>(100));
  in_a_stream(3);
  other.join();
  std::printf("PASSED\n");
  return 0;
}
