// The Walsh transform of n numbers, n a power of two above 2048: radix-4 steps over memory, four numbers a thread, down
// to pieces of 2048, which a block of 512 threads transforms in the scratchpad. As fastWalshTransform of the CUDA SDK
// has it.
constexpr unsigned kPiece = 2048;
constexpr unsigned kThreads = kPiece / 4;

// Four numbers that are `stride` apart.
static __device__ void transform_four(float* first, unsigned stride) {
  const float a = first[0];
  const float b = first[stride];
  const float c = first[2 * stride];
  const float d = first[3 * stride];
  const float ac = a + c;
  const float bd = b + d;
  const float a_c = a - c;
  const float b_d = b - d;
  first[0] = ac + bd;
  first[stride] = ac - bd;
  first[2 * stride] = a_c + b_d;
  first[3 * stride] = a_c - b_d;
}

// A step over pieces of 4 * stride numbers.
extern "C" __global__ void __launch_bounds__(256) walsh_step(float* __restrict__ numbers, unsigned stride) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned within = thread & (stride - 1);
  transform_four(numbers + ((thread - within) << 2) + within, stride);
}

extern "C" __global__ void __launch_bounds__(512) walsh_piece(float* __restrict__ numbers) {
  __shared__ float piece[kPiece];
  float* const mine = numbers + blockIdx.x * kPiece;
  for (unsigned i = threadIdx.x; i < kPiece; i += kThreads) {
    piece[i] = mine[i];
  }
  for (unsigned stride = kPiece / 4; stride > 1; stride /= 4) {
    const unsigned within = threadIdx.x & (stride - 1);
    __syncthreads();
    transform_four(piece + ((threadIdx.x - within) << 2) + within, stride);
  }
  // 2048 is no power of four: one step is left.
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kPiece / 2; i += kThreads) {
    const float a = piece[2 * i];
    const float b = piece[2 * i + 1];
    piece[2 * i] = a + b;
    piece[2 * i + 1] = a - b;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kPiece; i += kThreads) {
    mine[i] = piece[i];
  }
}

// numbers[i] *= others[i] / n
extern "C" __global__ void __launch_bounds__(256)
    multiply(float* __restrict__ numbers, const float* __restrict__ others, unsigned n, float by) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    numbers[i] *= others[i] * by;
  }
}
