// kernel.cu with the tree and the reference as textures, as the original fetches them: linear memory, of which a node
// is three texels of two words (where its edge begins and how long it is; two children each).
extern "C" __global__ void __launch_bounds__(256)
    match(cudaTextureObject_t tree, cudaTextureObject_t reference, const unsigned char* __restrict__ reads,
          unsigned* __restrict__ matched, unsigned count, unsigned letters, unsigned places) {
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
      const unsigned letter = mine[at];
      const uint2 children = tex1Dfetch<uint2>(tree, 3 * node + 1 + (letter >> 1));
      node = (letter & 1) != 0 ? children.y : children.x;
      if (node == 0) {
        break;
      }
      const uint2 edge = tex1Dfetch<uint2>(tree, 3 * node);
      unsigned along = 0;
      while (along < edge.y && at < letters && tex1Dfetch<unsigned char>(reference, edge.x + along) == mine[at]) {
        ++along;
        ++at;
      }
      goes_on = along == edge.y;
    }
    matched[read * places + place] = at - place;
  }
}
