/* The words of CUDA for functions and variables: for host compilers, most of them are nothing. In CUDA files they come
   from heddle/cuda.h. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#define CUDARTAPI
#define CUDART_CB
#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#ifndef __CUDA__
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#endif
#define __device_builtin__
#define __builtin_align__(n) __align__(n)
#endif
