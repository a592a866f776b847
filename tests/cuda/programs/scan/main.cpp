#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"
#include "kernel.h"

int main() {
  const int n = 1000;
  std::vector<int> data(n), expected(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    data[i] = i * 7 % 23;
    expected[i] = sum += data[i];
  }
  const float milliseconds = scan(data.data(), n);
  return finish(data == expected, milliseconds);
}
