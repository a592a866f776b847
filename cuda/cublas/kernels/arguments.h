// What the library's host code hands to its kernels: plain structures that both compilations lay out alike.
#pragma once

namespace heddle::cublas {

// A factor: a value, or where in device memory it stands when the kernel begins.
// What `place` leads to: the factor, its conjugate, a real number for a complex factor, a half.
enum Form { kAsItIs, kConjugate, kReal, kHalf };
template <class T>
struct Factor {
  T value;
  const void* place;  // null: the value
  int form;
};

// How a matrix lies in memory, by columns.
enum Storage { kFull, kBand, kPackedLower, kPackedUpper };
// What the elements beside the stored triangle are.
enum Structure { kGeneral, kSymmetric, kHermitian, kTriangular };
enum Operation { kPlain, kTransposed, kAdjoint, kConjugated };

struct Shape {
  int op;
  int structure;
  int upper;     // the stored triangle
  int unit;      // the diagonal of a triangle is all ones
  int storage;   // always full in products of matrices
  int below;     // diagonals of a band below the main one
  int above;     // diagonals of a band above the main one
  long long ld;  // elements from column to column; of packed triangles the order of the matrix
};

template <class T>
struct Matrix {
  const T* base;
  const T* const* bases;  // of a batch, in device memory; null: `stride` elements from one to the next
  long long stride;
  Shape shape;
};

template <class T>
struct Target {
  T* base;
  T* const* bases;
  long long stride;
  long long ld;
  int part;       // 0: all of it, 1: the lower triangle, 2: the upper one
  int hermitian;  // the diagonal is real
};

}  // namespace heddle::cublas
