// Commands end in an orderly way at the first SIGINT, SIGTERM or SIGHUP, and at once at the second.
#pragma once

#include <atomic>

namespace heddle::program {

// A hang-up that is ignored (nohup) stays so.
void catch_stopping_signals();

// The signal's number, 0 before it came.
[[nodiscard]] const std::atomic<int>& stopped_by();
// It came. Set after the number.
[[nodiscard]] const std::atomic<bool>& stopped();

}  // namespace heddle::program
