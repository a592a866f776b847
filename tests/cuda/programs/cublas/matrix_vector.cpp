// cuBLAS's functions of a matrix and vectors, in four types: all ways to store a matrix, all operations.
#include "common.h"

static const cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

// y = alpha M x + beta y, M given by its elements.
template <class T, class Element>
static void expect(Numbers<T>& y, int m, int n, T alpha, Element element, const Numbers<T>& x, int incx, T beta,
                   int incy) {
  const auto place = [](int i, int count, int inc) { return inc > 0 ? i * inc : (count - 1 - i) * -inc; };
  for (int i = 0; i < m; ++i) {
    Exact sum = 0;
    for (int j = 0; j < n; ++j) sum += element(i, j) * exact(x.host[place(j, n, incx)]);
    Exact& to = y.should[place(i, m, incy)];
    to = exact(alpha) * sum + (exact(beta) == Exact(0) ? Exact(0) : exact(beta) * to);
  }
}

template <class T>
static void general(int m, int n, int incx, int incy) {
  const int lda = m + 2;
  const int below = 2, above = 3, ld_band = below + above + 2;
  const T alpha = number<T>();
  T beta = number<T>();
  for (const cublasOperation_t op : kOperations) {
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
    Numbers<T> a(lda * n), x(1 + columns * 3), y(1 + rows * 3), z(1 + rows * 3);
    OK(OF_TYPE(T, gemv)(handle, op, m, n, &alpha, a.device, lda, x.device, incx, &beta, y.device, incy));
    expect(
        y, rows, columns, alpha, [&](int i, int j) { return at(a, lda, op, i, j); }, x, incx, beta, incy);
    CHECK(y.right());
    Numbers<T> band(ld_band * n);
    OK(OF_TYPE(T, gbmv)(handle, op, m, n, below, above, &alpha, band.device, ld_band, x.device, incx, &beta, z.device,
                        incy));
    expect(
        z, rows, columns, alpha,
        [&](int i, int j) {
          const int row = op == CUBLAS_OP_N ? i : j, column = op == CUBLAS_OP_N ? j : i;
          if (row - column > below || column - row > above) return Exact(0);
          return turned(exact(band.host[above + row - column + column * ld_band]), op);
        },
        x, incx, beta, incy);
    CHECK(z.right());
    beta = Of<T>::from(0);
  }
  // What is multiplied by 0 is not read: not a number.
  Numbers<T> a(lda * n), x(n), y(m);
  for (int i = 0; i < m; ++i) y.set(i, NAN);
  y.send();
  OK(OF_TYPE(T, gemv)(handle, CUBLAS_OP_N, m, n, &alpha, a.device, lda, x.device, 1, &beta, y.device, 1));
  expect(
      y, m, n, alpha, [&](int i, int j) { return at(a, lda, CUBLAS_OP_N, i, j); }, x, 1, beta, 1);
  CHECK(y.right());
}

template <class T>
static void products(int m, int n) {
  const T alpha = number<T>();
  const int lda = m + 1;
  for (const bool conjugated : {false, true}) {
    if (conjugated && !is_complex<T>) continue;
    Numbers<T> a(lda * n), x(m * 2), y(n * 3);
    if constexpr (is_complex<T>) {
      if (conjugated) {
        OK(OF_COMPLEX(T, gerc)(handle, m, n, &alpha, x.device, 2, y.device, -3, a.device, lda));
      } else {
        OK(OF_COMPLEX(T, geru)(handle, m, n, &alpha, x.device, 2, y.device, -3, a.device, lda));
      }
    } else {
      OK(OF_REAL(T, ger)(handle, m, n, &alpha, x.device, 2, y.device, -3, a.device, lda));
    }
    for (int j = 0; j < n; ++j) {
      const Exact v = exact(y.host[(n - 1 - j) * 3]);
      for (int i = 0; i < m; ++i) {
        a.should[i + j * lda] += exact(alpha) * exact(x.host[i * 2]) * (conjugated ? std::conj(v) : v);
      }
    }
    CHECK(a.right());
  }
}

static int packed_place(bool upper, int n, int row, int column) {
  return upper ? row + column * (column + 1) / 2 : row - column + column * (2 * n + 1 - column) / 2;
}

// One triangle of a matrix, in full, in a band and packed: `k` diagonals of it.
template <class T>
struct Stored {
  Stored(int n, int k, bool upper)
      : ld(n + 1), band_ld(k + 2), full(ld * n), band(band_ld * n), packed(n * (n + 1) / 2) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        const bool inside = upper ? i <= j : i >= j;
        if (!inside) {
          full.set(i + j * ld, NAN);  // the other triangle is not read
          continue;
        }
        if (i == j) full.set(i + j * ld, exact(full.host[i + j * ld]) + 4.0);
        const Exact x = exact(full.host[i + j * ld]);
        packed.set(packed_place(upper, n, i, j), x);
        if (std::abs(i - j) <= k) band.set((upper ? k + i - j : i - j) + j * band_ld, x);
      }
    }
    full.send();
    band.send();
    packed.send();
  }
  int ld, band_ld;
  Numbers<T> full, band, packed;
};

template <class T>
static void triangles(int n, int k) {
  for (const cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
    Stored<T> a(n, k, upper);
    for (const cublasOperation_t op : kOperations) {
      for (const cublasDiagType_t diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
        const char kind = diagonal == CUBLAS_DIAG_UNIT ? 'u' : 't';
        const auto element = [&](int i, int j) { return whole(a.full, a.ld, kind, upper, op, i, j); };
        const auto within = [&](int i, int j) { return std::abs(i - j) <= k ? element(i, j) : Exact(0); };
        const T one = Of<T>::from(1), none = Of<T>::from(0);
        Numbers<T> x(n * 2), y(n * 2), z(n * 2);
        Numbers<T> px(n * 2), py(n * 2), pz(n * 2);
        for (int i = 0; i < n * 2; ++i) {
          px.should[i] = exact(x.host[i]);
          py.should[i] = exact(y.host[i]);
          pz.should[i] = exact(z.host[i]);
        }
        expect(px, n, n, one, element, x, -2, none, -2);
        expect(py, n, n, one, within, y, 2, none, 2);
        expect(pz, n, n, one, element, z, 1, none, 1);
        const std::vector<Exact> old_x = x.should, old_y = y.should, old_z = z.should;
        x.should = px.should;
        y.should = py.should;
        z.should = pz.should;
        OK(OF_TYPE(T, trmv)(handle, fill, op, diagonal, n, a.full.device, a.ld, x.device, -2));
        OK(OF_TYPE(T, tbmv)(handle, fill, op, diagonal, n, k, a.band.device, a.band_ld, y.device, 2));
        OK(OF_TYPE(T, tpmv)(handle, fill, op, diagonal, n, a.packed.device, z.device, 1));
        CHECK(x.right() && y.right() && z.right());
        // And back. A triangle with a diagonal of ones is far from the unit matrix: its solution is less exact.
        OK(OF_TYPE(T, trsv)(handle, fill, op, diagonal, n, a.full.device, a.ld, x.device, -2));
        OK(OF_TYPE(T, tbsv)(handle, fill, op, diagonal, n, k, a.band.device, a.band_ld, y.device, 2));
        OK(OF_TYPE(T, tpsv)(handle, fill, op, diagonal, n, a.packed.device, z.device, 1));
        x.host.assign(x.host.size(), Of<T>::from(1e6));  // every number may differ in its last digits
        y.host = z.host = x.host;
        x.should = old_x;
        y.should = old_y;
        z.should = old_z;
        CHECK(x.right(1e4) && y.right(1e4) && z.right(1e4));
      }
    }
  }
}

template <class T, bool hermitian>
static void symmetric(int n, int k) {
  using Real = typename Of<T>::Real;
  const char kind = hermitian ? 'h' : 's';
  for (const cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
    Stored<T> a(n, k, upper);
    const T alpha = number<T>(), beta = number<T>();
    const Real real = Real(0.75);
    const auto element = [&](int i, int j) { return whole(a.full, a.ld, kind, upper, i, j); };
    const auto within = [&](int i, int j) { return std::abs(i - j) <= k ? element(i, j) : Exact(0); };
    Numbers<T> x(n * 2), y(n), band(n), packed(n);
    expect(y, n, n, alpha, element, x, -2, beta, 1);
    expect(band, n, n, alpha, within, x, 2, beta, 1);
    expect(packed, n, n, alpha, element, x, 2, beta, -1);
    if constexpr (hermitian) {
      OK(OF_COMPLEX(T, hemv)(handle, fill, n, &alpha, a.full.device, a.ld, x.device, -2, &beta, y.device, 1));
      OK(OF_COMPLEX(T, hbmv)(handle, fill, n, k, &alpha, a.band.device, a.band_ld, x.device, 2, &beta, band.device, 1));
      OK(OF_COMPLEX(T, hpmv)(handle, fill, n, &alpha, a.packed.device, x.device, 2, &beta, packed.device, -1));
    } else {
      OK(OF_TYPE(T, symv)(handle, fill, n, &alpha, a.full.device, a.ld, x.device, -2, &beta, y.device, 1));
      if constexpr (!is_complex<T>) {
        OK(OF_REAL(T, sbmv)(handle, fill, n, k, &alpha, a.band.device, a.band_ld, x.device, 2, &beta, band.device, 1));
        OK(OF_REAL(T, spmv)(handle, fill, n, &alpha, a.packed.device, x.device, 2, &beta, packed.device, -1));
      }
    }
    CHECK(y.right());
    if (hermitian || !is_complex<T>) CHECK(band.right() && packed.right());
    // One vector's product with itself is added, then one of two.
    Numbers<T> v(n), w(n * 2);
    const auto turned_if = [](Exact u) { return hermitian ? std::conj(u) : u; };
    const auto add = [&](bool two) {
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          if (upper ? i > j : i < j) continue;
          const auto at_v = [&](int r) { return exact(v.host[r]); };
          const auto at_w = [&](int r) { return exact(w.host[r * 2]); };
          const Exact more =
              two ? exact(alpha) * at_v(i) * turned_if(at_w(j)) + turned_if(exact(alpha)) * at_w(i) * turned_if(at_v(j))
                  : (hermitian ? Exact(0.75) : exact(alpha)) * at_v(i) * turned_if(at_v(j));
          for (Exact* to : {&a.full.should[i + j * a.ld], &a.packed.should[packed_place(upper, n, i, j)]}) {
            *to += more;
            if (hermitian && i == j) *to = to->real();
          }
        }
      }
    };
    add(false);
    if constexpr (hermitian) {
      OK(OF_COMPLEX(T, her)(handle, fill, n, &real, v.device, 1, a.full.device, a.ld));
      OK(OF_COMPLEX(T, hpr)(handle, fill, n, &real, v.device, 1, a.packed.device));
    } else {
      OK(OF_TYPE(T, syr)(handle, fill, n, &alpha, v.device, 1, a.full.device, a.ld));
      if constexpr (!is_complex<T>) OK(OF_REAL(T, spr)(handle, fill, n, &alpha, v.device, 1, a.packed.device));
    }
    CHECK(a.full.right());
    if (hermitian || !is_complex<T>) CHECK(a.packed.right());
    add(true);
    if constexpr (hermitian) {
      OK(OF_COMPLEX(T, her2)(handle, fill, n, &alpha, v.device, 1, w.device, 2, a.full.device, a.ld));
      OK(OF_COMPLEX(T, hpr2)(handle, fill, n, &alpha, v.device, 1, w.device, 2, a.packed.device));
    } else {
      OK(OF_TYPE(T, syr2)(handle, fill, n, &alpha, v.device, 1, w.device, 2, a.full.device, a.ld));
      if constexpr (!is_complex<T>) {
        OK(OF_REAL(T, spr2)(handle, fill, n, &alpha, v.device, 1, w.device, 2, a.packed.device));
      }
    }
    CHECK(a.full.right());
    if (hermitian || !is_complex<T>) CHECK(a.packed.right());
  }
}

template <class T>
static void all() {
  general<T>(1, 1, 1, 1);
  general<T>(19, 37, 2, -1);
  general<T>(66, 5, -3, 3);
  products<T>(21, 10);
  triangles<T>(1, 0);
  triangles<T>(21, 3);
  symmetric<T, false>(18, 2);
  if constexpr (is_complex<T>) symmetric<T, true>(18, 2);
}

static void batches() {
  const float alpha = 2, beta = 0;
  Numbers<float> a(3 * 4 * 5), x(3 * 5), y(3 * 4);
  OK(cublasSgemvStridedBatched(handle, CUBLAS_OP_N, 4, 5, &alpha, a.device, 4, 20, x.device, 1, 5, &beta, y.device, 1,
                               4, 3));
  for (int b = 0; b < 3; ++b) {
    for (int i = 0; i < 4; ++i) {
      y.should[b * 4 + i] = 0;
      for (int j = 0; j < 5; ++j) y.should[b * 4 + i] += 2.0 * a.should[b * 20 + i + j * 4] * x.should[b * 5 + j];
    }
  }
  CHECK(y.right());
  float* places[] = {a.device,      a.device + 20, a.device + 40, x.device,    x.device + 5,
                     x.device + 10, y.device,      y.device + 4,  y.device + 8};
  float** on_device;
  cudaMalloc(&on_device, sizeof places);
  cudaMemcpy(on_device, places, sizeof places, cudaMemcpyHostToDevice);
  const float whole = 1;
  OK(cublasSgemvBatched(handle, CUBLAS_OP_N, 4, 5, &alpha, on_device, 4, on_device + 3, 1, &whole, on_device + 6, 1,
                        3));
  for (Exact& one : y.should) one *= 2;
  CHECK(y.right());
}

int main() {
  OK(cublasCreate(&handle));
  all<float>();
  all<double>();
  all<cuComplex>();
  all<cuDoubleComplex>();
  batches();
  return ended();
}
