/* Vector types and dim3 for host code, C too; device code has them from heddle/cuda.h. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "host_defines.h"
#ifndef __CUDA__
#define HEDDLE_BOTH_ static __inline__ __attribute__((unused))
#include "../heddle/cuda_vectors.h"
#undef HEDDLE_BOTH_
#endif
#endif
