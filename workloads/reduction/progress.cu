// kernel.cu with progress() after each value (thesis 9.2.2).
#define HEDDLE_PROGRESS heddle::progress
#include "kernel.cu"
