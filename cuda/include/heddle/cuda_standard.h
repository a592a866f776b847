// <cuda/std/...>: names of the standard library, as cuda::std has them.
#pragma once

namespace cuda {
namespace std {
using namespace ::std;
// Of C++20 there, and here of any.
struct identity {
  template <class T>
  __host__ __device__ constexpr T&& operator()(T&& value) const noexcept {
    return static_cast<T&&>(value);
  }
  using is_transparent = void;
};
}  // namespace std
}  // namespace cuda
