// What a new centre would save each of the clusters and their points, as Rodinia's streamcluster has it: a thread per
// point. Coordinates stand dimension by dimension, so that coordinates of consecutive points are beside each other; the
// new centre's are brought into the scratchpad.
constexpr unsigned kMostDimensions = 64;

// costs[i]: weight of point i times its squared distance from its centre. centre_of[i]: the number of that centre.
// savings: centres + 1 numbers for each point: by the centre's number, what leaving it saves; the last one, if point i
// goes to the new centre, what that costs more (a negative number). goes[i]: whether it does.
extern "C" __global__ void __launch_bounds__(512)
    compute_savings(const float* __restrict__ coordinates, const float* __restrict__ weights,
                    const float* __restrict__ costs, const unsigned* __restrict__ centre_of,
                    float* __restrict__ savings, unsigned* __restrict__ goes, unsigned points, unsigned dimensions,
                    unsigned centres, unsigned candidate) {
  __shared__ float centre[kMostDimensions];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    for (unsigned dimension = 0; dimension < dimensions; ++dimension) {
      centre[dimension] = coordinates[dimension * points + candidate];
    }
  }
  __syncthreads();
  if (i >= points) {
    return;
  }
  float distance = 0;
  for (unsigned dimension = 0; dimension < dimensions; ++dimension) {
    const float difference = coordinates[dimension * points + i] - centre[dimension];
    distance += difference * difference;
  }
  const float cost = distance * weights[i];
  const float now = costs[i];
  float* const mine = savings + i * (centres + 1);
  if (cost < now) {
    goes[i] = 1;
    mine[centres] = cost - now;
  } else {
    mine[centre_of[i]] = now - cost;
  }
}
