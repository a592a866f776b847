// See cooperative_groups.h.
#pragma once

#include "cooperative_groups.h"
#ifdef __CUDA__
#include "heddle/cuda_groups_reduce.h"
#endif
