// How far each place is from a target, by its latitude and longitude: a thread per place, as Rodinia's nn has it.
extern "C" __global__ void __launch_bounds__(256)
    nearest(const float2* __restrict__ places, float* __restrict__ distances, unsigned count, float latitude,
            float longitude) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    const float2 place = places[i];
    const float down = latitude - place.x;
    const float across = longitude - place.y;
    distances[i] = sqrtf(down * down + across * across);
  }
}
