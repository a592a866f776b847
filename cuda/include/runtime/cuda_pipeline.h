/* Asynchronous copies of single threads: device code only. */
#pragma once

#include "cuda_runtime.h"
#ifdef __CUDA__
#include "heddle/cuda_copy_primitives.h"
#endif
