// mma.h: matrices in parts, one in each lane of a warp (CUDA C++ Programming Guide, "Warp Matrix Functions").
//
// Which element a lane holds where is CUDA's secret. Here a part is what mma takes in (PTX ISA, "Matrix Fragments for
// mma"), so that mma_sync is products and nothing else, and an element is in one place. Loads and stores are ordinary
// accesses of 32 bits, or of an element where elements that a register holds do not lie side by side.
#pragma once

#include "heddle/cuda_bfloat.h"
#include "heddle/cuda_half.h"

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;  // a float of which mma takes 19 bits: __float_to_tf32
}  // namespace precision

namespace heddle_detail {

// Elements of a factor: what a program keeps them as, and how many a register holds.
template <class T>
struct element {
  using kept = T;
};
template <>
struct element<precision::tf32> {
  using kept = float;
};
template <class T>
inline constexpr int per_register = sizeof(typename element<T>::kept) >= 4 ? 1 : 4 / sizeof(typename element<T>::kept);

template <class A, class B>
inline constexpr bool same = false;
template <class A>
inline constexpr bool same<A, A> = true;

template <class T>
inline constexpr bool is_byte = same<T, signed char> || same<T, unsigned char>;

// The sizes that there are, of factors of T.
template <int m, int n, int k, class T>
inline constexpr bool there_is = same<T, double> ? m == 8 && n == 8 && k == 4
                                 : same<T, precision::tf32>
                                     ? m == 16 && n == 16 && k == 8
                                     : (same<T, __half> || same<T, __nv_bfloat16> || is_byte<T>)&&k == 16 &&
                                           ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));

// What multiplies: tiles of 16 rows (8 of double) and 8 columns. Where b has more columns than a has rows, b's columns
// are the rows, and a's rows the columns.
template <int m, int n, class T>
struct tiles {
  static constexpr bool swapped = n > m;
  static constexpr int height = same<T, double> ? 8 : 16;
  static constexpr int down = (swapped ? n : m) / height;
  static constexpr int across = (swapped ? m : n) / 8;
};

// Of the tile's registers in a factor of k: `height` is 8 for what stands across.
template <class T, int k>
struct part {
  static constexpr int per = per_register<T>;
  static constexpr int deep = k / (4 * per);  // registers of a row of the tile
  static constexpr int of_rows = deep * tiles<16, 8, T>::height / 8;
};

template <class Use, int m, int n, int k, class T>
inline constexpr int elements = same<Use, accumulator> ? m* n / 32 : (same<Use, matrix_a> ? m : n) * k / 32;

__device__ inline unsigned lane() {
  unsigned number;
  asm("mov.u32 %0, %%laneid;" : "=r"(number));
  return number;
}

template <class To, class From>
__device__ inline To bits_of(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

// c += a b, of one tile.
#define HEDDLE_PRODUCT_OF_(name, size, sum, letter)                                                              \
  __device__ inline void name(sum* d, const unsigned* a, const unsigned* b, const sum* c) {                      \
    asm volatile("mma.sync.aligned." size " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"           \
                 : "=" letter(d[0]), "=" letter(d[1]), "=" letter(d[2]), "=" letter(d[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), letter(c[0]), letter(c[1]), \
                   letter(c[2]), letter(c[3]));                                                                  \
  }
HEDDLE_PRODUCT_OF_(product_of_halves, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")
HEDDLE_PRODUCT_OF_(product_of_bfloats, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
HEDDLE_PRODUCT_OF_(product_of_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
#undef HEDDLE_PRODUCT_OF_

#define HEDDLE_PRODUCT_OF_BYTES_(name, size)                                                     \
  __device__ inline void name(int* d, const unsigned* a, const unsigned* b, const int* c) {      \
    asm volatile("mma.sync.aligned." size " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"       \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])); \
  }
HEDDLE_PRODUCT_OF_BYTES_(product_of_signed, "m16n8k16.row.col.s32.s8.s8.s32")
HEDDLE_PRODUCT_OF_BYTES_(product_of_signed_that_clamps, "m16n8k16.row.col.satfinite.s32.s8.s8.s32")
HEDDLE_PRODUCT_OF_BYTES_(product_of_unsigned, "m16n8k16.row.col.s32.u8.u8.s32")
HEDDLE_PRODUCT_OF_BYTES_(product_of_unsigned_that_clamps, "m16n8k16.row.col.satfinite.s32.u8.u8.s32")
#undef HEDDLE_PRODUCT_OF_BYTES_

__device__ inline void product_in_halves(unsigned* d, const unsigned* a, const unsigned* b, const unsigned* c) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
               : "=r"(d[0]), "=r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
}

}  // namespace heddle_detail

// x: what this lane holds, as a lane of a matrix of the same kind holds its elements.
template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
 public:
  static_assert(heddle_detail::same<Use, accumulator> || heddle_detail::there_is<m, n, k, T>,
                "there are m16n16k16, m32n8k16 and m8n32k16 of __half, __nv_bfloat16, signed and unsigned char, "
                "m16n16k8 of precision::tf32, and m8n8k4 of double");
  using element_type = T;
  using storage_element_type = typename heddle_detail::element<T>::kept;
  static constexpr int num_elements = heddle_detail::elements<Use, m, n, k, T>;
  static constexpr int num_storage_elements = num_elements;
  alignas(8) storage_element_type x[num_elements];
};

template <class Use, int m, int n, int k, class T, class Layout>
__device__ inline void fill_fragment(fragment<Use, m, n, k, T, Layout>& to,
                                     const typename heddle_detail::element<T>::kept& value) {
#pragma unroll
  for (int i = 0; i < to.num_elements; ++i) to.x[i] = value;
}

namespace heddle_detail {

// A factor whose lines of `height` or 8 stand at `lines`; k elements of a line lie side by side, or `stride` apart.
template <bool of_rows, int count, bool side_by_side, int k, class T>
__device__ inline void load_lines(typename element<T>::kept* to, const typename element<T>::kept* from,
                                  unsigned stride) {
  using kept = typename element<T>::kept;
  using P = part<T, k>;
  constexpr int high = of_rows ? tiles<16, 8, T>::height / 8 : 1;  // eights of lines
  const unsigned group = lane() / 4;
  const unsigned first = lane() % 4 * P::per;
  const kept* const own = side_by_side ? from + group * stride + first : from + first * stride + group;
#pragma unroll
  for (int tile = 0; tile < count; ++tile) {
#pragma unroll
    for (int j = 0; j < P::deep * high; ++j) {
      const int line = 8 * (high * tile + j % high);
      const int depth = 4 * P::per * (j / high);
      kept* const place = to + (tile * P::deep * high + j) * P::per;
      if constexpr (side_by_side) {
        const kept* const at = own + line * stride + depth;
        if constexpr (P::per == 1) {
          *place = *at;
        } else {
          const unsigned word = *reinterpret_cast<const unsigned*>(at);
          __builtin_memcpy(place, &word, sizeof word);
        }
      } else {
#pragma unroll
        for (int i = 0; i < P::per; ++i) place[i] = own[(depth + i) * stride + line];
      }
    }
  }
}

// What a lane has in a sum's tile: rows group and, where there are 16, group + 8, of them two columns side by side.
template <int m, int n, class T, class Do>
__device__ inline void each_pair(const Do& task) {
  constexpr int high = tiles<m, n, T>::height / 8;
  using Tiles = tiles<m, n, T>;
  const unsigned row = lane() / 4;
  const unsigned column = lane() % 4 * 2;
#pragma unroll
  for (int down = 0; down < Tiles::down; ++down) {
#pragma unroll
    for (int across = 0; across < Tiles::across; ++across) {
#pragma unroll
      for (int half = 0; half < high; ++half) {
        task(((down * Tiles::across + across) * high + half) * 2, row + Tiles::height * down + 8 * half,
             column + 8 * across);
      }
    }
  }
}

// Two elements of a sum that lie side by side in memory.
template <class T>
struct alignas(2 * sizeof(T)) pair_of {
  T low, high;
};

// The type of factors that a sum of this type and size has, as far as its tiles depend on them.
template <class T>
struct factors {
  using type = __half;
};
template <>
struct factors<double> {
  using type = double;
};

}  // namespace heddle_detail

template <int m, int n, int k, class T, class Layout>
__device__ inline void load_matrix_sync(fragment<matrix_a, m, n, k, T, Layout>& to,
                                        const typename heddle_detail::element<T>::kept* from, unsigned stride) {
  using Tiles = heddle_detail::tiles<m, n, T>;
  heddle_detail::load_lines<!Tiles::swapped, Tiles::swapped ? Tiles::across : Tiles::down,
                            heddle_detail::same<Layout, row_major>, k, T>(to.x, from, stride);
}

template <int m, int n, int k, class T, class Layout>
__device__ inline void load_matrix_sync(fragment<matrix_b, m, n, k, T, Layout>& to,
                                        const typename heddle_detail::element<T>::kept* from, unsigned stride) {
  using Tiles = heddle_detail::tiles<m, n, T>;
  heddle_detail::load_lines<Tiles::swapped, Tiles::swapped ? Tiles::down : Tiles::across,
                            heddle_detail::same<Layout, col_major>, k, T>(to.x, from, stride);
}

template <int m, int n, int k, class T>
__device__ inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const T* from, unsigned stride,
                                        layout_t layout) {
  using F = typename heddle_detail::factors<T>::type;
  const bool side_by_side = (layout == mem_row_major) != heddle_detail::tiles<m, n, F>::swapped;
  heddle_detail::each_pair<m, n, F>([&](int i, unsigned row, unsigned column) {
    if (side_by_side) {
      const auto pair = *reinterpret_cast<const heddle_detail::pair_of<T>*>(from + row * stride + column);
      to.x[i] = pair.low;
      to.x[i + 1] = pair.high;
    } else {
      to.x[i] = from[column * stride + row];
      to.x[i + 1] = from[(column + 1) * stride + row];
    }
  });
}

template <int m, int n, int k, class T>
__device__ inline void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& from, unsigned stride,
                                         layout_t layout) {
  using F = typename heddle_detail::factors<T>::type;
  const bool side_by_side = (layout == mem_row_major) != heddle_detail::tiles<m, n, F>::swapped;
  heddle_detail::each_pair<m, n, F>([&](int i, unsigned row, unsigned column) {
    if (side_by_side) {
      *reinterpret_cast<heddle_detail::pair_of<T>*>(to + row * stride + column) = {from.x[i], from.x[i + 1]};
    } else {
      to[column * stride + row] = from.x[i];
      to[(column + 1) * stride + row] = from.x[i + 1];
    }
  });
}

// d = a b + c. `clamps`: sums of integers stay within 32 bits.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
__device__ inline void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                                const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                                const fragment<accumulator, m, n, k, C>& c, bool clamps = false) {
  namespace own = heddle_detail;
  static_assert(own::same<D, C> || (own::same<T, __half> && sizeof(D) != sizeof(C)),
                "sums of float and of __half may meet, of products of __half");
  using Tiles = own::tiles<m, n, T>;
  using P = own::part<T, k>;
  constexpr bool swapped = Tiles::swapped;
  const auto* const rows = [&] {
    if constexpr (swapped)
      return b.x;
    else
      return a.x;
  }();
  const auto* const columns = [&] {
    if constexpr (swapped)
      return a.x;
    else
      return b.x;
  }();
  constexpr int high = Tiles::height / 8;
#pragma unroll
  for (int down = 0; down < Tiles::down; ++down) {
#pragma unroll
    for (int across = 0; across < Tiles::across; ++across) {
      const int at = (down * Tiles::across + across) * 2 * high;
      const auto* const row = rows + down * P::of_rows * P::per;
      const auto* const column = columns + across * P::deep * P::per;
      if constexpr (own::same<T, double>) {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
                     : "=d"(d.x[at]), "=d"(d.x[at + 1])
                     : "d"(row[0]), "d"(column[0]), "d"(c.x[at]), "d"(c.x[at + 1]));
      } else {
        unsigned left[P::of_rows];
        unsigned right[P::deep];
        __builtin_memcpy(left, row, sizeof left);
        __builtin_memcpy(right, column, sizeof right);
        if constexpr (own::is_byte<T>) {
          if constexpr (own::same<T, signed char>) {
            if (clamps)
              own::product_of_signed_that_clamps(d.x + at, left, right, c.x + at);
            else
              own::product_of_signed(d.x + at, left, right, c.x + at);
          } else {
            if (clamps)
              own::product_of_unsigned_that_clamps(d.x + at, left, right, c.x + at);
            else
              own::product_of_unsigned(d.x + at, left, right, c.x + at);
          }
        } else if constexpr (own::same<D, __half> && own::same<C, __half>) {
          unsigned sum[2];
          __builtin_memcpy(sum, c.x + at, sizeof sum);
          own::product_in_halves(sum, left, right, sum);
          __builtin_memcpy(d.x + at, sum, sizeof sum);
        } else {
          float sum[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) sum[i] = static_cast<float>(c.x[at + i]);
          if constexpr (own::same<T, __half>)
            own::product_of_halves(sum, left, right, sum);
          else if constexpr (own::same<T, __nv_bfloat16>)
            own::product_of_bfloats(sum, left, right, sum);
          else
            own::product_of_tf32(sum, left, right, sum);
#pragma unroll
          for (int i = 0; i < 4; ++i) d.x[at + i] = sum[i];
        }
      }
    }
  }
}

// To the nearest of those that mma takes, away from 0 between two (cvt.rna.tf32.f32).
__device__ inline float __float_to_tf32(float x) {
  const unsigned bits = heddle_detail::bits_of<unsigned>(x);
  return (bits & 0x7f800000U) == 0x7f800000U ? x : heddle_detail::bits_of<float>((bits + 0x1000U) & ~0x1fffU);
}

}  // namespace wmma
}  // namespace nvcuda
