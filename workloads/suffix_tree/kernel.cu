// Reads matched to a reference by its suffix tree, as MUMmerGPU has it: a thread per read, which walks down from the
// root for each place at which a match can begin.

// A node and the edge to it: `length` letters of the reference from `begin` on. children: by the first letter of their
// edges; 0: none (the root is no child).
struct __attribute__((aligned(8))) Node {
  unsigned begin;
  unsigned length;
  unsigned children[4];
};

// reads: `letters` letters each. matched: for each read, of each of its first `places` letters, how many from there on
// stand in the reference.
extern "C" __global__ void __launch_bounds__(256)
    match(const Node* __restrict__ tree, const unsigned char* __restrict__ reference,
          const unsigned char* __restrict__ reads, unsigned* __restrict__ matched, unsigned count, unsigned letters,
          unsigned places) {
  const unsigned read = blockIdx.x * blockDim.x + threadIdx.x;
  if (read >= count) {
    return;
  }
  const unsigned char* const mine = reads + read * letters;
  for (unsigned place = 0; place < places; ++place) {
    unsigned node = 0;
    unsigned at = place;
    bool goes_on = true;
    while (goes_on && at < letters) {
      node = tree[node].children[mine[at]];
      if (node == 0) {
        break;
      }
      const unsigned char* const edge = reference + tree[node].begin;
      const unsigned length = tree[node].length;
      unsigned along = 0;
      while (along < length && at < letters && edge[along] == mine[at]) {
        ++along;
        ++at;
      }
      goes_on = along == length;
    }
    matched[read * places + place] = at - place;
  }
}
