/* What includes this finds the run-time API's cudaOccupancy functions, which ask the machine. The calculator by tables
   of architectures (cudaOccDeviceProp and its kin) is not here: no table has this machine. */
#pragma once

#include "cuda_runtime.h"
