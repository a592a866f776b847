// <cuda/std/...>: names of the standard library, as cuda::std has them.
#pragma once

namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
