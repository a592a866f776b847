/* cuBLAS: functions of vectors and matrices on the device. docs/cuda.md says which there are. */
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_

#include "cublas_api.h"

#endif
