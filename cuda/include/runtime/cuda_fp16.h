/* Half precision: for host and device code. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include "cuda_runtime.h"
#ifdef __cplusplus
#include "heddle/cuda_half.h"
#endif
#endif
