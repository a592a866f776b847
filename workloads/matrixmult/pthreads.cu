// Pthreads form of matrixmult: c = a * b by rows and columns, an element of c at a time, every (number of threads)-th
// one for a thread. Neighbouring threads have neighbouring columns.
#include "workloads/pthreads.h"

// n x n matrices of integers.
extern "C" __global__ void __launch_bounds__(1024)
    matrixmult(const unsigned* a, const unsigned* b, unsigned* c, unsigned n, unsigned threads) {
  for (unsigned element = threadIdx.x; element < n * n; element += threads) {
    const unsigned row = element / n;
    const unsigned column = element % n;
    unsigned sum = 0;
    for (unsigned k = 0; k < n; ++k) {
      sum += a[row * n + k] * b[k * n + column];
    }
    c[element] = sum;
  }
}
