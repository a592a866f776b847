/* Random numbers: device code only. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"
#ifdef __CUDA__
#include "heddle/cuda_random.h"
#endif
#endif
