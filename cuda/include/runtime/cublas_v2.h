/* cuBLAS: functions of vectors and matrices on the device. docs/cuda.md says which there are. */
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_

#ifdef CUBLAS_H_
#error "cublas_v2.h and cublas.h are two interfaces of cuBLAS: a file includes one of them"
#endif
#include "cublas_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_CUBLAS_(prefix, name, end, ...) \
  cublasStatus_t prefix##name##end(__VA_ARGS__) __asm__(#prefix #name "_v2" #end);
#define HEDDLE_CUBLAS_SINCE_(prefix, name, end, ...)
#include "heddle_cublas.h"
#undef HEDDLE_CUBLAS_
#undef HEDDLE_CUBLAS_SINCE_

#ifdef __cplusplus
}
#endif

#endif
