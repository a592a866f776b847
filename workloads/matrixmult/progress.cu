// kernel.cu with progress() after each half of a tile: what has been asked for, and the sums (thesis 9.2.2).
#define HEDDLE_PROGRESS heddle::progress
#include "kernel.cu"
