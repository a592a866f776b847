#include <stdio.h>
#include <stdlib.h>
__global__ void bfs(const int* first, const int* edges, int* level, int n, int now, int* more) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || level[v] != now) return;
  for (int e = first[v]; e < first[v + 1]; ++e)
    if (level[edges[e]] < 0) {
      level[edges[e]] = now + 1;
      *more = 1;
    }
}
int main() {
  const int n = 2000, degree = 3;
  int *first, *edges, *level;
  cudaMallocHost((void**)&first, (n + 1) * sizeof(int));
  cudaHostAlloc((void**)&edges, n * degree * sizeof(int), cudaHostAllocDefault);
  level = (int*)malloc(n * sizeof(int));
  unsigned seed = 1;
  for (int v = 0; v <= n; ++v) first[v] = v * degree;
  for (int e = 0; e < n * degree; ++e) {
    seed = seed * 1664525u + 1013904223u;
    edges[e] = (seed >> 8) % n;
  }
  for (int v = 0; v < n; ++v) level[v] = v ? -1 : 0;
  int *d_first, *d_edges, *d_level, *d_more;
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEvent_t ready, start, stop;
  cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaMalloc((void**)&d_first, (n + 1) * sizeof(int));
  cudaMalloc((void**)&d_edges, n * degree * sizeof(int));
  cudaMalloc((void**)&d_level, n * sizeof(int));
  cudaMalloc((void**)&d_more, sizeof(int));
  cudaEventRecord(start, a);
  cudaMemcpyAsync(d_first, first, (n + 1) * sizeof(int), cudaMemcpyHostToDevice, a);
  cudaMemcpyAsync(d_edges, edges, n * degree * sizeof(int), cudaMemcpyHostToDevice, b);
  cudaMemcpyAsync(d_level, level, n * sizeof(int), cudaMemcpyHostToDevice, b);
  cudaEventRecord(ready, b);
  cudaStreamWaitEvent(a, ready, 0);
  int more = 1, rounds = 0;
  for (int now = 0; more; ++now, ++rounds) {
    cudaMemsetAsync(d_more, 0, sizeof(int), a);
    bfs<<<(n + 127) / 128, 128, 0, a>>>(d_first, d_edges, d_level, n, now, d_more);
    cudaMemcpyAsync(&more, d_more, sizeof(int), cudaMemcpyDeviceToHost, a);
    while (cudaStreamQuery(a) == cudaErrorNotReady) {
    }
  }
  cudaEventRecord(stop, a);
  cudaEventSynchronize(stop);
  float ms;
  cudaEventElapsedTime(&ms, start, stop);
  int* out = (int*)malloc(n * sizeof(int));
  cudaMemcpy(out, d_level, n * sizeof(int), cudaMemcpyDeviceToHost);
  bool changed = true;
  while (changed) {
    changed = false;
    for (int v = 0; v < n; ++v)
      if (level[v] >= 0)
        for (int e = first[v]; e < first[v + 1]; ++e)
          if (level[edges[e]] < 0 || level[edges[e]] > level[v] + 1) {
            level[edges[e]] = level[v] + 1;
            changed = true;
          }
  }
  bool ok = ms > 0 && cudaGetLastError() == cudaSuccess;
  for (int v = 0; v < n; ++v) ok = ok && out[v] == level[v];
  printf("%s after %d rounds, %.4f ms\n", ok ? "PASSED" : "FAILED", rounds, ms);
  return !ok;
}
