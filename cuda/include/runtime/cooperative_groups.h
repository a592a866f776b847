/* Groups of threads: device code only. */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"
#ifdef __CUDA__
#include "heddle/cuda_groups.h"
#endif
#endif
