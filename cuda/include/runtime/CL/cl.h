/* OpenCL's types, for CUDA programs that include this header beside CUDA's, as some suites do in a header for all their
   versions. There is no OpenCL here: a call of its functions does not compile. Where the system has OpenCL's own
   header, that one is taken. */
#if defined(__has_include_next)
#if __has_include_next(<CL/cl.h>)
#define HEDDLE_HAS_OPENCL_
#endif
#endif
#ifdef HEDDLE_HAS_OPENCL_
#include_next <CL/cl.h>
#elif !defined(__OPENCL_CL_H)
#define __OPENCL_CL_H

#include <stddef.h>
#include <stdint.h>

typedef int8_t cl_char;
typedef uint8_t cl_uchar;
typedef int16_t cl_short;
typedef uint16_t cl_ushort;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef int64_t cl_long;
typedef uint64_t cl_ulong;
typedef uint16_t cl_half;
typedef float cl_float;
typedef double cl_double;

/* Vectors: 3 lie as 4 do. */
#define HEDDLE_VECTOR_(type, count, room) \
  typedef union {                         \
    cl_##type s[room];                    \
    struct {                              \
      cl_##type x, y;                     \
    };                                    \
  } __attribute__((aligned(room * sizeof(cl_##type)))) cl_##type##count;
#define HEDDLE_VECTORS_(type)                                     \
  HEDDLE_VECTOR_(type, 2, 2)                                      \
  typedef union {                                                 \
    cl_##type s[4];                                               \
    struct {                                                      \
      cl_##type x, y, z, w;                                       \
    };                                                            \
  } __attribute__((aligned(4 * sizeof(cl_##type)))) cl_##type##4; \
  typedef cl_##type##4 cl_##type##3;                              \
  HEDDLE_VECTOR_(type, 8, 8)                                      \
  HEDDLE_VECTOR_(type, 16, 16)
HEDDLE_VECTORS_(char)
HEDDLE_VECTORS_(uchar)
HEDDLE_VECTORS_(short)
HEDDLE_VECTORS_(ushort)
HEDDLE_VECTORS_(int)
HEDDLE_VECTORS_(uint)
HEDDLE_VECTORS_(long)
HEDDLE_VECTORS_(ulong)
HEDDLE_VECTORS_(float)
HEDDLE_VECTORS_(double)
#undef HEDDLE_VECTORS_
#undef HEDDLE_VECTOR_

typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef cl_bitfield cl_device_type;
typedef cl_bitfield cl_mem_flags;
typedef cl_bitfield cl_map_flags;
typedef cl_bitfield cl_command_queue_properties;
typedef cl_uint cl_platform_info;
typedef cl_uint cl_device_info;
typedef cl_uint cl_context_info;
typedef cl_uint cl_command_queue_info;
typedef cl_uint cl_mem_info;
typedef cl_uint cl_image_info;
typedef cl_uint cl_program_info;
typedef cl_uint cl_program_build_info;
typedef cl_uint cl_kernel_info;
typedef cl_uint cl_kernel_work_group_info;
typedef cl_uint cl_event_info;
typedef cl_uint cl_command_type;
typedef cl_uint cl_profiling_info;
typedef cl_uint cl_channel_order;
typedef cl_uint cl_channel_type;
typedef cl_uint cl_addressing_mode;
typedef cl_uint cl_filter_mode;
typedef cl_uint cl_mem_object_type;
typedef cl_int cl_build_status;
typedef intptr_t cl_context_properties;

typedef struct _cl_platform_id* cl_platform_id;
typedef struct _cl_device_id* cl_device_id;
typedef struct _cl_context* cl_context;
typedef struct _cl_command_queue* cl_command_queue;
typedef struct _cl_mem* cl_mem;
typedef struct _cl_program* cl_program;
typedef struct _cl_kernel* cl_kernel;
typedef struct _cl_event* cl_event;
typedef struct _cl_sampler* cl_sampler;

#define CL_FALSE 0
#define CL_TRUE 1
#define CL_SUCCESS 0

#ifdef __cplusplus
extern "C" {
#define HEDDLE_ANYTHING_ ...
#else
#define HEDDLE_ANYTHING_
#endif
#define HEDDLE_NO_OPENCL_(name) \
  cl_int name(HEDDLE_ANYTHING_) \
      __attribute__((unavailable("there is no OpenCL here: build the program's CUDA version")));
HEDDLE_NO_OPENCL_(clGetPlatformIDs)
HEDDLE_NO_OPENCL_(clGetPlatformInfo)
HEDDLE_NO_OPENCL_(clGetDeviceIDs)
HEDDLE_NO_OPENCL_(clGetDeviceInfo)
HEDDLE_NO_OPENCL_(clCreateSubDevices)
HEDDLE_NO_OPENCL_(clRetainDevice)
HEDDLE_NO_OPENCL_(clReleaseDevice)
HEDDLE_NO_OPENCL_(clCreateContext)
HEDDLE_NO_OPENCL_(clCreateContextFromType)
HEDDLE_NO_OPENCL_(clRetainContext)
HEDDLE_NO_OPENCL_(clReleaseContext)
HEDDLE_NO_OPENCL_(clGetContextInfo)
HEDDLE_NO_OPENCL_(clCreateCommandQueue)
HEDDLE_NO_OPENCL_(clCreateCommandQueueWithProperties)
HEDDLE_NO_OPENCL_(clRetainCommandQueue)
HEDDLE_NO_OPENCL_(clReleaseCommandQueue)
HEDDLE_NO_OPENCL_(clGetCommandQueueInfo)
HEDDLE_NO_OPENCL_(clCreateBuffer)
HEDDLE_NO_OPENCL_(clCreateSubBuffer)
HEDDLE_NO_OPENCL_(clCreateImage)
HEDDLE_NO_OPENCL_(clCreateImage2D)
HEDDLE_NO_OPENCL_(clCreateImage3D)
HEDDLE_NO_OPENCL_(clCreatePipe)
HEDDLE_NO_OPENCL_(clRetainMemObject)
HEDDLE_NO_OPENCL_(clReleaseMemObject)
HEDDLE_NO_OPENCL_(clGetSupportedImageFormats)
HEDDLE_NO_OPENCL_(clGetMemObjectInfo)
HEDDLE_NO_OPENCL_(clGetImageInfo)
HEDDLE_NO_OPENCL_(clSetMemObjectDestructorCallback)
HEDDLE_NO_OPENCL_(clSVMAlloc)
HEDDLE_NO_OPENCL_(clSVMFree)
HEDDLE_NO_OPENCL_(clCreateSampler)
HEDDLE_NO_OPENCL_(clCreateSamplerWithProperties)
HEDDLE_NO_OPENCL_(clRetainSampler)
HEDDLE_NO_OPENCL_(clReleaseSampler)
HEDDLE_NO_OPENCL_(clGetSamplerInfo)
HEDDLE_NO_OPENCL_(clCreateProgramWithSource)
HEDDLE_NO_OPENCL_(clCreateProgramWithBinary)
HEDDLE_NO_OPENCL_(clCreateProgramWithBuiltInKernels)
HEDDLE_NO_OPENCL_(clCreateProgramWithIL)
HEDDLE_NO_OPENCL_(clRetainProgram)
HEDDLE_NO_OPENCL_(clReleaseProgram)
HEDDLE_NO_OPENCL_(clBuildProgram)
HEDDLE_NO_OPENCL_(clCompileProgram)
HEDDLE_NO_OPENCL_(clLinkProgram)
HEDDLE_NO_OPENCL_(clUnloadCompiler)
HEDDLE_NO_OPENCL_(clUnloadPlatformCompiler)
HEDDLE_NO_OPENCL_(clGetProgramInfo)
HEDDLE_NO_OPENCL_(clGetProgramBuildInfo)
HEDDLE_NO_OPENCL_(clCreateKernel)
HEDDLE_NO_OPENCL_(clCreateKernelsInProgram)
HEDDLE_NO_OPENCL_(clRetainKernel)
HEDDLE_NO_OPENCL_(clReleaseKernel)
HEDDLE_NO_OPENCL_(clSetKernelArg)
HEDDLE_NO_OPENCL_(clSetKernelArgSVMPointer)
HEDDLE_NO_OPENCL_(clGetKernelInfo)
HEDDLE_NO_OPENCL_(clGetKernelArgInfo)
HEDDLE_NO_OPENCL_(clGetKernelWorkGroupInfo)
HEDDLE_NO_OPENCL_(clWaitForEvents)
HEDDLE_NO_OPENCL_(clGetEventInfo)
HEDDLE_NO_OPENCL_(clCreateUserEvent)
HEDDLE_NO_OPENCL_(clRetainEvent)
HEDDLE_NO_OPENCL_(clReleaseEvent)
HEDDLE_NO_OPENCL_(clSetUserEventStatus)
HEDDLE_NO_OPENCL_(clSetEventCallback)
HEDDLE_NO_OPENCL_(clGetEventProfilingInfo)
HEDDLE_NO_OPENCL_(clFlush)
HEDDLE_NO_OPENCL_(clFinish)
HEDDLE_NO_OPENCL_(clEnqueueReadBuffer)
HEDDLE_NO_OPENCL_(clEnqueueReadBufferRect)
HEDDLE_NO_OPENCL_(clEnqueueWriteBuffer)
HEDDLE_NO_OPENCL_(clEnqueueWriteBufferRect)
HEDDLE_NO_OPENCL_(clEnqueueFillBuffer)
HEDDLE_NO_OPENCL_(clEnqueueCopyBuffer)
HEDDLE_NO_OPENCL_(clEnqueueCopyBufferRect)
HEDDLE_NO_OPENCL_(clEnqueueReadImage)
HEDDLE_NO_OPENCL_(clEnqueueWriteImage)
HEDDLE_NO_OPENCL_(clEnqueueFillImage)
HEDDLE_NO_OPENCL_(clEnqueueCopyImage)
HEDDLE_NO_OPENCL_(clEnqueueCopyImageToBuffer)
HEDDLE_NO_OPENCL_(clEnqueueCopyBufferToImage)
HEDDLE_NO_OPENCL_(clEnqueueMapBuffer)
HEDDLE_NO_OPENCL_(clEnqueueMapImage)
HEDDLE_NO_OPENCL_(clEnqueueUnmapMemObject)
HEDDLE_NO_OPENCL_(clEnqueueMigrateMemObjects)
HEDDLE_NO_OPENCL_(clEnqueueNDRangeKernel)
HEDDLE_NO_OPENCL_(clEnqueueTask)
HEDDLE_NO_OPENCL_(clEnqueueNativeKernel)
HEDDLE_NO_OPENCL_(clEnqueueMarker)
HEDDLE_NO_OPENCL_(clEnqueueMarkerWithWaitList)
HEDDLE_NO_OPENCL_(clEnqueueBarrier)
HEDDLE_NO_OPENCL_(clEnqueueBarrierWithWaitList)
HEDDLE_NO_OPENCL_(clEnqueueWaitForEvents)
HEDDLE_NO_OPENCL_(clEnqueueSVMMap)
HEDDLE_NO_OPENCL_(clEnqueueSVMUnmap)
HEDDLE_NO_OPENCL_(clEnqueueSVMMemcpy)
HEDDLE_NO_OPENCL_(clEnqueueSVMMemFill)
HEDDLE_NO_OPENCL_(clGetExtensionFunctionAddress)
HEDDLE_NO_OPENCL_(clGetExtensionFunctionAddressForPlatform)
#undef HEDDLE_NO_OPENCL_
#undef HEDDLE_ANYTHING_
#ifdef __cplusplus
}
#endif
#endif
