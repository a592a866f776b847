// cuBLAS's functions of vectors, in four types, with increments of all signs; and of one number as a result.
#include "common.h"

#include <array>
#include <cstdint>
#include <limits>

static size_t place(int i, int n, int increment) {
  return increment > 0 ? size_t(i) * increment : size_t(n - 1 - i) * -increment;
}

template <class T>
static void change(int n, int incx, int incy) {
  using Real = typename Of<T>::Real;
  const size_t size = 1 + size_t(n) * 3;
  const T alpha = number<T>();
  const Exact a = exact(alpha);
  const auto each = [&](auto&& body) {
    for (int i = 0; i < n; ++i) body(place(i, n, incx), place(i, n, incy));
  };
  {
    Numbers<T> x(size), y(size);
    OK(OF_TYPE(T, copy)(handle, n, x.device, incx, y.device, incy));
    each([&](size_t i, size_t j) { y.should[j] = x.should[i]; });
    CHECK(x.right() && y.right());
    OK(OF_TYPE(T, axpy)(handle, n, &alpha, x.device, incx, y.device, incy));
    each([&](size_t i, size_t j) { y.should[j] += a * x.should[i]; });
    CHECK(x.right() && y.right());
    OK(OF_TYPE(T, swap)(handle, n, x.device, incx, y.device, incy));
    each([&](size_t i, size_t j) { std::swap(x.should[i], y.should[j]); });
    CHECK(x.right() && y.right());
    OK(OF_TYPE(T, scal)(handle, n, &alpha, x.device, incx));
    if (incx > 0) each([&](size_t i, size_t) { x.should[i] *= a; });
    CHECK(x.right());
  }
  {
    Numbers<T> x(size), y(size);
    const Real c = Real(0.6);
    const Exact s = is_complex<T> ? Exact(0.48, 0.64) : Exact(0.8);
    const T sine = Of<T>::from(s);
    OK(OF_TYPE(T, rot)(handle, n, x.device, incx, y.device, incy, &c, &sine));
    each([&](size_t i, size_t j) {
      const Exact old = x.should[i];
      x.should[i] = 0.6 * old + s * y.should[j];
      y.should[j] = 0.6 * y.should[j] - std::conj(s) * old;
    });
    CHECK(x.right() && y.right());
  }
}

template <class T>
static void sums(int n, int incx, int incy) {
  using Real = typename Of<T>::Real;
  const size_t size = 1 + size_t(n) * 3;
  Numbers<T> x(size), y(size);
  Exact dot = 0, dotc = 0;
  double squares = 0, sizes = 0;
  int largest = 0, smallest = 0;
  const auto size_of = [&](int i) {
    const Exact v = x.should[place(i, n, incx)];
    return std::abs(v.real()) + std::abs(v.imag());
  };
  for (int i = 0; i < n; ++i) {
    const Exact a = x.should[place(i, n, incx)];
    const Exact b = y.should[place(i, n, incy)];
    dot += a * b;
    dotc += std::conj(a) * b;
    if (incx <= 0) continue;
    squares += std::norm(a);
    sizes += size_of(i);
    if (largest == 0 || size_of(i) > size_of(largest - 1)) largest = i + 1;
    if (smallest == 0 || size_of(i) < size_of(smallest - 1)) smallest = i + 1;
  }
  const double bound = tolerance<T> * (n + 1);
  T result{}, *on_device;
  Real real{};
  int index = -1;
  std::int64_t wide = -1;
  cudaMalloc(&on_device, sizeof(T));
  const auto is = [&](auto found, Exact should) {
    const Exact got = exact(found);
    return std::abs(got - should) <= bound;
  };
  if constexpr (is_complex<T>) {
    OK(OF_COMPLEX(T, dotu)(handle, n, x.device, incx, y.device, incy, &result));
    CHECK(is(result, dot));
    OK(OF_COMPLEX(T, dotc)(handle, n, x.device, incx, y.device, incy, &result));
    CHECK(is(result, dotc));
  } else {
    OK(OF_REAL(T, dot)(handle, n, x.device, incx, y.device, incy, &result));
    CHECK(is(result, dot));
  }
  // The result is left on the device.
  OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  if constexpr (is_complex<T>) {
    OK(OF_COMPLEX(T, dotc)(handle, n, x.device, incx, y.device, incy, on_device));
  } else {
    OK(OF_REAL(T, dot)(handle, n, x.device, incx, y.device, incy, on_device));
  }
  cudaMemcpy(&result, on_device, sizeof result, cudaMemcpyDeviceToHost);
  CHECK(is(result, dotc));
  OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  if constexpr (std::is_same_v<T, float>) {
    OK(cublasSnrm2(handle, n, x.device, incx, &real));
    CHECK(is(real, std::sqrt(squares)));
    OK(cublasSasum(handle, n, x.device, incx, &real));
    OK(cublasIsamax(handle, n, x.device, incx, &index));
    OK(cublasIsamin_64(handle, n, x.device, incx, &wide));
  } else if constexpr (std::is_same_v<T, double>) {
    OK(cublasDnrm2(handle, n, x.device, incx, &real));
    CHECK(is(real, std::sqrt(squares)));
    OK(cublasDasum(handle, n, x.device, incx, &real));
    OK(cublasIdamax(handle, n, x.device, incx, &index));
    OK(cublasIdamin_64(handle, n, x.device, incx, &wide));
  } else if constexpr (std::is_same_v<T, cuComplex>) {
    OK(cublasScnrm2_64(handle, n, x.device, incx, &real));
    CHECK(is(real, std::sqrt(squares)));
    OK(cublasScasum(handle, n, x.device, incx, &real));
    OK(cublasIcamax(handle, n, x.device, incx, &index));
    OK(cublasIcamin_64(handle, n, x.device, incx, &wide));
  } else {
    OK(cublasDznrm2(handle, n, x.device, incx, &real));
    CHECK(is(real, std::sqrt(squares)));
    OK(cublasDzasum(handle, n, x.device, incx, &real));
    OK(cublasIzamax(handle, n, x.device, incx, &index));
    OK(cublasIzamin_64(handle, n, x.device, incx, &wide));
  }
  CHECK(is(real, sizes));
  CHECK(index == largest);
  CHECK(wide == smallest);
  cudaFree(on_device);
}

// Squares beyond the range, in both directions; ties; what is no number.
template <class T, class Norm>
static void extremes(Norm norm) {
  const T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min();
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinite = std::numeric_limits<T>::infinity();
  const auto norm_of = [&](std::initializer_list<T> values) {
    Numbers<T> x(values.size());
    std::copy(values.begin(), values.end(), x.host.begin());
    x.send();
    T result = -1;
    OK(norm(handle, int(values.size()), x.device, 1, &result));
    return result;
  };
  const auto near = [](T a, T b) { return std::abs(a - b) <= 1e-6 * std::abs(b); };
  CHECK(near(norm_of({most / 8, most / 8, 1, 0}), most / 8 * std::sqrt(T(2))));
  CHECK(near(norm_of({3000 * least, 4000 * least}), 5000 * least));
  CHECK(near(norm_of({most / 8, 3000 * least}), most / 8));
  CHECK(norm_of({3000 * least, 1}) == 1);
  CHECK(norm_of({infinite, 1, most}) == infinite);
  CHECK(std::isnan(norm_of({1, nan, most, least})));
  CHECK(std::isnan(norm_of({1, nan})));
  CHECK(std::isnan(norm_of({least, nan})));
}

int main() {
  OK(cublasCreate(&handle));
  for (const auto& [n, incx, incy] : {std::array{0, 1, 1}, {1, 1, 1}, {77, 2, -3}, {130, -1, 1}, {70, 3, 2}}) {
    change<float>(n, incx, incy);
    change<double>(n, incx, incy);
    change<cuComplex>(n, incx, incy);
    change<cuDoubleComplex>(n, incx, incy);
    sums<float>(n, incx, incy);
    sums<double>(n, incx, incy);
    sums<cuComplex>(n, incx, incy);
    sums<cuDoubleComplex>(n, incx, incy);
  }
  sums<float>(5000, 1, 1);  // of more than its 64 blocks have threads
  extremes<float>([](auto... a) { return cublasSnrm2(a...); });
  extremes<double>([](auto... a) { return cublasDnrm2(a...); });
  const float real = 0.5f;
  Numbers<cuComplex> x(9);
  OK(cublasCsscal(handle, 9, &real, x.device, 1));
  for (Exact& one : x.should) one *= 0.5;
  CHECK(x.right());
  Numbers<float> ties(4);
  for (int i = 0; i < 4; ++i) ties.set(i, i % 2 == 0 ? -2 : 2);
  ties.send();
  int index = 0;
  OK(cublasIsamax(handle, 4, ties.device, 1, &index));
  CHECK(index == 1);
  // Alpha on the device.
  float* alpha;
  cudaMalloc(&alpha, sizeof *alpha);
  cudaMemcpy(alpha, &real, sizeof real, cudaMemcpyHostToDevice);
  OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  OK(cublasSscal(handle, 4, alpha, ties.device, 1));
  OK(cublasCsscal(handle, 9, alpha, x.device, 1));
  for (Exact& one : ties.should) one *= 0.5;
  for (Exact& one : x.should) one *= 0.5;
  CHECK(ties.right() && x.right());
  return ended();
}
