#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>

#include "answer.h"

int main(void) {
  int count = 0;
  cuInit(0);
  cuDeviceGetCount(&count);
  printf("%d device: %d\n", count, answer(7));
  return cudaGetLastError();
}
