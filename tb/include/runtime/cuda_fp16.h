/* Half precision: device code only. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include "cuda_runtime.h"
#ifdef __CUDA__
#include "heddle/cuda_half.h"
#endif
#endif
