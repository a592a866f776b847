/* cuBLAS: functions of vectors and matrices on the device. docs/cuda.md says which there are. */
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_

#ifdef CUBLAS_H_
#error "cublas_v2.h and cublas.h are two interfaces of cuBLAS: a file includes one of them"
#endif
#include "cublas_api.h"

#endif
