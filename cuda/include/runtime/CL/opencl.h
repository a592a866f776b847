/* See CL/cl.h. */
#if defined(__has_include_next)
#if __has_include_next(<CL/opencl.h>)
#include_next <CL/opencl.h>
#else
#include "cl.h"
#endif
#else
#include "cl.h"
#endif
