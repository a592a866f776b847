// cuBLAS's functions of matrices, in four types: odd shapes, all operations, sides and triangles, batches, factors.
#include "common.h"

static const cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};

// C = alpha A B + beta C of matrices that are given by their elements; only where `within` says so.
template <class T, class A, class B, class Within>
static void expect(Numbers<T>& c, int ldc, int m, int n, int k, Exact alpha, A a, B b, Exact beta, Within within) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      if (!within(i, j)) continue;
      Exact sum = 0;
      for (int l = 0; l < k; ++l) sum += a(i, l) * b(l, j);
      Exact& to = c.should[i + j * ldc];
      to = alpha * sum + (beta == Exact(0) ? Exact(0) : beta * to);
    }
  }
}
static bool everywhere(int, int) {
  return true;
}

template <class T>
static void products(int m, int n, int k) {
  const T alpha = number<T>();
  T beta = number<T>();
  for (const cublasOperation_t opa : kOperations) {
    for (const cublasOperation_t opb : kOperations) {
      const int lda = (opa == CUBLAS_OP_N ? m : k) + 1, ldb = (opb == CUBLAS_OP_N ? k : n) + 2, ldc = m + 3;
      Numbers<T> a(lda * (opa == CUBLAS_OP_N ? k : m) + 1), b(ldb * (opb == CUBLAS_OP_N ? n : k) + 1), c(ldc * n);
      if (exact(beta) == Exact(0)) {
        for (int j = 0; j < n; ++j) {
          for (int i = 0; i < m; ++i) c.set(i + j * ldc, NAN);  // what is multiplied by 0 is not read
        }
        c.send();
      }
      OK(OF_TYPE(T, gemm)(handle, opa, opb, m, n, k, &alpha, a.device, lda, b.device, ldb, &beta, c.device, ldc));
      expect(
          c, ldc, m, n, k, exact(alpha), [&](int i, int l) { return at(a, lda, opa, i, l); },
          [&](int l, int j) { return at(b, ldb, opb, l, j); }, exact(beta), everywhere);
      CHECK(c.right());
      beta = Of<T>::from(exact(beta) == Exact(0) ? Exact(1) : Exact(0));
    }
  }
}

template <class T>
static void batches(int m, int n, int k, int batch) {
  const T alpha = number<T>(), beta = number<T>();
  Numbers<T> a(m * k * batch), b(k * n * batch), c(m * n * batch), d(m * n * batch);
  OK(OF_TYPE(T, gemmStridedBatched)(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, a.device, m, (long long)m * k,
                                    b.device, n, 0LL, &beta, c.device, m, (long long)m * n, batch));
  std::vector<T*> places;
  for (int i = 0; i < batch; ++i) places.push_back(a.device + i * m * k);
  for (int i = 0; i < batch; ++i) places.push_back(b.device + i * k * n);
  for (int i = 0; i < batch; ++i) places.push_back(d.device + i * m * n);
  T** on_device;
  cudaMalloc(&on_device, places.size() * sizeof(T*));
  cudaMemcpy(on_device, places.data(), places.size() * sizeof(T*), cudaMemcpyHostToDevice);
  OK(OF_TYPE(T, gemmBatched)(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, on_device, m, on_device + batch, k,
                             &beta, on_device + 2 * batch, m, batch));
  for (int at = 0; at < batch; ++at) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        Exact one = 0, two = 0;
        for (int l = 0; l < k; ++l) {
          one += a.should[at * m * k + i + l * m] * b.should[j + l * n];
          two += a.should[at * m * k + i + l * m] * b.should[at * k * n + l + j * k];
        }
        Exact& to = c.should[at * m * n + i + j * m];
        to = exact(alpha) * one + exact(beta) * to;
        Exact& too = d.should[at * m * n + i + j * m];
        too = exact(alpha) * two + exact(beta) * too;
      }
    }
  }
  CHECK(c.right() && d.right());
  cudaFree(on_device);
}

// A matrix with one triangle, whose other one is not to be read.
template <class T>
static void make_triangle(Numbers<T>& a, int n, int lda, bool upper) {
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      if (upper ? i > j : i < j) a.set(i + j * lda, NAN);
      if (i == j) a.set(i + j * lda, exact(a.host[i + j * lda]) + 4.0);
    }
  }
  a.send();
}

template <class T, bool hermitian>
static void symmetric(int m, int n, int k) {
  using Real = typename Of<T>::Real;
  const T alpha = number<T>(), beta = number<T>();
  const Real real_alpha = Real(0.75), real_beta = Real(-0.5);
  const char kind = hermitian ? 'h' : 's';
  const auto turn = [](Exact x) { return hermitian ? std::conj(x) : x; };
  for (const cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
    for (const cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
      const bool left = side == CUBLAS_SIDE_LEFT;
      const int order = left ? m : n, lda = order + 1;
      Numbers<T> a(lda * order), b(m * n), c(m * n);
      make_triangle(a, order, lda, upper);
      const auto of_a = [&](int i, int j) { return whole(a, lda, kind, upper, i, j); };
      const auto of_b = [&](int i, int j) { return exact(b.host[i + j * m]); };
      if (left) {
        expect(c, m, m, n, m, exact(alpha), of_a, of_b, exact(beta), everywhere);
      } else {
        expect(c, m, m, n, n, exact(alpha), of_b, of_a, exact(beta), everywhere);
      }
      if constexpr (hermitian) {
        OK(OF_COMPLEX(T, hemm)(handle, side, fill, m, n, &alpha, a.device, lda, b.device, m, &beta, c.device, m));
      } else {
        OK(OF_TYPE(T, symm)(handle, side, fill, m, n, &alpha, a.device, lda, b.device, m, &beta, c.device, m));
      }
      CHECK(c.right());
    }
    for (const bool plain : {true, false}) {
      const cublasOperation_t op = plain ? CUBLAS_OP_N : hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
      const int rows = plain ? n : k, columns = plain ? k : n;
      Numbers<T> a(rows * columns), b(rows * columns), c(n * n), d(n * n), e(n * n);
      const auto left = [&](const Numbers<T>& x) { return [&](int i, int l) { return at(x, rows, op, i, l); }; };
      const auto right = [&](const Numbers<T>& x) { return [&](int l, int j) { return turn(at(x, rows, op, j, l)); }; };
      const auto within = [&](int i, int j) { return upper ? i <= j : i >= j; };
      const auto make_real = [&](Numbers<T>& of) {
        for (int i = 0; hermitian && i < n; ++i) of.should[i + i * n] = of.should[i + i * n].real();
      };
      for (Numbers<T>* of : {&c, &d, &e}) make_real(*of);
      const Exact first = hermitian ? Exact(0.75) : exact(alpha), kept = hermitian ? Exact(-0.5) : exact(beta);
      expect(c, n, n, n, k, first, left(a), right(a), kept, within);
      expect(d, n, n, n, k, exact(alpha), left(a), right(b), kept, within);
      expect(e, n, n, n, k, exact(alpha), left(a), right(b), kept, within);
      expect(e, n, n, n, k, turn(exact(alpha)), left(b), right(a), 1, within);
      for (Numbers<T>* of : {&c, &d, &e}) make_real(*of);
      if constexpr (hermitian) {
        OK(OF_COMPLEX(T, herk)(handle, fill, op, n, k, &real_alpha, a.device, rows, &real_beta, c.device, n));
        OK(OF_COMPLEX(T, herkx)(handle, fill, op, n, k, &alpha, a.device, rows, b.device, rows, &real_beta, d.device,
                                n));
        OK(OF_COMPLEX(T, her2k)(handle, fill, op, n, k, &alpha, a.device, rows, b.device, rows, &real_beta, e.device,
                                n));
      } else {
        OK(OF_TYPE(T, syrk)(handle, fill, op, n, k, &alpha, a.device, rows, &beta, c.device, n));
        OK(OF_TYPE(T, syrkx)(handle, fill, op, n, k, &alpha, a.device, rows, b.device, rows, &beta, d.device, n));
        OK(OF_TYPE(T, syr2k)(handle, fill, op, n, k, &alpha, a.device, rows, b.device, rows, &beta, e.device, n));
      }
      // The other triangle stays; a Hermitian diagonal becomes real.
      for (Numbers<T>* of : {&c, &d, &e}) {
        for (int j = 0; j < n; ++j) {
          for (int i = 0; i < n; ++i) {
            if (!within(i, j)) of->should[i + j * n] = exact(of->host[i + j * n]);
          }
        }
        CHECK(of->right());
      }
    }
  }
}

template <class T>
static void triangles(int m, int n) {
  const T alpha = number<T>();
  const T whole_one = Of<T>::from(1);
  for (const cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    const bool left = side == CUBLAS_SIDE_LEFT;
    const int order = left ? m : n, lda = order + 1, ldb = m + 2;
    for (const cublasFillMode_t fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
      const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
      Numbers<T> a(lda * order);
      make_triangle(a, order, lda, upper);
      for (const cublasOperation_t op : kOperations) {
        for (const cublasDiagType_t diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
          const char kind = diagonal == CUBLAS_DIAG_UNIT ? 'u' : 't';
          Numbers<T> b(ldb * n), c(m * n);
          const auto of_a = [&](int i, int j) { return whole(a, lda, kind, upper, op, i, j); };
          const auto of_b = [&](int i, int j) { return exact(b.host[i + j * ldb]); };
          const auto make = [&](Numbers<T>& to, int ld) {
            if (left) {
              expect(to, ld, m, n, m, exact(alpha), of_a, of_b, 0, everywhere);
            } else {
              expect(to, ld, m, n, n, exact(alpha), of_b, of_a, 0, everywhere);
            }
          };
          OK(OF_TYPE(T, trmm)(handle, side, fill, op, diagonal, m, n, &alpha, a.device, lda, b.device, ldb, c.device,
                              m));
          make(c, m);
          CHECK(c.right() && b.right());
          // In place.
          make(b, ldb);
          OK(OF_TYPE(T, trmm)(handle, side, fill, op, diagonal, m, n, &alpha, a.device, lda, b.device, ldb, b.device,
                              ldb));
          CHECK(b.right());
          // And back: alpha times what was there.
          OK(OF_TYPE(T, trsm)(handle, side, fill, op, diagonal, m, n, &whole_one, a.device, lda, b.device, ldb));
          for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) b.should[i + j * ldb] = exact(alpha) * exact(b.host[i + j * ldb]);
          }
          CHECK(b.right(1e4));
        }
      }
    }
  }
}

template <class T>
static void others(int m, int n) {
  const T alpha = number<T>(), beta = number<T>();
  for (const cublasOperation_t opa : kOperations) {
    for (const cublasOperation_t opb : kOperations) {
      const int lda = (opa == CUBLAS_OP_N ? m : n) + 1, ldb = (opb == CUBLAS_OP_N ? m : n) + 2;
      Numbers<T> a(lda * (opa == CUBLAS_OP_N ? n : m)), b(ldb * (opb == CUBLAS_OP_N ? n : m)), c(m * n);
      OK(OF_TYPE(T, geam)(handle, opa, opb, m, n, &alpha, a.device, lda, &beta, b.device, ldb, c.device, m));
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
          c.should[i + j * m] = exact(alpha) * at(a, lda, opa, i, j) + exact(beta) * at(b, ldb, opb, i, j);
        }
      }
      CHECK(c.right());
    }
  }
  for (const cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
    const int count = side == CUBLAS_SIDE_LEFT ? m : n;
    Numbers<T> a(m * n), x(count * 2), c(m * n);
    OK(OF_TYPE(T, dgmm)(handle, side, m, n, a.device, m, x.device, -2, c.device, m));
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        const int which = side == CUBLAS_SIDE_LEFT ? i : j;
        c.should[i + j * m] = a.should[i + j * m] * x.should[(count - 1 - which) * 2];
      }
    }
    CHECK(c.right());
  }
}

// A X = B for batches, by the factors of A; and the inverse.
template <class T>
static void factors(int n, int count, int batch, bool pivots) {
  const int lda = n + 1;
  Numbers<T> a(lda * n * batch), b(n * count * batch), inverse(n * n * batch);
  for (int at = 0; !pivots && at < batch * n; ++at) {
    const size_t place = at / n * lda * n + at % n * (lda + 1);
    a.set(place, exact(a.host[place]) + double(n));  // large on the diagonal
  }
  a.send();
  const std::vector<T> old = a.host;
  std::vector<T*> places;
  for (int i = 0; i < batch; ++i) places.push_back(a.device + i * lda * n);
  for (int i = 0; i < batch; ++i) places.push_back(b.device + i * n * count);
  for (int i = 0; i < batch; ++i) places.push_back(inverse.device + i * n * n);
  T** on_device;
  int *order, *infos;
  cudaMalloc(&on_device, places.size() * sizeof(T*));
  cudaMalloc(&order, n * batch * sizeof(int));
  cudaMalloc(&infos, batch * sizeof(int));
  cudaMemcpy(on_device, places.data(), places.size() * sizeof(T*), cudaMemcpyHostToDevice);
  int* const order_given = pivots ? order : nullptr;
  OK(OF_TYPE(T, getrfBatched)(handle, n, on_device, lda, order_given, infos, batch));
  for (const cublasOperation_t op : kOperations) {
    int info = 5;
    b.send();
    OK(OF_TYPE(T, getrsBatched)(handle, op, n, count, on_device, lda, order_given, on_device + batch, n, &info, batch));
    CHECK(info == 0);
    std::vector<T> x(b.host.size());
    cudaMemcpy(x.data(), b.device, x.size() * sizeof(T), cudaMemcpyDeviceToHost);
    double most = 0;
    for (int at_batch = 0; at_batch < batch; ++at_batch) {
      for (int j = 0; j < count; ++j) {
        for (int i = 0; i < n; ++i) {
          Exact sum = 0;
          for (int l = 0; l < n; ++l) {
            const Exact element = op == CUBLAS_OP_N ? exact(old[at_batch * lda * n + i + l * lda])
                                                    : turned(exact(old[at_batch * lda * n + l + i * lda]), op);
            sum += element * exact(x[(at_batch * count + j) * n + l]);
          }
          most = std::max(most, std::abs(sum - exact(b.host[(at_batch * count + j) * n + i])));
        }
      }
    }
    CHECK(most < tolerance<T> * 300);
  }
  OK(OF_TYPE(T, getriBatched)(handle, n, on_device, lda, order_given, on_device + 2 * batch, n, infos, batch));
  std::vector<int> info(batch);
  std::vector<T> c(inverse.host.size());
  cudaMemcpy(info.data(), infos, batch * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(c.data(), inverse.device, c.size() * sizeof(T), cudaMemcpyDeviceToHost);
  double most = 0;
  for (int at_batch = 0; at_batch < batch; ++at_batch) {
    CHECK(info[at_batch] == 0);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        Exact sum = i == j ? -1 : 0;
        for (int l = 0; l < n; ++l) {
          sum += exact(old[at_batch * lda * n + i + l * lda]) * exact(c[at_batch * n * n + l + j * n]);
        }
        most = std::max(most, std::abs(sum));
      }
    }
  }
  CHECK(most < tolerance<T> * 300);
  cudaFree(on_device);
  cudaFree(order);
  cudaFree(infos);
}

// A matrix without an inverse: info says which element of U is 0.
static void singular() {
  Numbers<double> a(9);
  const double values[] = {1, 2, 4, 2, 4, 8, 1, 0, 5};
  for (int i = 0; i < 9; ++i) a.set(i, values[i]);
  a.send();
  double** place;
  int *pivots, *infos, info = -1;
  cudaMalloc(&place, sizeof(double*));
  cudaMalloc(&pivots, 3 * sizeof(int));
  cudaMalloc(&infos, sizeof(int));
  cudaMemcpy(place, &a.device, sizeof(double*), cudaMemcpyHostToDevice);
  OK(cublasDgetrfBatched(handle, 3, place, 3, pivots, infos, 1));
  cudaMemcpy(&info, infos, sizeof info, cudaMemcpyDeviceToHost);
  CHECK(info == 2);
  int order[3] = {};
  cudaMemcpy(order, pivots, sizeof order, cudaMemcpyDeviceToHost);
  CHECK(order[0] == 3);
}

template <class T>
static void all() {
  products<T>(1, 1, 1);
  // Tiles of C are of 32 rows and columns, of complex numbers of 16, and 16 deep.
  const int tile = is_complex<T> ? 16 : 32;
  products<T>(tile + 1, tile / 2 + 1, 19);
  products<T>(5, 2 * tile + 6, 0);
  batches<T>(7, 9, 18, 3);
  symmetric<T, false>(9, tile + 2, 7);
  if constexpr (is_complex<T>) symmetric<T, true>(9, tile + 2, 7);
  triangles<T>(tile + 2, 3);
  others<T>(21, 13);
  factors<T>(1, 1, 1, true);
  factors<T>(13, 3, 2, true);
  factors<T>(13, 3, 2, false);
}

int main(int argc, char** argv) {
  OK(cublasCreate(&handle));
  const std::string which = argc > 1 ? argv[1] : "";
  if (which == "s") all<float>();
  if (which == "d") all<double>();
  if (which == "c") all<cuComplex>();
  if (which == "z") all<cuDoubleComplex>();
  singular();
  return ended();
}
