// Half precision: device code only.
#pragma once

#include "cuda_runtime.h"
#ifdef __CUDA__
#include "heddle/cuda_half.h"
#endif
