// A convolutional neural network that reads digits, of the form of Simard, Steinkraus and Platt (ICDAR 2003): two
// layers of maps, whose units look at 5 x 5 units two apart of each map before, and two of units that look at all
// before them. A launch per layer, a thread per unit, blocks as large as a map: of one thread in the last two layers.
constexpr unsigned kPixels = 29;  // side of a picture
constexpr unsigned kFirst = 13;   // side of a map of the first layer
constexpr unsigned kSecond = 5;   // of the second
constexpr unsigned kReach = 5;    // side of what a unit looks at
constexpr unsigned kWeights = kReach * kReach;

// LeCun's scaled hyperbolic tangent (Efficient BackProp, 1998).
__device__ __forceinline__ float squash(float sum) {
  return 1.7159f * tanhf(0.6666667f * sum);
}

// What a unit at (x, y) of its map has of a map that is `side` units wide.
__device__ __forceinline__ float look(const float* __restrict__ map, const float* __restrict__ weights, unsigned side,
                                      unsigned x, unsigned y) {
  float sum = 0;
  for (unsigned row = 0; row < kReach; ++row) {
    const float* const units = map + (2 * y + row) * side + 2 * x;
    for (unsigned column = 0; column < kReach; ++column) {
      sum += weights[row * kReach + column] * units[column];
    }
  }
  return sum;
}

// Grid: (maps, pictures). weights: of each map its bias and 5 x 5 weights.
extern "C" __global__ void __launch_bounds__(kFirst* kFirst)
    first_layer(const float* __restrict__ pictures, const float* __restrict__ weights, float* __restrict__ units) {
  const unsigned map = blockIdx.x;
  const unsigned picture = blockIdx.y;
  const float* const mine = weights + map * (1 + kWeights);
  const float sum = mine[0] + look(pictures + picture * kPixels * kPixels, mine + 1, kPixels, threadIdx.x, threadIdx.y);
  units[((picture * gridDim.x + map) * kFirst + threadIdx.y) * kFirst + threadIdx.x] = squash(sum);
}

// Grid: (maps, pictures). weights: of each map its bias and 5 x 5 weights for each of the `before` maps before it.
extern "C" __global__ void __launch_bounds__(kSecond* kSecond)
    second_layer(const float* __restrict__ maps, const float* __restrict__ weights, float* __restrict__ units,
                 unsigned before) {
  const unsigned map = blockIdx.x;
  const unsigned picture = blockIdx.y;
  const float* const mine = weights + map * (1 + before * kWeights);
  float sum = mine[0];
  for (unsigned from = 0; from < before; ++from) {
    sum += look(maps + (picture * before + from) * kFirst * kFirst, mine + 1 + from * kWeights, kFirst, threadIdx.x,
                threadIdx.y);
  }
  units[((picture * gridDim.x + map) * kSecond + threadIdx.y) * kSecond + threadIdx.x] = squash(sum);
}

__constant__ unsigned of_place[kWeights] = {0,  1,  2,  3,  4,  13, 14, 15, 16, 17, 26, 27, 28,
                                            29, 30, 39, 40, 41, 42, 43, 52, 53, 54, 55, 56};
constexpr unsigned kMaps = 6;  // of the first layer

// As second_layer, by places of the window: what a unit has of all six maps at a place is written out, and their six
// weights lie side by side.
extern "C" __global__ void __launch_bounds__(kSecond* kSecond)
    second_layer_by_places(const float* __restrict__ maps, const float* __restrict__ weights,
                           float* __restrict__ units) {
  const unsigned map = blockIdx.x;
  const unsigned picture = blockIdx.y;
  const float* mine = weights + map * (1 + kMaps * kWeights);
  const float* const corner = maps + picture * kMaps * kFirst * kFirst + 2 * threadIdx.y * kFirst + 2 * threadIdx.x;
  float sum = *mine++;
#pragma nounroll
  for (unsigned place = 0; place < kWeights; ++place, mine += kMaps) {
    const float* const unit = corner + of_place[place];
#pragma unroll
    for (unsigned from = 0; from < kMaps; ++from) {
      sum += mine[from] * unit[from * kFirst * kFirst];
    }
  }
  units[((picture * gridDim.x + map) * kSecond + threadIdx.y) * kSecond + threadIdx.x] = squash(sum);
}

// Grid: (units, pictures), blocks of one thread. weights: of each unit its bias and a weight for each of the `inputs`
// units before it.
extern "C" __global__ void __launch_bounds__(1)
    full_layer(const float* __restrict__ before, const float* __restrict__ weights, float* __restrict__ units,
               unsigned inputs) {
  const unsigned unit = blockIdx.x;
  const unsigned picture = blockIdx.y;
  const float* const mine = weights + unit * (1 + inputs);
  float sum = mine[0];
  for (unsigned i = 0; i < inputs; ++i) {
    sum += mine[1 + i] * before[picture * inputs + i];
  }
  units[picture * gridDim.x + unit] = squash(sum);
}
