#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"
#include "kernel.h"

int main() {
  const int n = 300;
  const float weights[] = {1, 2, 4, 2, 1};
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i % 11);
  bool right = true;
  float milliseconds = 0;
  for (int radius = 1; radius <= kLargest; ++radius) {
    int beyond = 0;
    milliseconds += convolve(in.data(), out.data(), n, weights, radius, &beyond);
    right = right && beyond == radius * (radius + 1);
    for (int i = 0; i < n; ++i) {
      float sum = 0;
      for (int k = -radius; k <= radius; ++k) {
        if (i + k >= 0 && i + k < n) sum += weights[k + radius] * in[i + k];
      }
      right = right && sum == out[i];
    }
  }
  return finish(right, milliseconds);
}
