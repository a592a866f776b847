// What stands between this and heddle/cuda_unfused_end.h computes as it is written, on the device too: there the errors
// of mathematical functions are known with each multiplication rounded (docs/cuda-mathematics.md). Behind it the device
// code of programs may have multiplications and additions fused, where heddle nvcc says so by __HEDDLE_FMAD__ (-fmad).
#ifdef __CUDA_ARCH__
#pragma clang fp contract(off)
#endif
