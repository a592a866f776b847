/* See cuda_runtime.h, which has the include guards of all that it stands in for. */
#include "cuda_runtime.h"
