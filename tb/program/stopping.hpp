// Commands that run many processes end in an orderly way at the first SIGINT or SIGTERM, and at once at the second.
#pragma once

#include <atomic>

namespace heddle::program {

void catch_stopping_signals();

// The signal's number, 0 before it came.
[[nodiscard]] const std::atomic<int>& stopped_by();

}  // namespace heddle::program
