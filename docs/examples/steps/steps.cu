// A heat equation with everything that a host program would do between its launches done by the launch file:
// coefficients in constant memory, a row of pointers, a step counter, a copy back, a stop when nothing moves any more.
namespace heat {
__constant__ float weights[3];
__device__ int steps_done;
}  // namespace heat

struct Fields {
  const float* from;
  float* to;
  int cells;
  bool fixed_ends;
};

// One step from fields.from to fields.to; residual becomes the largest change.
template <int kScale, bool kCount>
__global__ void step(Fields fields, float* residual, int number) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= fields.cells) {
    return;
  }
  const bool end = i == 0 || i == fields.cells - 1;
  const float old = fields.from[i];
  float now = old;
  if (!(end && fields.fixed_ends)) {
    const float left = i == 0 ? old : fields.from[i - 1];
    const float right = i == fields.cells - 1 ? old : fields.from[i + 1];
    now = heat::weights[0] * left + heat::weights[1] * old + heat::weights[2] * right;
  }
  fields.to[i] = now;
  const float change = now > old ? now - old : old - now;
  atomicMax(reinterpret_cast<int*>(residual),
            __float_as_int(kScale * change));  // no float below 0: ordered as integers
  if (kCount && i == 0) {
    heat::steps_done = number + 1;
  }
}

template __global__ void step<1, true>(Fields, float*, int);  // an instance, for the launch file to name

// sums[k] is the sum of the k-th of `count` parts of `cells` cells each.
__global__ void sum_parts(float* const* parts, float* sums, int cells, int count) {
  if (threadIdx.x < count) {
    float sum = 0;
    for (int i = 0; i < cells; ++i) {
      sum += parts[threadIdx.x][i];
    }
    sums[threadIdx.x] = sum;
  }
}
