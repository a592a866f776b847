// Half precision, for host and device code.
#pragma once

#include "cuda_runtime.h"
#ifdef __cplusplus
#include "heddle/cuda_half.h"
#endif
