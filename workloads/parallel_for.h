// What the kernels of the DWS report's benchmarks share. The report (section 3.1) has its programs in an OpenMP-style
// API, of which it gives no code: "data parallelism is expressed in parallel for loops", and a thread of such a loop is
// scalar code of which the machine runs one copy per thread context. Here each loop is a kernel, and the end of a
// launch is the barrier between two loops. There is no scratchpad in the report's machine, and none is used.
#pragma once

namespace parallel {

constexpr unsigned kGroup = 64;  // threads of a block: the thread contexts of one of the report's cores (table 3)

// The tasks of a thread: first, first + step, ... before end.
struct Tasks {
  unsigned first, end, step;
};

// Tasks 0 .. tasks - 1 are cut into a part of neighbouring ones for each block, as there is a block for each core, and
// each thread of the block gets a run of neighbouring tasks of the part, or, with `interleaved`, every (threads of the
// block)-th one. The report says that "neighboring tasks are assigned to threads in the same warp" (section 3.1, after
// its reference 18: Meng, Sheaffer and Skadron, IPDPS 2010), which fits both; its table 1 fits runs
// (docs/workloads.md).
__device__ __forceinline__ Tasks my_tasks(unsigned tasks, unsigned interleaved) {
  const unsigned part = (tasks + gridDim.x - 1) / gridDim.x;
  const unsigned begin = min(blockIdx.x * part, tasks);
  const unsigned end = min(begin + part, tasks);
  if (interleaved != 0) {
    return {begin + threadIdx.x, end, blockDim.x};
  }
  const unsigned run = (part + blockDim.x - 1) / blockDim.x;
  const unsigned first = min(begin + threadIdx.x * run, end);
  return {first, min(first + run, end), 1};
}

// The end of a loop, after which a thread is done. Without it the compiler makes its last branch a conditional exit,
// where a thread of the report's returns to the program that dealt it its tasks.
__device__ __forceinline__ void end_loop() {
  __syncthreads();
}

}  // namespace parallel
