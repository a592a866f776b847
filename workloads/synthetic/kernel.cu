// Two branches, one after the other, whose outcomes the colour of a pixel decides (ODGS paper, figure 9): a thread per
// pixel, four paths. How the colours lie in the picture decides how many warps part at either branch.

// One round of a path: a step that can be undone, whose constants differ from path to path.
template <unsigned kMultiplier, unsigned kShift>
__device__ __forceinline__ unsigned rounds_of(unsigned x, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    x = (x ^ (x >> kShift)) * kMultiplier;
    x = (x ^ (x >> (kShift + 1))) * kMultiplier + i;
  }
  return x;
}

// colours: 0 to 3 for each pixel, row by row; bit 0 decides branch A, bit 1 branch B. mixed: the number of a pixel
// after the rounds of its path. picture: what was executed, as a grey of 0, 85, 170 or 255 (red in the lowest byte,
// then green, blue, and 255).
extern "C" __global__ void __launch_bounds__(256)
    two_branches(const unsigned char* __restrict__ colours, unsigned* __restrict__ mixed,
                 unsigned* __restrict__ picture, unsigned rounds) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned pixel = y * (gridDim.x * blockDim.x) + x;
  const unsigned colour = colours[pixel];
  unsigned number = pixel;
  unsigned shade = 0xff000000U;
  if ((colour & 1) != 0) {  // A
    number = rounds_of<0x2c1b3c6dU, 15>(number, rounds);
    shade += 0x555555U;
  } else {
    number = rounds_of<0x7feb352dU, 16>(number, rounds);
  }
  number ^= shade;
  if ((colour & 2) != 0) {  // B
    number = rounds_of<0x85ebca6bU, 13>(number, rounds);
    shade += 0xaaaaaaU;
  } else {
    number = rounds_of<0x297a2d39U, 14>(number, rounds);
  }
  mixed[pixel] = number;
  picture[pixel] = shade;
}
