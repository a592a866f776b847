// Functions of vectors (level 1) that change them, element by element. A vector with a negative increment is given by
// the address of its first element, which lies last in memory.
#include "cuda/cublas/kernels/numbers.h"

using namespace heddle::cublas;
using T = HEDDLE_NUMBER;
using Value = Numbers<T>::Value;
using Real = Numbers<T>::Real;

#define FOR_EACH(i, n) for (unsigned i = thread_number(); i < n; i += thread_count())

KERNEL(copy)(unsigned n, const T* x, long long incx, T* y, long long incy) {
  FOR_EACH(i, n) y[i * incy] = x[i * incx];
}

KERNEL(swap)(unsigned n, T* x, long long incx, T* y, long long incy) {
  FOR_EACH(i, n) {
    const T kept = x[i * incx];
    x[i * incx] = y[i * incy];
    y[i * incy] = kept;
  }
}

KERNEL(axpy)(unsigned n, Factor<Value> alpha, const T* x, long long incx, T* y, long long incy) {
  const Value factor = value_of(alpha);
  if (is_zero(factor)) return;
  FOR_EACH(i, n) {
    y[i * incy] = as<T>(multiply_add(factor, as<Value>(x[i * incx]), as<Value>(y[i * incy])));
  }
}

KERNEL(scal)(unsigned n, Factor<Value> alpha, T* x, long long incx) {
  const Value factor = value_of(alpha);
  FOR_EACH(i, n) x[i * incx] = as<T>(factor * as<Value>(x[i * incx]));
}

#ifdef HEDDLE_EXACT_NUMBER
// x, y = c x + s y, c y - conj(s) x
KERNEL(rot)(unsigned n, T* x, long long incx, T* y, long long incy, Factor<T> cosine, Factor<T> sine) {
  const T c = value_of(cosine);
  const T s = value_of(sine);
  FOR_EACH(i, n) {
    const T a = x[i * incx];
    const T b = y[i * incy];
    x[i * incx] = multiply_add(c, a, s * b);
    y[i * incy] = multiply_add(c, b, -(conjugate(s) * a));
  }
}
#endif
