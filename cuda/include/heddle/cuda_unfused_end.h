// Behind what is not to be fused (cuda_unfused.h).
#if defined(__CUDA_ARCH__) && defined(__HEDDLE_FMAD__)
#pragma clang fp contract(fast)
#endif
