// Pthreads form of decrypt: AES-128 (FIPS-197, 5.3) byte by byte, as a C program does it without tables of products:
// the 100 to 200 million instructions of report section 5 are some 6000 to 12000 for each of the 16384 blocks, far more
// than four look-ups for a column take. A thread takes every (number of threads)-th block. The state is private data;
// the inverse S-box and the round keys are shared, and reached through the D-cache.
#include "workloads/pthreads.h"

__device__ const unsigned char kInverseSbox[256] = {
#include "workloads/decrypt/inverse_sbox.inc"
};

// The product with x in GF(2^8).
__device__ __forceinline__ unsigned times_two(unsigned a) {
  return ((a << 1) ^ ((a >> 7) * 0x1bU)) & 0xffU;
}

// 14 * a + 11 * b + 13 * c + 9 * d there: 8 * (a + b + c + d) + 4 * (a + c) + 2 * (a + b) + b + c + d.
__device__ __forceinline__ unsigned mix(unsigned a, unsigned b, unsigned c, unsigned d) {
  return times_two(times_two(times_two(a ^ b ^ c ^ d) ^ a ^ c) ^ a ^ b) ^ b ^ c ^ d;
}

// cipher, plain: 16 bytes a block. round_keys: 176 bytes. blocks: number of 16-byte blocks.
extern "C" __global__ void __launch_bounds__(1024)
    decrypt(const unsigned char* cipher, unsigned char* plain, const unsigned char* round_keys, unsigned blocks,
            unsigned threads) {
  __shared__ unsigned char storage[16 * pthreads::kMostThreads];
  const pthreads::Private<unsigned char> state(storage, threadIdx.x);
  for (unsigned block = threadIdx.x; block < blocks; block += threads) {
    for (unsigned i = 0; i < 16; ++i) {
      state[i] = cipher[block * 16 + i] ^ round_keys[160 + i];
    }
    for (int round = 9; round >= 0; --round) {
      // InvShiftRows: row r goes r columns to the right.
      const unsigned char row1 = state[13];
      state[13] = state[9];
      state[9] = state[5];
      state[5] = state[1];
      state[1] = row1;
      const unsigned char row2 = state[2];
      state[2] = state[10];
      state[10] = row2;
      const unsigned char row2_odd = state[6];
      state[6] = state[14];
      state[14] = row2_odd;
      const unsigned char row3 = state[3];
      state[3] = state[7];
      state[7] = state[11];
      state[11] = state[15];
      state[15] = row3;
      // InvSubBytes and AddRoundKey.
      for (unsigned i = 0; i < 16; ++i) {
        state[i] = kInverseSbox[state[i]] ^ round_keys[round * 16 + i];
      }
      // InvMixColumns, after every round but the last.
      if (round == 0) {
        break;
      }
      for (unsigned column = 0; column < 16; column += 4) {
        const unsigned a = state[column];
        const unsigned b = state[column + 1];
        const unsigned c = state[column + 2];
        const unsigned d = state[column + 3];
        state[column] = mix(a, b, c, d);
        state[column + 1] = mix(b, c, d, a);
        state[column + 2] = mix(c, d, a, b);
        state[column + 3] = mix(d, a, b, c);
      }
    }
    for (unsigned i = 0; i < 16; ++i) {
      plain[block * 16 + i] = state[i];
    }
  }
}
