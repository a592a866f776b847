// Measurements in forked children: SystemC elaborates once per process, and peak memory counts per process.
#pragma once

#include <functional>
#include <string>

namespace heddle::studies {

// What one measurement yields.
struct Sample {
  double work = 0;          // in the benchmark's unit
  double cpu_seconds = 0;   // that the work took; of several threads, on the wall
  double memory_bytes = 0;  // peak memory of the process, without device memory touched
};

// Calls `measure` in a child and returns its sample. Throws InternalError with the child's message when it throws or
// dies. Call while the process has one thread only and no elaborated SystemC design.
[[nodiscard]] Sample in_child(const std::function<Sample()>& measure);

}  // namespace heddle::studies
