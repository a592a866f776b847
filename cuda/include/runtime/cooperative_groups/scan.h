/* See cooperative_groups.h. */
#ifndef _CG_SCAN_H_
#define _CG_SCAN_H_

#include "cooperative_groups.h"
#ifdef __CUDA__
#include "heddle/cuda_groups_scan.h"
#endif
#endif
