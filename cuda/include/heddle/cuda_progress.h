// Progress of heddle/cuda.h (thesis 9.2.2).
#pragma once

namespace heddle {

// Tells the warp scheduler that the warp has come one step further on its way to the next barrier: its progress
// register goes up by one, however many of its threads call. Schedulers `least-progress` go by it; on others, and in
// what a program can see, it does nothing.
HEDDLE_DEVICE_ void progress() {
  asm volatile("progress;");
}

}  // namespace heddle
