#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"
#include "kernel.h"

int main() {
  const int n = 48;
  float4* bodies;
  CHECK(cudaMallocManaged((void**)&bodies, n * sizeof(float4)));
  // Two clouds that mirror each other: what pulls one half must pull the other the other way.
  for (int i = 0; i < n / 2; ++i) {
    const float a = static_cast<float>(i);
    bodies[i] = make_float4(std::cos(a), std::sin(a), 0.1f * a, 1.0f);
    bodies[n - 1 - i] = make_float4(-bodies[i].x, -bodies[i].y, -bodies[i].z, 1.0f);
  }
  const float4 first = bodies[0];
  const float milliseconds = simulate(bodies, n, 3);
  bool right = bodies[0].x != first.x;
  for (int i = 0; i < n; ++i) {
    const float4 a = bodies[i], b = bodies[n - 1 - i];
    right = right && std::fabs(a.x + b.x) + std::fabs(a.y + b.y) + std::fabs(a.z + b.z) < 1e-3f;
  }
  CHECK(cudaFree(bodies));
  return finish(right, milliseconds);
}
