// The Mandelbrot set: a thread per point, which iterates until the point has escaped. Neighbours escape after different
// numbers of steps, so warps diverge along the set's edge.
extern "C" __global__ void mandelbrot(unsigned char* colours, unsigned* steps, unsigned width, unsigned height,
                                      unsigned most) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) {
    return;
  }
  const float c_real = -2.1f + 2.8f * x / width;
  const float c_imaginary = -1.4f + 2.8f * y / height;
  float real = 0;
  float imaginary = 0;
  unsigned step = 0;
  while (step < most && real * real + imaginary * imaginary < 4.0f) {
    const float next = real * real - imaginary * imaginary + c_real;
    imaginary = 2 * real * imaginary + c_imaginary;
    real = next;
    ++step;
  }
  const unsigned pixel = y * width + x;
  steps[pixel] = step;
  const unsigned shade = 255 * step / most;
  colours[3 * pixel] = step == most ? 0 : 255 - shade;
  colours[3 * pixel + 1] = step == most ? 0 : 64 + shade / 2;
  colours[3 * pixel + 2] = step == most ? 0 : shade;
}
