/* bfloat16, for host and device code. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include "cuda_runtime.h"
#ifdef __cplusplus
#include "heddle/cuda_bfloat.h"
#endif
#endif
