// The CUDA source of kernels.32.ptx and kernels.64.ptx beside it, which the execution tests compile and run. They were
// made by clang 14 with the options of cuda/compiler/clang_options.txt without -gline-tables-only.
__attribute__((device)) static unsigned step(unsigned x) {
  return x % 2 == 0 ? x / 2 : 3 * x + 1;
}

extern "C" __global__ void saxpy(const float* x, float* y, float a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// Loops that every thread leaves at another time, one of two ways.
extern "C" __global__ void collatz(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = in[i], count = 0;
  while (x != 1 && count < 1000) {
    x = step(x);
    ++count;
    if (x == 13) break;
  }
  out[i] = count;
}

// 64-bit integers and floats, a local array with computed indices.
extern "C" __global__ void mixed(const double* in, double* out, const long long* k, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a[8];
  for (int j = 0; j < 8; ++j) a[j] = in[(i + j) % n] * j;
  double s = 0;
  long long q = k[i];
  for (int j = 0; j < 8; ++j) {
    s += a[(q >> j) & 7];
    q = q * 3 + j;
  }
  out[i] = s + (double)q;
}

// Tiles of 16 x 16 in the scratchpad; n is a multiple of 16.
extern "C" __global__ void tiled(const unsigned* a, const unsigned* b, unsigned* c, unsigned n) {
  __shared__ unsigned tile_a[16][16];
  __shared__ unsigned tile_b[16][16];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  unsigned sum = 0;
  for (unsigned done = 0; done < n; done += 16) {
    tile_a[y][x] = a[row * n + done + x];
    tile_b[y][x] = b[(done + y) * n + column];
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

struct Four {
  float x, y, z, w;
} __attribute__((aligned(16)));

// Vectors: out[i] = in[i] + in[n - 1 - i] turned by one element.
extern "C" __global__ void turned(const Four* in, Four* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Four p = in[i], q = in[n - 1 - i];
  out[i] = Four{p.x + q.y, p.y + q.z, p.z + q.w, p.w + q.x};
}
