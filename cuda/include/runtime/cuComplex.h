/* Complex numbers, for host and device code. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include "cuda_runtime.h"
#include "heddle/cuda_complex.h"
#endif
