// Groups of threads: device code only.
#pragma once

#include "cuda_runtime.h"
#ifdef __CUDA__
#include "heddle/cuda_groups.h"
#endif
