// Edges of a grey image: a convolution of each pixel and its eight neighbours with nine weights, whose magnitude, cut
// at white, is the edge's (the DWS report's Filter, table 2: "edge detection", "gathering a 3-by-3 neighborhood"). The
// loop over the neighbourhood stays one, as the report's 12 instructions from branch to branch (table 1) say.
#include "workloads/parallel_for.h"

// image, edges: a word per pixel, row by row. A task is a pixel.
extern "C" __global__ void __launch_bounds__(64)
    filter(const int* __restrict__ image, const int* __restrict__ weights, int* __restrict__ edges, int width,
           int height, unsigned tasks, unsigned interleaved) {
  const parallel::Tasks mine = parallel::my_tasks(tasks, interleaved);
  for (unsigned i = mine.first; i < mine.end; i += mine.step) {
    const int x = static_cast<int>(i % static_cast<unsigned>(width));
    const int y = static_cast<int>(i / static_cast<unsigned>(width));
    int sum = 0;
    const int* weight = weights;
    // Beyond the image's edge a pixel is like the nearest one inside.
#pragma nounroll
    for (int dy = -1; dy <= 1; ++dy) {
      const int* const row = image + min(max(y + dy, 0), height - 1) * width;
#pragma nounroll
      for (int dx = -1; dx <= 1; ++dx) {
        sum += row[min(max(x + dx, 0), width - 1)] * *weight++;
      }
    }
    edges[i] = min(abs(sum), 255);
  }
  parallel::end_loop();
}
