// What the kernels of the workloads' Pthreads form share (pthreads.cu): the form in which the LWM report (section 5)
// and the thesis (5.1) ran their programs, of which they give no code.
//
// - A kernel is the function that every thread of the program runs, to its end: 1024 threads are the core's all
//   (report, section 5; thesis appendix 1 counts `k += 1024`). They are one block, so that __syncthreads() is the
//   papers' barrier, "an actual SYNC among all 1024 threads" (thesis appendix 1.1). The last argument is the number of
//   threads, a power of two.
// - Elements are dealt to the threads in turn, as in the appendix: programs were optimised for GPUs (section 5), on
//   which neighbouring threads read neighbouring elements.
// - What threads share is global memory, through the D-cache. The on-chip memory holds private data of a thread only.
// - Characters and booleans are bytes (table 5.2). Functions of the mathematical library are code.
// - No operation between the threads of a warp, no atomic where a barrier does.
#pragma once

#include "workloads/branches.h"

namespace pthreads {

constexpr unsigned kMostThreads = 1024;

// Private data of a thread too large for its registers: on-chip memory with a bank for each SIMD lane, which
// corresponds to OpenCL's private memory (report 2.2). An array of n elements takes storage[n * kMostThreads], element
// i of all threads side by side: of bytes, elements of four warps share the words.
template <class T>
class Private {
 public:
  __device__ __forceinline__ Private(T* storage, unsigned thread) : first_(storage + place(thread)) {}
  __device__ __forceinline__ T& operator[](unsigned i) const { return first_[i * kMostThreads]; }

 private:
  static_assert(sizeof(T) == 1 || sizeof(T) == 4, "bytes or words");
  __device__ __forceinline__ static unsigned place(unsigned thread) {
    constexpr unsigned kLanes = 32;
    if (sizeof(T) == 4) {
      return thread;
    }
    const unsigned warp = thread / kLanes;
    return (warp / 4 * kLanes + thread % kLanes) * 4 + warp % 4;
  }
  T* first_;
};

}  // namespace pthreads
