// AES-128 decryption (FIPS-197, 5.3), byte by byte: each thread decrypts every (number of threads)-th 16-byte block.
// The inverse S-box and the multiples by 9, 11, 13 and 14 in GF(2^8) stand in the scratchpad, as does the state: column
// c of a thread's state is word c * 256 + thread, so that the threads of a warp use different banks.
constexpr unsigned kBlock = 256;

__constant__ unsigned char kInverseSbox[256] = {
#include "workloads/decrypt/inverse_sbox.inc"
};

__device__ __forceinline__ unsigned times_two(unsigned x) {
  return ((x << 1) ^ ((x >> 7) * 0x1bU)) & 0xffU;
}

// round_keys: 44 words, little-endian columns of the expanded key. blocks: number of 16-byte blocks.
extern "C" __global__ void __launch_bounds__(256)
    decrypt(const unsigned* __restrict__ cipher, unsigned* __restrict__ plain, const unsigned* __restrict__ round_keys,
            unsigned blocks) {
  __shared__ unsigned char inverse_sbox[256];
  __shared__ unsigned char times9[256];
  __shared__ unsigned char times11[256];
  __shared__ unsigned char times13[256];
  __shared__ unsigned char times14[256];
  __shared__ unsigned keys[44];
  __shared__ unsigned state[4 * kBlock];
  const unsigned thread = threadIdx.x;
  {
    const unsigned x2 = times_two(thread);
    const unsigned x4 = times_two(x2);
    const unsigned x8 = times_two(x4);
    inverse_sbox[thread] = kInverseSbox[thread];
    times9[thread] = x8 ^ thread;
    times11[thread] = x8 ^ x2 ^ thread;
    times13[thread] = x8 ^ x4 ^ thread;
    times14[thread] = x8 ^ x4 ^ x2;
    if (thread < 44) {
      keys[thread] = round_keys[thread];
    }
  }
  __syncthreads();

  unsigned* const mine = state + thread;
  const unsigned stride = gridDim.x * kBlock;
  for (unsigned block = blockIdx.x * kBlock + thread; block < blocks; block += stride) {
    for (unsigned c = 0; c < 4; ++c) {
      mine[c * kBlock] = cipher[block * 4 + c] ^ keys[40 + c];
    }
    for (int key = 36; key >= 0; key -= 4) {
      // InvShiftRows and InvSubBytes: byte r of column c comes from column c - r.
      unsigned next[4];
#pragma unroll
      for (unsigned c = 0; c < 4; ++c) {
        unsigned column = 0;
#pragma unroll
        for (unsigned r = 0; r < 4; ++r) {
          const unsigned from = mine[((c - r) & 3U) * kBlock];
          column |= static_cast<unsigned>(inverse_sbox[(from >> (8 * r)) & 0xffU]) << (8 * r);
        }
        next[c] = column ^ keys[key + c];
      }
      // InvMixColumns, after every round but the last.
#pragma unroll
      for (unsigned c = 0; c < 4; ++c) {
        unsigned column = next[c];
        if (key != 0) {
          const unsigned b0 = column & 0xffU;
          const unsigned b1 = (column >> 8) & 0xffU;
          const unsigned b2 = (column >> 16) & 0xffU;
          const unsigned b3 = column >> 24;
          column = times14[b0] ^ times11[b1] ^ times13[b2] ^ times9[b3];
          column |= (times9[b0] ^ times14[b1] ^ times11[b2] ^ times13[b3]) << 8;
          column |= (times13[b0] ^ times9[b1] ^ times14[b2] ^ times11[b3]) << 16;
          column |= static_cast<unsigned>(times11[b0] ^ times13[b1] ^ times9[b2] ^ times14[b3]) << 24;
        }
        mine[c * kBlock] = column;
      }
    }
    for (unsigned c = 0; c < 4; ++c) {
      plain[block * 4 + c] = mine[c * kBlock];
    }
  }
}
