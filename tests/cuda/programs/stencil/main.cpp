#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"
#include "kernel.h"

int main() {
  const int w = 37, h = 21, steps = 4;
  std::vector<float> plate(w * h), expected(w * h), next(w * h);
  for (int i = 0; i < w * h; ++i) plate[i] = static_cast<float>(i % 13) * 8;
  expected = plate;
  for (int s = 0; s < steps; ++s) {
    next = expected;
    for (int y = 1; y < h - 1; ++y) {
      for (int x = 1; x < w - 1; ++x) {
        const int i = y * w + x;
        next[i] = 0.25f * (expected[i - 1] + expected[i + 1] + expected[i - w] + expected[i + w]);
      }
    }
    expected = next;
  }
  const float milliseconds = heat(plate.data(), w, h, steps);
  return finish(plate == expected, milliseconds);
}
