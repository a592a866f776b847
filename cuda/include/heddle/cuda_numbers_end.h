// Behind each header of a format of numbers (cuda_numbers.h).
#undef HEDDLE_NUMBER_
#undef HEDDLE_NUMBER_MEMBER_
#include "heddle/cuda_unfused_end.h"
