// The driver API is not there; programs that include this for the run-time API get it.
#pragma once

#include "cuda_runtime.h"
