// Products of matrices by mma.h: every size, type and order in memory, against sums on the host. Their elements are
// small whole numbers, so that every sum is exact.
#include <mma.h>

#include <cstdio>
#include <type_traits>
#include <vector>

namespace wmma = nvcuda::wmma;

template <int m, int n, int k, class T, class A, class B, class Sum>
__global__ void multiply(const T* a, const T* b, const Sum* c, Sum* d, int rows_a, int rows_b, int rows_c,
                         wmma::layout_t order) {
  using Kind = std::conditional_t<std::is_same_v<T, float>, wmma::precision::tf32, T>;
  wmma::fragment<wmma::matrix_a, m, n, k, Kind, A> part_a;
  wmma::fragment<wmma::matrix_b, m, n, k, Kind, B> part_b;
  wmma::fragment<wmma::accumulator, m, n, k, Sum> part_c, twice;
  wmma::load_matrix_sync(part_a, a, rows_a);
  wmma::load_matrix_sync(part_b, b, rows_b);
  wmma::load_matrix_sync(part_c, c, rows_c, order);
  if constexpr (std::is_same_v<T, float>) {
    for (int i = 0; i < part_a.num_elements; ++i) part_a.x[i] = wmma::__float_to_tf32(part_a.x[i]);
    for (int i = 0; i < part_b.num_elements; ++i) part_b.x[i] = wmma::__float_to_tf32(part_b.x[i]);
  }
  wmma::fill_fragment(twice, Sum(0));
  for (int i = 0; i < twice.num_elements; ++i) twice.x[i] = part_c.x[i] + part_c.x[i];
  wmma::mma_sync(part_c, part_a, part_b, twice);
  wmma::store_matrix_sync(d, part_c, rows_c, order);
}

static int failures = 0;

template <class T>
T* on_device(const std::vector<double>& values) {
  T* place = nullptr;
  cudaMallocManaged(&place, values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) place[i] = T(float(values[i]));
  return place;
}

template <int m, int n, int k, class T, class Sum, class A, class B>
void check(const char* name) {
  constexpr bool rows_first_a = std::is_same_v<A, wmma::row_major>;
  constexpr bool rows_first_b = std::is_same_v<B, wmma::row_major>;
  constexpr int further = 16;  // of a line in memory behind the matrix
  for (const wmma::layout_t order : {wmma::mem_row_major, wmma::mem_col_major}) {
    const bool rows_first_c = order == wmma::mem_row_major;
    const int line_a = (rows_first_a ? k : m) + further;
    const int line_b = (rows_first_b ? n : k) + further;
    const int line_c = (rows_first_c ? n : m) + further;
    std::vector<double> a(line_a * (rows_first_a ? m : k)), b(line_b * (rows_first_b ? k : n)),
        c(line_c * (rows_first_c ? m : n));
    const bool has_sign = !std::is_same_v<T, unsigned char>;
    unsigned random = 12345;
    const auto next = [&](int least, int count) {
      random = random * 1664525u + 1013904223u;
      return double(least + int((random >> 16) % count));
    };
    for (double& one : a) one = has_sign ? next(-3, 8) : next(0, 9);
    for (double& one : b) one = has_sign ? next(-4, 9) : next(0, 7);
    for (double& one : c) one = next(-20, 41);
    T* const on_a = on_device<T>(a);
    T* const on_b = on_device<T>(b);
    Sum* const on_c = on_device<Sum>(c);
    Sum* const on_d = on_device<Sum>(c);
    multiply<m, n, k, T, A, B, Sum><<<1, 32>>>(on_a, on_b, on_c, on_d, line_a, line_b, line_c, order);
    if (cudaDeviceSynchronize() != cudaSuccess) {
      std::printf("%s: %s\n", name, cudaGetErrorString(cudaGetLastError()));
      ++failures;
      return;
    }
    for (int i = 0; i < (int)c.size(); ++i) {
      const int line = i / line_c, place = i % line_c;
      const int row = rows_first_c ? line : place, column = rows_first_c ? place : line;
      double wanted = c[i];
      if (place < line_c - further) {
        wanted = 2 * c[i];
        for (int j = 0; j < k; ++j) {
          wanted += a[rows_first_a ? row * line_a + j : j * line_a + row] *
                    b[rows_first_b ? j * line_b + column : column * line_b + j];
        }
      }
      if (double(float(on_d[i])) != wanted) {
        std::printf("%s, %d x %d x %d: row %d, column %d is %g, not %g\n", name, m, n, k, row, column,
                    double(float(on_d[i])), wanted);
        ++failures;
        return;
      }
    }
  }
}

template <int m, int n, int k, class T, class Sum>
void check_orders(const char* name) {
  check<m, n, k, T, Sum, wmma::row_major, wmma::row_major>(name);
  check<m, n, k, T, Sum, wmma::row_major, wmma::col_major>(name);
  check<m, n, k, T, Sum, wmma::col_major, wmma::row_major>(name);
  check<m, n, k, T, Sum, wmma::col_major, wmma::col_major>(name);
}

template <class T, class Sum>
void check_sizes(const char* name) {
  check_orders<16, 16, 16, T, Sum>(name);
  check_orders<32, 8, 16, T, Sum>(name);
  check_orders<8, 32, 16, T, Sum>(name);
}

// Sums of another type than the result's, and sums that would not fit.
__global__ void mix(float* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> half_sum;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(a, __float2half(1.5f));
  wmma::fill_fragment(b, __float2half(2.0f));
  wmma::fill_fragment(half_sum, __float2half(0.25f));
  wmma::mma_sync(sum, a, b, half_sum);
  wmma::mma_sync(half_sum, a, b, sum);
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> bytes_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> bytes_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> whole, wraps;
  wmma::fill_fragment(bytes_a, (signed char)127);
  wmma::fill_fragment(bytes_b, (signed char)127);
  wmma::fill_fragment(whole, 0x7fffffff);
  wmma::mma_sync(wraps, bytes_a, bytes_b, whole);
  wmma::mma_sync(whole, bytes_a, bytes_b, whole, true);
  if (threadIdx.x == 31) {
    out[0] = sum.x[7];
    out[1] = __half2float(half_sum.x[7]);
    out[2] = whole.x[7] == 0x7fffffff;
    out[3] = wraps.x[7] == int(0x7fffffffu + 16u * 127 * 127);
    out[4] = wmma::__float_to_tf32(1.0f + 0x1p-11f) == 1.0f + 0x1p-10f;
    out[5] = wmma::__float_to_tf32(-1.0f - 0x1.fp-12f) == -1.0f;
  }
}

int main() {
  check_sizes<__half, float>("half, sums of float");
  check_sizes<__half, __half>("half, sums of half");
  check_sizes<__nv_bfloat16, float>("bfloat16");
  check_sizes<signed char, int>("signed char");
  check_sizes<unsigned char, int>("unsigned char");
  check_orders<16, 16, 8, float, float>("tf32");
  check_orders<8, 8, 4, double, double>("double");
  float* out = nullptr;
  cudaMallocManaged(&out, 6 * sizeof *out);
  mix<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  if (out[0] != 48.25f || out[1] != 96.25f || out[2] != 1 || out[3] != 1 || out[4] != 1 || out[5] != 1) {
    std::printf("mixed sums: %g %g %g %g %g %g\n", out[0], out[1], out[2], out[3], out[4], out[5]);
    ++failures;
  }
  std::printf(failures == 0 ? "PASSED\n" : "FAILED\n");
  return failures != 0;
}
