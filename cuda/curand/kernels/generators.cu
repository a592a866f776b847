// The kernels that fill arrays with random numbers: curand_<generator>_<numbers>.
#include "cuda/curand/kernels/generators.h"
#include "heddle/cuda_random.h"

using namespace heddle::curand;

// Each kind of number: what a result is, how many a turn of XORWOW gives, how many blocks of four words a turn of
// Philox takes, and how words become results.
struct Bits {
  using Result = unsigned int;
  static constexpr unsigned kXorwowTurn = 1, kBlocks = 1;
  static __device__ void make(curandStateXORWOW_t* state, Scale, Result* out) { out[0] = curand(state); }
  static __device__ void make(curandStatePhilox4_32_10_t* state, Scale, Result* out) {
    const uint4 x = curand4(state);
    out[0] = x.x, out[1] = x.y, out[2] = x.z, out[3] = x.w;
  }
};
struct Uniform {
  using Result = float;
  static constexpr unsigned kXorwowTurn = 1, kBlocks = 1;
  static __device__ void make(curandStateXORWOW_t* state, Scale, Result* out) { out[0] = curand_uniform(state); }
  static __device__ void make(curandStatePhilox4_32_10_t* state, Scale, Result* out) {
    const float4 x = curand_uniform4(state);
    out[0] = x.x, out[1] = x.y, out[2] = x.z, out[3] = x.w;
  }
};
struct UniformDouble {
  using Result = double;
  static constexpr unsigned kXorwowTurn = 1, kBlocks = 2;
  static __device__ void make(curandStateXORWOW_t* state, Scale, Result* out) { out[0] = curand_uniform_double(state); }
  static __device__ void make(curandStatePhilox4_32_10_t* state, Scale, Result* out) {
    for (unsigned i = 0; i < kPhiloxTurn; i += 2) {
      const double2 x = curand_uniform2_double(state);
      out[i] = x.x, out[i + 1] = x.y;
    }
  }
};
struct Normal {
  using Result = float;
  static constexpr unsigned kXorwowTurn = 2, kBlocks = 1;
  static __device__ float scaled(float x, Scale scale) {
    return static_cast<float>(scale.mean) + static_cast<float>(scale.deviation) * x;
  }
  static __device__ void make(curandStateXORWOW_t* state, Scale scale, Result* out) {
    const float2 x = curand_normal2(state);
    out[0] = scaled(x.x, scale), out[1] = scaled(x.y, scale);
  }
  static __device__ void make(curandStatePhilox4_32_10_t* state, Scale scale, Result* out) {
    const float4 x = curand_normal4(state);
    out[0] = scaled(x.x, scale), out[1] = scaled(x.y, scale), out[2] = scaled(x.z, scale), out[3] = scaled(x.w, scale);
  }
};
struct NormalDouble {
  using Result = double;
  static constexpr unsigned kXorwowTurn = 2, kBlocks = 2;
  static __device__ void make(curandStateXORWOW_t* state, Scale scale, Result* out) {
    const double2 x = curand_normal2_double(state);
    out[0] = scale.mean + scale.deviation * x.x, out[1] = scale.mean + scale.deviation * x.y;
  }
  static __device__ void make(curandStatePhilox4_32_10_t* state, Scale scale, Result* out) {
    for (unsigned i = 0; i < kPhiloxTurn; i += 2) {
      const double2 x = curand_normal2_double(state);
      out[i] = scale.mean + scale.deviation * x.x, out[i + 1] = scale.mean + scale.deviation * x.y;
    }
  }
};
template <class Of>
struct Log : Of {
  template <class State>
  static __device__ void make(State* state, Scale scale, typename Of::Result* out) {
    Of::make(state, scale, out);
    for (unsigned i = 0; i < turn(state); ++i) out[i] = exp(out[i]);
  }
  static constexpr __device__ unsigned turn(const curandStateXORWOW_t*) { return Of::kXorwowTurn; }
  static constexpr __device__ unsigned turn(const curandStatePhilox4_32_10_t*) { return kPhiloxTurn; }
};

static __device__ unsigned thread_number() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// `first` is the thread whose turn is next.
template <class Kind>
static __device__ void xorwow(curandStateXORWOW_t* states, unsigned first, unsigned long long turns, Scale scale,
                              typename Kind::Result* out) {
  const unsigned thread = thread_number();
  if (thread >= turns || thread >= kXorwowThreads) return;
  curandStateXORWOW_t* const place = states + (first + thread) % kXorwowThreads;
  curandStateXORWOW_t state = *place;
  for (unsigned long long turn = thread; turn < turns; turn += kXorwowThreads) {
    typename Kind::Result made[Kind::kXorwowTurn];
    Kind::make(&state, scale, made);
#pragma unroll
    for (unsigned i = 0; i < Kind::kXorwowTurn; ++i) out[turn * Kind::kXorwowTurn + i] = made[i];
  }
  *place = state;
}

// `blocks`: how many each thread has used. Results begin at `position` of the sequence, which may be within a turn, and
// may end within one; the thread's next results, of any kind, then go on with the turn's block.
template <class Kind>
static __device__ void philox(unsigned long long* blocks, unsigned long long seed, unsigned long long position,
                              unsigned long long count, Scale scale, typename Kind::Result* out) {
  const unsigned long long end = position + count;
  const unsigned thread = thread_number();
  unsigned long long turn = position / kPhiloxTurn + thread;
  if (thread >= kPhiloxThreads || turn * kPhiloxTurn >= end) return;
  const unsigned own = static_cast<unsigned>(turn % kPhiloxThreads);
  unsigned long long used = blocks[own];
  curandStatePhilox4_32_10_t state;
  curand_init(seed, own, used * kPhiloxTurn, &state);
  for (; turn * kPhiloxTurn < end; turn += kPhiloxThreads) {
    typename Kind::Result made[kPhiloxTurn];
    Kind::make(&state, scale, made);
#pragma unroll
    for (unsigned i = 0; i < kPhiloxTurn; ++i) {
      const unsigned long long at = turn * kPhiloxTurn + i;
      if (at >= position && at < end) out[at - position] = made[i];
    }
    if ((turn + 1) * kPhiloxTurn <= end) used += Kind::kBlocks;
  }
  blocks[own] = used;
}

#define GENERATORS(name, Kind)                                                                                        \
  extern "C" __global__ void curand_xorwow_##name(curandStateXORWOW_t* states, unsigned first,                        \
                                                  unsigned long long turns, Scale scale, Kind::Result* out) {         \
    xorwow<Kind>(states, first, turns, scale, out);                                                                   \
  }                                                                                                                   \
  extern "C" __global__ void curand_philox_##name(unsigned long long* blocks, unsigned long long seed,                \
                                                  unsigned long long position, unsigned long long count, Scale scale, \
                                                  Kind::Result* out) {                                                \
    philox<Kind>(blocks, seed, position, count, scale, out);                                                          \
  }
GENERATORS(bits, Bits)
GENERATORS(uniform, Uniform)
GENERATORS(uniform_double, UniformDouble)
GENERATORS(normal, Normal)
GENERATORS(normal_double, NormalDouble)
GENERATORS(log_normal, Log<Normal>)
GENERATORS(log_normal_double, Log<NormalDouble>)
