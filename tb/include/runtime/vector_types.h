// Vector types and dim3 for host code; device code has them from heddle/cuda.h.
#pragma once

#ifndef __CUDA__
#ifndef __host__
#define __host__
#define __device__
#endif
#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#define HEDDLE_BOTH_ static __inline__ __attribute__((unused))
#include "heddle/cuda_vectors.h"
#undef HEDDLE_BOTH_
#endif
