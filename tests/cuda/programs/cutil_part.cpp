// Another file of cutil.cu's program: timers are those of the whole program.
#include <CL/opencl.h>
#include <cutil.h>

cl_ulong from_other_file(unsigned int timer) {
  return cutResetTimer(timer) == CUTTrue ? 1 : 0;
}
