/* Floating-point numbers of 8 bits, for host and device code. */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#include "cuda_runtime.h"
#ifdef __cplusplus
#include "heddle/cuda_float8.h"
#endif
#endif
