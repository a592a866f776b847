#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"
#include "kernel.h"

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 32;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  const float milliseconds = multiply(a.data(), b.data(), c.data(), n, 8);
  bool right = true;
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
      right = right && sum == c[y * n + x];
    }
  }
  return finish(right, milliseconds);
}
