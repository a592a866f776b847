// kernel.cu with progress() after each word of points (thesis 9.2.2).
#define HEDDLE_PROGRESS heddle::progress
#include "kernel.cu"
