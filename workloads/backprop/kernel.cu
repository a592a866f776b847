// A layer of a neural network forward and back, as Rodinia's backprop has it: n inputs, 16 hidden units. A block of 16
// x 16 threads takes 16 inputs; thread (x, y) is input y's connection to unit x. Row i of the weights belongs to input
// i, row 0 to the bias; a row has kPitch words, of which the first is unused.
constexpr unsigned kUnits = 16;
constexpr unsigned kPitch = kUnits + 1;

// inputs[0]: the bias. partial[16 b + x]: what block b's inputs add to unit x. What the trees leave of the products is
// stored over the weights.
extern "C" __global__ void __launch_bounds__(256)
    layer_forward(const float* __restrict__ inputs, float* __restrict__ weights, float* __restrict__ partial) {
  __shared__ float mine[kUnits];
  __shared__ float product[kUnits][kUnits];
  const unsigned x = threadIdx.x;
  const unsigned y = threadIdx.y;
  const unsigned input = blockIdx.y * kUnits + y + 1;
  if (x == 0) {
    mine[y] = inputs[input];
  }
  __syncthreads();
  product[y][x] = weights[input * kPitch + x + 1];
  __syncthreads();
  product[y][x] *= mine[y];
  __syncthreads();
  for (unsigned step = 1; step < kUnits; step *= 2) {
    if (y % (2 * step) == 0) {
      product[y][x] += product[y + step][x];
    }
    __syncthreads();
  }
  weights[input * kPitch + x + 1] = product[y][x];
  __syncthreads();
  if (x == 0) {
    partial[blockIdx.y * kUnits + y] = product[0][y];
  }
}

// deltas[x + 1]: unit x's error. moves: the weights' last changes, which a part of is repeated.
extern "C" __global__ void __launch_bounds__(256)
    adjust_weights(const float* __restrict__ inputs, const float* __restrict__ deltas, float* __restrict__ weights,
                   float* __restrict__ moves, float rate, float momentum) {
  const unsigned x = threadIdx.x + 1;
  const unsigned input = blockIdx.y * kUnits + threadIdx.y + 1;
  const unsigned at = input * kPitch + x;
  const float move = rate * deltas[x] * inputs[input] + momentum * moves[at];
  weights[at] += move;
  moves[at] = move;
  __syncthreads();
  if (input == 1) {  // the bias goes with the first block
    const float bias = rate * deltas[x] + momentum * moves[x];
    weights[x] += bias;
    moves[x] = bias;
  }
}
