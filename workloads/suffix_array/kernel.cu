// Reads matched to a reference by its suffix array, as MUMmerGPU++ does in place of a tree: a thread per read, which
// for each place at which a match can begin looks for the letters from there on by binary search, and compares with
// what stands before and behind where they would be.

// How many letters of a text from `begin` on are as wanted.
static __device__ unsigned common(const unsigned char* text, unsigned size, unsigned begin, const unsigned char* wanted,
                                  unsigned letters) {
  unsigned same = 0;
  while (same < letters && begin + same < size && text[begin + same] == wanted[same]) {
    ++same;
  }
  return same;
}

// suffixes: where the reference's suffixes begin, in the order of their letters. Others as of suffix_tree.
extern "C" __global__ void __launch_bounds__(256)
    match(const unsigned* __restrict__ suffixes, const unsigned char* __restrict__ reference, unsigned size,
          const unsigned char* __restrict__ reads, unsigned* __restrict__ matched, unsigned count, unsigned letters,
          unsigned places) {
  const unsigned read = blockIdx.x * blockDim.x + threadIdx.x;
  if (read >= count) {
    return;
  }
  for (unsigned place = 0; place < places; ++place) {
    const unsigned char* const wanted = reads + read * letters + place;
    const unsigned length = letters - place;
    unsigned low = 0;
    unsigned high = size;  // the first suffix that is not below what is wanted is in [low, high]
    unsigned most = 0;
    while (low < high) {
      const unsigned middle = (low + high) / 2;
      const unsigned begin = suffixes[middle];
      const unsigned same = common(reference, size, begin, wanted, length);
      most = max(most, same);
      const bool below = same < length && (begin + same == size || reference[begin + same] < wanted[same]);
      if (below) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    matched[read * places + place] = most;
  }
}
