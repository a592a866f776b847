/* See cooperative_groups.h. */
#ifndef _CG_REDUCE_H
#define _CG_REDUCE_H

#include "cooperative_groups.h"
#ifdef __CUDA__
#include "heddle/cuda_groups_reduce.h"
#endif
#endif
