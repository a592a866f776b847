#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"
#include "kernel.h"

int main() {
  const int n = 256;
  std::vector<unsigned> keys(n), sorted(n), expected;
  std::vector<int> places(n);
  unsigned x = 12345;
  for (int i = 0; i < n; ++i) {
    x = x * 1664525U + 1013904223U;
    keys[i] = x >> 8U;
    places[i] = i;
  }
  expected = keys;
  std::sort(expected.begin(), expected.end());
  const float milliseconds = sort(keys.data(), sorted.data(), places.data(), n);
  bool right = sorted == expected;
  for (int i = 0; i < n; ++i) right = right && keys[places[i]] == sorted[i];
  return finish(right, milliseconds);
}
