/* Matrices in the lanes of a warp: device code only. */
#pragma once

#include "cuda_runtime.h"
#ifdef __CUDA__
#include "heddle/cuda_matrices.h"
#endif
