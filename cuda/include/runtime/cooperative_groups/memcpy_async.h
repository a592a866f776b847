/* Copies by a group of threads: device code only. */
#pragma once

#include "cooperative_groups.h"
#ifdef __CUDA__
#include "heddle/cuda_groups_copies.h"
#endif
